/* SPDX-License-Identifier: Apache-2.0 */
#include "svg.h"

#include "bench/common/text.h"

#include <math.h>
#include <string.h>

void put_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        const unsigned char c = (unsigned char) *text;
        if (c == '&' || c == '<' || c == '>' || c == '"')
            fprintf(out, "&#%d;", c);
        else if (c >= ' ' || c == '\n')
            fputc(c, out);
    }
}

bool plot_add(struct plot *plot, const char *name, struct plot_point point)
{
    struct plot_line *line = plot->lines;
    while (line < plot->lines + plot->n && strcmp(line->name, name) != 0)
        line++;
    if (line == plot->lines + plot->n) {
        if (plot->n == MOST_LINES)
            return false;
        *line = (struct plot_line) { .n = 0 };
        snprintf(line->name, sizeof line->name, "%s", name);
        plot->n++;
    }
    if (line->n == MOST_POINTS)
        return false;
    int at = line->n++;
    for (; at > 0 && line->points[at - 1].x > point.x; at--)
        line->points[at] = line->points[at - 1];
    line->points[at] = point;
    return true;
}

/* ---- scales -------------------------------------------------------------------------------------------------- */

#define LEFT   70.0
#define RIGHT  550.0
#define TOP    20.0
#define BOTTOM 300.0
#define WIDTH  560
/* Below the axes a line for each of the plot, which so has room for long names. */
#define LEGEND        366.0
#define LEGEND_HEIGHT 20

struct scale {
    double low, high; /* logarithms */
    double from, to;  /* places */
};

static double place(const struct scale *scale, double number)
{
    const double share = (log(number) - scale->low) / (scale->high - scale->low);
    return scale->from + share * (scale->to - scale->from);
}

/* Whole steps of a factor around all numbers. */
static struct scale scale_of(const struct plot *plot, bool y, double factor)
{
    struct scale scale = { INFINITY, -INFINITY, y ? BOTTOM : LEFT, y ? TOP : RIGHT };
    for (int l = 0; l < plot->n; l++)
        for (int p = 0; p < plot->lines[l].n; p++) {
            const struct plot_point *point = &plot->lines[l].points[p];
            const double             number = log(y ? point->y : point->x);
            scale.low = fmin(scale.low, number);
            scale.high = fmax(scale.high, number);
        }
    scale.low = floor(scale.low / log(factor) + 1e-9) * log(factor);
    scale.high = ceil(scale.high / log(factor) - 1e-9) * log(factor);
    if (scale.high <= scale.low)
        scale.high = scale.low + log(factor);
    return scale;
}

static void draw_axes(FILE *out, const struct plot *plot, const struct scale *x, const struct scale *y)
{
    char      text[TEXT_BYTES];
    const int decades = (int) lround((y->high - y->low) / log(10));
    for (int decade = 0; decade <= decades; decade++) {
        const double number = exp(y->low + decade * log(10)), place_y = place(y, number);
        fprintf(out, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", LEFT, RIGHT, place_y,
                place_y);
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT - 6, place_y + 4,
                text_rate(text, number));
    }
    const int powers = (int) lround((x->high - x->low) / log(2)), step = powers / 8 + 1;
    for (int power = 0; power <= powers; power += step) {
        const double number = exp(x->low + power * log(2)), place_x = place(x, number);
        fprintf(out, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", place_x, place_x, TOP,
                BOTTOM);
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", place_x, BOTTOM + 18,
                text_count(text, (size_t) llround(number)));
    }
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", (LEFT + RIGHT) / 2, BOTTOM + 40);
    put_text(out, plot->x_title);
    fprintf(out, "</text>\n<text x=\"4\" y=\"12\">");
    put_text(out, plot->y_title);
    fprintf(out, "</text>\n");
}

/* ---- lines --------------------------------------------------------------------------------------------------- */

