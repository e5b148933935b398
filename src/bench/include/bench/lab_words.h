/* ui/lab_vocabulary_words.h -- a lab's numbers in words, for the screen and the commands.
 * Pure. Every function ends `out` with NUL and returns it. Threads: any. */
#pragma once
#include "bench/lab_model.h"

LAB_C_BEGIN
/* "8.241 TFLOP/s", "3.2 TB/s", "1.8 ns / access"; NaN: "n/a". */
const char *lab_bench_rate_text(const struct lab_ui_lab *lab, double rate,
                                char *out, size_t cap);
/* What was said: "2 TFLOP/s, memory, 50 %"; nothing said: "". */
const char *lab_prediction_text(const struct lab_ui_lab *lab,
                                const struct lab_ui_prediction *said, char *out,
                                size_t cap);
/* How far off it was: "1.9 x as fast as you said; bound: compute, not
 * memory". "" before the row is done, or when nothing was said. */
const char *lab_prediction_ratio_text(enum lab_ui_lab_unit unit,
                                      const struct lab_ui_prediction *said,
                                      const struct lab_ui_lab_row *row,
                                      char *out, size_t cap);
/* The same in a word or two for a column: "1.90 x". */
const char *lab_prediction_ratio_short(enum lab_ui_lab_unit unit,
                                       const struct lab_ui_prediction *said,
                                       const struct lab_ui_lab_row *row,
                                       char *out, size_t cap);
/* Measured over said, as speeds: 2 is twice as fast; NaN: not to be said. */
double lab_prediction_ratio(enum lab_ui_lab_unit unit,
                            const struct lab_ui_prediction *said,
                            const struct lab_ui_lab_row *row);
/* Why a rate can be above that of the rung's model, which knows no cache; NULL:
 * it is not, by 2 % at least, or one of the two is unknown. Bytes are what the
 * problem needs and what the model counts. Also of rows that no screen has. */
const char *lab_bench_model_passed(enum lab_ui_lab_unit unit, double rate,
                                   double model, double bytes, double traffic);
/* A figure of the course beside ours: "np.dot at 6000: slide, its CPU: 71.65
 * GFLOP/s; this machine: 50.1 GFLOP/s (blas)", or "; recorded on NVIDIA H200:
 * ..." */
enum { LAB_BENCH_SLIDE_TEXT = 512 };
const char *lab_bench_slide_text(const struct lab_ui_lab_slide *slide,
                                 char *out, size_t cap);
/* "not run", "checking", "timing", or "" when a time stands for itself. */
const char *lab_bench_state_text(enum lab_ui_lab_state state);
/* Why a rate is above its ceiling, for shares past what noise explains; else
 * NULL: then that rate is no ceiling at this size. */
const char *lab_bench_ceiling_passed(enum lab_ui_lab_unit unit, double share);
/* Whether a rung of a set passes the ceiling: at one size, or with -1 at any. */
bool lab_bench_ceiling_beaten(const struct lab_ui_lab *lab, int set, int size);
LAB_C_END
