/* demo_priv.h -- a demonstration of one kernel while it runs, and the commands of
 * the others. */
#pragma once
#include "bench/demo.h"

struct lab_demo {
    const struct lab_bench_options *options;
    const char *name;
    const char *symbol; /* as the source has it */
    struct lab_backend *backend;
    struct lab_device_info info;
    const struct lab_variant *rung;
    struct lab_first_launch launch;
    int grid_rank; /* numbers that were written */
    int block_rank;
    int64_t threads; /* of the launch */
};

/* Is the launch one that the device takes? Counts its threads: at most `most`;
 * LAB_E_USAGE: "more than 10 THINGS: take a smaller PART". */
enum lab_status lab_demo_check(struct lab_demo *d, int64_t most,
                               const char *things, const char *part);
/* Runs the kernel and waits for it. */
enum lab_status lab_demo_launch(struct lab_demo *d, struct lab_call *call);
/* "hello<<<10, 10>>> ..." and where; in JSON a line lab_launch. */
enum lab_status lab_demo_head(const struct lab_demo *d);
/* `n` elements of one dimension. */
struct lab_view lab_demo_view(void *at, enum lab_dtype dtype, int64_t n);

enum lab_status lab_demo_hello(struct lab_demo *d);
enum lab_status lab_demo_scalar_add(struct lab_demo *d);
enum lab_status lab_demo_vectors(struct lab_demo *d);
enum lab_status lab_demo_index(struct lab_demo *d);

/* argv[0] is the word, or "conv". Return an exit code. */
int lab_demo_cmd_calls(int argc, char **argv);
int lab_demo_cmd_gflops(int argc, char **argv);
int lab_demo_cmd_offsets(int argc, char **argv);
