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

void put_cell(FILE *out, const char *kind, const char *text)
{
    fprintf(out, "<td%s>", kind);
    put_text(out, text);
    fprintf(out, "</td>");
}

void put_head(FILE *out, const char *const *titles, int n)
{
    fprintf(out, "<div class=\"wide\"><table>\n<tr>");
    for (int i = 0; i < n; i++)
        fprintf(out, "<th>%s</th>", titles[i]);
    fprintf(out, "</tr>\n");
}

bool plot_add(struct plot *plot, const char *name, struct plot_point point)
{
    struct plot_line *line = plot->lines;
    while (line < plot->lines + plot->n && strcmp(line->name, name) != 0)
        line++;
    if (line == plot->lines + plot->n) {
        plot->full |= plot->n == MOST_LINES;
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
#define WIDTH  574
/* Below the axes a line for each of the plot, which so has room for long names. */
#define LEGEND        366.0
#define LEGEND_HEIGHT 20

struct scale {
    bool   linear;
    double low, high; /* logarithms, or where it is linear the numbers themselves */
    double from, to;  /* places */
};

static double place(const struct scale *scale, double number)
{
    const double share = ((scale->linear ? number : log(number)) - scale->low) / (scale->high - scale->low);
    return scale->from + share * (scale->to - scale->from);
}

/* The least and the greatest of all numbers of an axis. */
static struct scale range_of(const struct plot *plot, bool y)
{
    struct scale scale = { false, INFINITY, -INFINITY, y ? BOTTOM : LEFT, y ? TOP : RIGHT };
    for (int l = 0; l < plot->n; l++)
        for (int p = 0; p < plot->lines[l].n; p++) {
            const double number = y ? plot->lines[l].points[p].y : plot->lines[l].points[p].x;
            scale.low = fmin(scale.low, number);
            scale.high = fmax(scale.high, number);
        }
    return scale;
}

/* Whole steps of a factor around all numbers. */
static struct scale log_scale(const struct plot *plot, bool y, double factor)
{
    struct scale scale = range_of(plot, y);
    scale.low = floor(log(scale.low) / log(factor) + 1e-9) * log(factor);
    scale.high = ceil(log(scale.high) / log(factor) - 1e-9) * log(factor);
    if (scale.high <= scale.low)
        scale.high = scale.low + log(factor);
    return scale;
}

/* From 0, in at most ten steps of 1, 2 or 5 times a power of ten. */
static struct scale linear_scale(const struct plot *plot, bool y, double *step)
{
    static const double of_ten[] = { 1, 2, 5, 10 };
    struct scale        scale = range_of(plot, y);
    const double        most = scale.high > 0 ? scale.high : 1, ten = pow(10, floor(log10(most / 10)));
    int                 s = 0;
    while (s < 3 && of_ten[s] * ten * 10 < most)
        s++;
    *step = of_ten[s] * ten;
    scale.linear = true;
    scale.low = 0;
    scale.high = ceil(most / *step - 1e-9) * *step;
    return scale;
}

static struct scale scale_of(const struct plot *plot, bool y, double *step)
{
    const bool linear = y ? plot->y_linear : plot->x_linear;
    *step = y ? 10 : 2;
    return linear ? linear_scale(plot, y, step) : log_scale(plot, y, *step);
}

char *plot_text(char text[32], enum plot_unit unit, double figure)
{
    if (unit == UNIT_RATE)
        return text_rate(text, figure);
    if (unit == UNIT_SECONDS)
        return text_seconds(text, figure);
    snprintf(text, TEXT_BYTES, isnan(figure) ? "-" : "%.3g", figure);
    return text;
}

static int steps_of(const struct scale *scale, double step)
{
    return (int) lround((scale->high - scale->low) / (scale->linear ? step : log(step)));
}

static double number_at(const struct scale *scale, double step, int i)
{
    return scale->linear ? scale->low + i * step : exp(scale->low + i * log(step));
}

static char *x_text(char text[TEXT_BYTES], bool linear, double number)
{
    if (!linear)
        return text_count(text, (size_t) llround(number));
    snprintf(text, TEXT_BYTES, "%g", number);
    return text;
}

static void draw_axes(FILE *out, const struct plot *plot, const struct scale *x, double x_step, const struct scale *y,
                      double y_step)
{
    char      text[TEXT_BYTES];
    const int rows = steps_of(y, y_step), columns = steps_of(x, x_step), every = columns / 8 + 1;
    fprintf(out, "<path class=\"grid\" d=\"");
    for (int row = 0; row <= rows; row++)
        fprintf(out, "M%g %.4gH%g", LEFT, place(y, number_at(y, y_step, row)), RIGHT);
    for (int column = 0; column <= columns; column += every)
        fprintf(out, "M%.4g %gV%g", place(x, number_at(x, x_step, column)), TOP, BOTTOM);
    fprintf(out, "\"/>\n<g text-anchor=\"end\">");
    for (int row = 0; row <= rows; row++) {
        const double number = number_at(y, y_step, row);
        fprintf(out, "<text x=\"%g\" y=\"%.4g\">%s</text>", LEFT - 6, place(y, number) + 4,
                plot_text(text, plot->unit, number));
    }
    fprintf(out, "</g>\n<g text-anchor=\"middle\">");
    for (int column = 0; column <= columns; column += every) {
        const double number = number_at(x, x_step, column);
        fprintf(out, "<text x=\"%.4g\" y=\"%g\">%s</text>", place(x, number), BOTTOM + 18,
                x_text(text, x->linear, number));
    }
    fprintf(out, "<text x=\"%g\" y=\"%g\">", (LEFT + RIGHT) / 2, BOTTOM + 40);
    put_text(out, plot->x_title);
    fprintf(out, "</text></g>\n<text x=\"4\" y=\"12\">");
    put_text(out, plot->y_title);
    fprintf(out, "</text>\n");
}

/* ---- lines --------------------------------------------------------------------------------------------------- */

/* A shape for each line, so that colour is not needed to tell them apart; around 0, 0. */
static void draw_mark(FILE *out, int line)
{
    static const char *const shapes[] = { "<circle class=\"m c%d\" r=\"4\"/>",
                                          "<rect class=\"m c%d\" x=\"-3.5\" y=\"-3.5\" width=\"7\" height=\"7\"/>",
                                          "<path class=\"m c%d\" d=\"M0-5l5 8h-10z\"/>",
                                          "<path class=\"m c%d\" d=\"M0-5l5 5l-5 5l-5-5z\"/>",
                                          "<path class=\"m c%d\" d=\"M-4-4l8 8m0-8l-8 8\"/>" };
    fprintf(out, "<marker id=\"m%d\" markerUnits=\"userSpaceOnUse\">", line);
    /* NOLINTNEXTLINE(clang-diagnostic-format-nonliteral) each has one number */
    fprintf(out, shapes[line % 5], line);
    fprintf(out, "</marker>");
}

/* The marks that lines have at their points, by their style. */
static void draw_marks(FILE *out)
{
    fprintf(out, "<defs>");
    for (int line = 0; line < MOST_LINES; line++)
        draw_mark(out, line);
    fprintf(out, "</defs>\n");
}

/* All whiskers of a line as one path. */
static void draw_whiskers(FILE *out, const struct plot_line *line, int number, const struct scale *x,
                          const struct scale *y)
{
    bool any = false;
    for (int p = 0; p < line->n; p++) {
        const struct plot_point *point = &line->points[p];
        if (!(point->low > 0 && point->high > 0))
            continue;
        if (!any)
            fprintf(out, "<path class=\"w c%d\" d=\"", number);
        any = true;
        fprintf(out, "M%.4g %.4gV%.4g", place(x, point->x), fmin(BOTTOM, place(y, point->low)),
                fmax(TOP, place(y, point->high)));
    }
    fprintf(out, any ? "\"/>" : "");
}

static void draw_line(FILE *out, const struct plot_line *line, int number, const struct scale *x, const struct scale *y)
{
    if (!line->limit)
        draw_whiskers(out, line, number, x, y);
    fprintf(out, "<polyline class=\"l c%d%s\" points=\"", number, line->limit ? " limit" : "");
    /* One point alone is a line to itself: what has no length of any kind has no marks. */
    for (int p = 0; p < line->n || p < 2; p++) {
        const struct plot_point *point = &line->points[p < line->n ? p : 0];
        fprintf(out, "%s%.4g,%.4g", p ? " " : "", place(x, point->x), place(y, point->y));
    }
    const double legend = LEGEND + LEGEND_HEIGHT * number;
    /* In its legend a line has a mark in the middle, where it has a corner. */
    fprintf(out, "\"/>\n<path class=\"l k c%d%s\" d=\"M%g %gh14h14\"/><text x=\"%g\" y=\"%g\">", number,
            line->limit ? " limit" : "", LEFT, legend - 4, LEFT + 36, legend);
    put_text(out, line->name);
    fprintf(out, "</text>\n");
}

void plot_draw(FILE *out, const struct plot *plot, int id, bool marks)
{
    double             x_step, y_step;
    const struct scale x = scale_of(plot, false, &x_step), y = scale_of(plot, true, &y_step);
    fprintf(out, "<svg role=\"img\" viewBox=\"0 0 %d %d\" aria-labelledby=\"t%d d%d\">\n<title id=\"t%d\">", WIDTH,
            (int) LEGEND + LEGEND_HEIGHT * plot->n - 8, id, id, id);
    put_text(out, plot->title);
    fprintf(out, "</title>\n<desc id=\"d%d\">", id);
    put_text(out, plot->sentence[0] ? plot->sentence : plot->title);
    fprintf(out, "</desc>\n");
    if (marks)
        draw_marks(out);
    draw_axes(out, plot, &x, x_step, &y, y_step);
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
            /* Without the end tags that HTML can do without: there are thousands of rows. */
            fprintf(out, "<tr>");
            if (p == 0) {
                fprintf(out, "<td rowspan=%d>", plot->lines[l].n);
                put_text(out, plot->lines[l].name);
            }
            fprintf(out, "<td>%s<td>%s<td>", x_text(a, plot->x_linear, point->x), plot_text(b, plot->unit, point->y));
            if (point->low > 0)
                fprintf(out, "%s to %s", plot_text(c, plot->unit, point->low), plot_text(d, plot->unit, point->high));
            fprintf(out, "\n");
        }
    fprintf(out, "</table></div></details>\n");
}