/* A shape for each line, so that colour is not needed to tell them apart. */
static void draw_mark(FILE *out, int line, double x, double y)
{
    switch (line % 5) {
    case 0:
        fprintf(out, "<circle class=\"m c%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>", line, x, y);
        break;
    case 1:
        fprintf(out, "<rect class=\"m c%d\" x=\"%.1f\" y=\"%.1f\" width=\"7\" height=\"7\"/>", line, x - 3.5, y - 3.5);
        break;
    case 2:
        fprintf(out, "<path class=\"m c%d\" d=\"M%.1f %.1fl5 8h-10z\"/>", line, x, y - 5);
        break;
    case 3:
        fprintf(out, "<path class=\"m c%d\" d=\"M%.1f %.1fl5 5l-5 5l-5 -5z\"/>", line, x, y - 5);
        break;
    default:
        fprintf(out, "<path class=\"m c%d\" d=\"M%.1f %.1fl8 8m0 -8l-8 8\"/>", line, x - 4, y - 4);
        break;
    }
}

static void draw_line(FILE *out, const struct plot_line *line, int number, const struct scale *x, const struct scale *y)
{
    fprintf(out, "<polyline class=\"l c%d%s\" points=\"", number, line->limit ? " limit" : "");
    for (int p = 0; p < line->n; p++)
        fprintf(out, "%s%.1f,%.1f", p ? " " : "", place(x, line->points[p].x), place(y, line->points[p].y));
    fprintf(out, "\"/>");
    for (int p = 0; p < line->n && !line->limit; p++) {
        const struct plot_point *point = &line->points[p];
        const double             at = place(x, point->x);
        if (point->low > 0 && point->high > 0)
            fprintf(out, "<line class=\"w c%d\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", number, at, at,
                    fmin(BOTTOM, place(y, point->low)), fmax(TOP, place(y, point->high)));
        draw_mark(out, number, at, place(y, point->y));
    }
    const double legend = LEGEND + LEGEND_HEIGHT * number;
    fprintf(out, "\n<line class=\"l c%d%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", number,
            line->limit ? " limit" : "", LEFT, LEFT + 28, legend - 4, legend - 4);
    if (!line->limit)
        draw_mark(out, number, LEFT + 14, legend - 4);
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">", LEFT + 36, legend);
    put_text(out, line->name);
    fprintf(out, "</text>\n");
}

void plot_draw(FILE *out, const struct plot *plot, int id)
{
    const struct scale x = scale_of(plot, false, 2), y = scale_of(plot, true, 10);
    fprintf(out, "<svg role=\"img\" viewBox=\"0 0 %d %d\" aria-labelledby=\"t%d d%d\">\n<title id=\"t%d\">", WIDTH,
            (int) LEGEND + LEGEND_HEIGHT * plot->n - 8, id, id, id);
    put_text(out, plot->title);
    fprintf(out, "</title>\n<desc id=\"d%d\">", id);
    put_text(out, plot->sentence[0] ? plot->sentence : plot->title);
    fprintf(out, "</desc>\n");
    draw_axes(out, plot, &x, &y);
    for (int l = 0; l < plot->n; l++)
        draw_line(out, &plot->lines[l], l, &x, &y);
    fprintf(out, "</svg>\n");
}

void plot_table(FILE *out, const struct plot *plot)
{
    char a[TEXT_BYTES], b[TEXT_BYTES], c[TEXT_BYTES], d[TEXT_BYTES];
    fprintf(out, "<details><summary>figures</summary><div class=\"wide\"><table><tr><th>line</th><th>");
    put_text(out, plot->x_title);
    fprintf(out, "</th><th>");
    put_text(out, plot->y_title);
    fprintf(out, "</th><th>p10 to p90</th></tr>\n");
    for (int l = 0; l < plot->n; l++)
        for (int p = 0; p < plot->lines[l].n; p++) {
            const struct plot_point *point = &plot->lines[l].points[p];
            fprintf(out, "<tr><td>");
            put_text(out, plot->lines[l].name);
            fprintf(out, "</td><td>%s</td><td>%s</td><td>%s to %s</td></tr>\n",
                    text_count(a, (size_t) llround(point->x)), text_rate(b, point->y), text_rate(c, point->low),
                    text_rate(d, point->high));
        }
    fprintf(out, "</table></div></details>\n");
}
