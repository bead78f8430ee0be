/* SPDX-License-Identifier: Apache-2.0 */
/* Plots as plain SVG, the same bytes for the same figures. Axes are logarithmic, with decades (or powers of two), or linear and
 * then begin at 0. Colours, dashes and the shapes of marks are the page's CSS (page.c), by number of the line. */
#ifndef BENCH_SVG_H
#define BENCH_SVG_H

#include <stdbool.h>
#include <stdio.h>

/* Text with what means something in HTML replaced. */
void put_text(FILE *out, const char *text);
/* A cell of a table; `kind`: attributes, or "". */
void put_cell(FILE *out, const char *kind, const char *text);
/* The beginning of a table that scrolls if it is too wide, and its titles. */
void put_head(FILE *out, const char *const *titles, int n);

#define MOST_LINES  14
#define MOST_POINTS 40

struct plot_line {
    char name[96];
    bool limit; /* drawn without marks */
    int  n;
    struct plot_point {
        double x, y, low, high; /* y from low to high: its whisker; NaN: none */
    } points[MOST_POINTS];      /* ascending in x */
};

enum plot_unit { UNIT_RATE, UNIT_SECONDS, UNIT_PLAIN };

struct plot {
    char             title[160], sentence[400], x_title[64], y_title[64];
    enum plot_unit   unit; /* of y; of rates more is better, of the others less */
    bool             x_linear, y_linear;
    struct plot_line lines[MOST_LINES];
    int              n;
    bool             full; /* a line had no room */
};

/* False if the line has no room. */
bool plot_add(struct plot *plot, const char *line, struct plot_point point);
/* A figure with its unit. */
char *plot_text(char text[32], enum plot_unit unit, double figure);
/* The drawing; `id` is its number on the page. `marks`: what its lines have at their points is in it; else it is in one before, which
 * serves the whole page. */
void plot_draw(FILE *out, const struct plot *plot, int id, bool marks);
/* Its figures as a table in HTML. */
void plot_table(FILE *out, const struct plot *plot);

#endif
