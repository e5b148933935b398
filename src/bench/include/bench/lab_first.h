/* lab_first.h -- the first kernels of the course as commands: `lab hello`,
 * `lab scalar_add`, `lab vectors`, `lab index`. No ladders: one kernel each,
 * whose launch is edited, and whose output is shown. Where there is no GPU the
 * launch is acted out on the CPU, and the output says so. */
#pragma once
#include "base/str.h"
#include "engine/backend.h"
#include "bench/lab.h"
#include "labs/first/first.h"
#include "labs/rung.h"

struct lab_first {
    const struct lab_bench_options *options;
    const char *name;
    struct lab_backend *backend;
    struct lab_device_info info;
    const struct lab_rung *rung;
    struct lab_first_launch launch;
    int grid_rank; /* numbers that were written */
    int block_rank;
};

/* "hello" ...; NULL past the last. */
const char *lab_first_name(int i);
bool lab_first_is(const char *name);
/* A line each, as `lab --list` has one for a ladder; in JSON "operation" too,
 * without shape and unit. */
enum lab_status lab_first_list(bool json);
/* Is `name` one of them, or a lesson about one? Its name into `kernel`. */
bool lab_first_of(const char *name, char *kernel, size_t size);
enum lab_status lab_first_run(const struct lab_bench_options *o,
                              const char *name);

/* "4", "3x2" or "3x2x1": 1 to 3 whole numbers above 0. */
enum lab_status lab_first_sides(const char *option, const char *text,
                                int64_t *dim, int *rank);
/* A whole number of [1, most]. */
enum lab_status lab_first_number(const char *option, const char *text,
                                 int64_t most, int64_t *out);

/* Is the launch one that the device takes? */
enum lab_status lab_first_check(struct lab_first *f);
/* Runs the kernel and waits for it. */
enum lab_status lab_first_launch_it(struct lab_first *f, struct lab_call *call);
/* "hello<<<10, 10>>> ..." and where; in JSON a line lab_launch. */
enum lab_status lab_first_head(const struct lab_first *f);
/* "3x2" of the numbers that were written. */
void lab_first_sides_text(struct lab_str *out, const int64_t *dim, int rank);

/* lab_first_basic.c, lab_first_vectors.c, lab_first_index.c */
enum lab_status lab_first_do_hello(struct lab_first *f);
enum lab_status lab_first_do_scalar_add(struct lab_first *f);
enum lab_status lab_first_do_vectors(struct lab_first *f);
enum lab_status lab_first_do_index(struct lab_first *f);

/* index_picture.c: grid, blocks and threads as a picture of at most `width`
 * columns; each cell is the index of a thread. `marked` is put in brackets, -1:
 * none; `elements` and beyond are idle and have a dot, -1: none is. What does
 * not fit is cut, around `marked`, and the last line says so. */
void lab_index_picture(const struct lab_first_launch *launch, int64_t marked,
                       int64_t elements, int width, struct lab_str *out);
