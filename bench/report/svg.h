/* SPDX-License-Identifier: Apache-2.0 */
/* Plots as plain SVG, the same bytes for the same figures: both axes logarithmic, with decades (or powers of two). Colours,
 * dashes and the shapes of marks are the page's CSS (page.c), by number of the line. */
#ifndef BENCH_SVG_H
#define BENCH_SVG_H

#include <stdbool.h>
#include <stdio.h>

/* Text with what means something in HTML replaced. */
void put_text(FILE *out, const char *text);

#define MOST_LINES  10
#define MOST_POINTS 40

struct plot_line {
    char name[96];
    bool limit; /* drawn without marks */
    int  n;
    struct plot_point {
        double x, y, low, high; /* y from low to high: its whisker; NaN: none */
    } points[MOST_POINTS];      /* ascending in x */
};

struct plot {
    char             title[160], sentence[400], x_title[64], y_title[64];
    struct plot_line lines[MOST_LINES];
    int              n;
};

/* False if the line has no room. */
bool plot_add(struct plot *plot, const char *line, struct plot_point point);
/* The drawing; `id` is its number on the page. */
void plot_draw(FILE *out, const struct plot *plot, int id);
/* Its figures as a table in HTML. */
void plot_table(FILE *out, const struct plot *plot);

#endif
