/* ui/lab_chart.h -- a lab in pictures: the variants of one size as bars, and their
 * rates against the size as lines.
 *
 * Nothing is shown by colour alone: bars carry their numbers, lines their
 * digit, and the meaning of a digit is written below. The commands print the
 * same pictures. Pure drawing. Threads: any, one canvas each. */
#pragma once
#include "base/str.h"
#include "ui/canvas.h"
#include "bench/model.h"

struct lab_bench_chart {
    const struct lab_bench_data *lab;
    int set;        /* of variants */
    int size;       /* of the bars; an index of lab->sizes */
    int64_t chosen; /* a row that must be in sight, or -1 */
    bool log;
};

LAB_C_BEGIN
/* A heading, then a row for each variant, or of data by size for each size. '|' in a bar is what the variant's model
 * states, '?' the prediction. Below them, where there is room, the lanes of the
 * chosen row or the fastest, of a lab that has them (lab_bench_lanes()). */
void lab_bench_bars_draw(struct lab_canvas *c, struct lab_rect r,
                         const struct lab_bench_chart *chart);
/* The rows that the heading and all bars take. */
int lab_bench_bars_rows(const struct lab_bench_chart *chart);
/* The rows that the lanes take below the bars; 0: the lab has none. */
int lab_bench_lanes_rows(const struct lab_bench_chart *chart);
/* Lines of rates below their heading; returns where the lines are. A small picture has
 * the chosen variant, the fastest, the library's and the ceiling; one of 14 rows or more the
 * best of every other set and the course's figures as points as well, and one that is
 * wide too every variant. */
struct lab_rect lab_bench_rates_draw(struct lab_canvas *c, struct lab_rect r,
                                     const struct lab_bench_chart *chart);
/* The row of lab->rows at a cell of bars drawn in `r`, and of rates with lines in
 * `r`; -1: none. */
int64_t lab_bench_bars_find(struct lab_rect r,
                            const struct lab_bench_chart *chart, int y);
int64_t lab_bench_rates_find(struct lab_rect r,
                             const struct lab_bench_chart *chart, bool ascii,
                             int y, int x);
/* Both pictures of a set as lines of text: bars of its last size, linear, and
 * rates, logarithmic, where it has several sizes. */
enum lab_status lab_bench_chart_text(const struct lab_bench_data *lab, int set,
                                     int columns, bool ascii,
                                     struct lab_str *out);
LAB_C_END
