/* bench/demo.h -- what `lapenna-lab lab` shows that is no ladder.
 *
 * One kernel each: hello, scalar_add, vectors, index: its launch is edited
 * and its output shown; without a GPU the launch is simulated on the CPU,
 * and the output states it. And tables of their own: offsets, gflops, calls.
 * Each has a name, options, a run, and its output as text and JSON. */
#pragma once
#include "base/str.h"
#include "bench/bench.h"
#include "first/first.h"

LAB_C_BEGIN
/* ---- of one kernel, with the options of `lab` ---- */

/* Is `name` one of them, or a lesson about one? Its name into `kernel`. */
bool lab_demo_of(const char *name, char *kernel, size_t size);
enum lab_status lab_demo_run(const struct lab_options *o, const char *name);

/* ---- with options of their own ---- */

/* Runs the command of argv[1], or of `conv --calls`; *code is its exit code.
 * false: argv[1] is no such word, and nothing has been done. */
bool lab_demo_word(int argc, char **argv, int *code);
/* cuDNN's calls of a convolution, for a lesson, by its sizes, device and db;
 * kept as a run. Returns an exit code. */
int lab_demo_calls(const struct lab_options *lab);

/* A line of `lab --list`: a name, what it takes, what it is. */
#define LAB_BENCH_LINE "%-16s %-14s %s\n"

/* Such a line for each, tune and the sweeps too. In JSON, "operation", only
 * those of one kernel, without shape and unit. */
enum lab_status lab_demo_list(bool json);

/* ---- pure functions ---- */

/* "4", "3x2" or "3x2x1": 1 to 3 whole numbers above 0. */
enum lab_status lab_demo_sides(const char *option, const char *text,
                               int64_t *dim, int *rank);
/* A whole number of [1, most]. */
enum lab_status lab_demo_number(const char *option, const char *text,
                                int64_t most, int64_t *out);
/* Grid, blocks and threads as a picture of at most `width` columns; each cell
 * is the index of a thread. `marked` is put in brackets, -1: none; `elements`
 * and beyond are idle and have a dot, -1: none is. What does not fit is cut,
 * around `marked`, and the last line states it. */
void lab_index_picture(const struct lab_first_launch *launch, int64_t marked,
                       int64_t elements, int width, struct lab_str *out);

/* rand() of the GNU C library, the same on every machine: x(k) = x(k-3) +
 * x(k-31) modulo 2^32, without the lowest bit (random(3), TYPE_3). */
struct lab_course_rand {
    uint32_t word[31]; /* the last 31, the oldest at `at` */
    int at;
};

enum { LAB_COURSE_RAND_MAX = 2147483647 };

/* srand(seed); a seed of 0 is one of 1, as there. */
void lab_course_rand_init(struct lab_course_rand *r, uint32_t seed);
/* rand(): 0 to LAB_COURSE_RAND_MAX. */
int32_t lab_course_rand_next(struct lab_course_rand *r);
LAB_C_END
