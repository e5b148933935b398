/* bench/text.h -- a lab's numbers as text, for the screen and the commands.
 * Pure. Every function ends `out` with NUL and returns it. Threads: any. */
#pragma once
#include "bench/model.h"

LAB_C_BEGIN
/* "8.241 TFLOP/s", "3.2 TB/s", "1.8 ns / access"; NaN: "n/a". */
const char *lab_bench_rate_text(const struct lab_bench_data *data, double rate,
                                char *out, size_t cap);
/* "2 TFLOP/s, memory, 50 %"; nothing predicted: "". */
const char *lab_prediction_text(const struct lab_bench_data *data,
                                const struct lab_prediction *p, char *out,
                                size_t cap);
/* How far off it was: "1.9 x as fast as you said; bound: compute, not
 * memory". "" before the row is done, or when nothing was predicted. */
const char *lab_prediction_ratio_text(enum lab_bench_unit unit,
                                      const struct lab_prediction *p,
                                      const struct lab_bench_result *row,
                                      char *out, size_t cap);
/* The same in a word or two for a column: "1.90 x". */
const char *lab_prediction_ratio_short(enum lab_bench_unit unit,
                                       const struct lab_prediction *p,
                                       const struct lab_bench_result *row,
                                       char *out, size_t cap);
/* Measured over predicted, as speeds: 2 is twice as fast; NaN: unknown. */
double lab_prediction_ratio(enum lab_bench_unit unit,
                            const struct lab_prediction *p,
                            const struct lab_bench_result *row);
/* Why a rate can be above that of the variant's model, which knows no cache;
 * NULL: it is not, by 2 % at least, or one of the two is unknown. Bytes are
 * what the problem needs and what the model counts. */
const char *lab_bench_model_passed(enum lab_bench_unit unit, double rate,
                                   double model, double bytes, double traffic);
/* A figure of the course beside ours: "np.dot at 6000: slide, its CPU: 71.65
 * GFLOP/s; this machine: 50.1 GFLOP/s (blas)", or "; recorded on NVIDIA H200:
 * ..." */
enum { LAB_BENCH_SLIDE_TEXT = 512 };
const char *lab_bench_slide_text(const struct lab_bench_slide *slide, char *out,
                                 size_t cap);
/* "not run", "checking", "timing", or "" when the time needs no word. */
const char *lab_bench_state_text(enum lab_bench_progress state);
/* Why a rate is above its ceiling, for shares past what noise explains; else
 * NULL: then that rate is no ceiling at this size. */
const char *lab_bench_ceiling_passed(enum lab_bench_unit unit, double share);
/* Whether a variant of a set passes the ceiling: at one size, or with -1 at
 * any. */
bool lab_bench_ceiling_beaten(const struct lab_bench_data *data, int set,
                              int size);
LAB_C_END
