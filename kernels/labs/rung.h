/* kernels/labs/rung.h -- one rung of a ladder: a kernel, its idea, its model.
 *
 * A ladder is one operation (labs/operation.h) done in several ways, from the
 * first that works to the fastest known. A rung adds one idea to the one before
 * it. A launcher gets the operation's tensors as a kernel of the engine does
 * (kernel.h), inputs in `in`, outputs and then scratch in `out`; it neither
 * allocates nor waits. What it cannot do it refuses with LAB_E_UNSUPPORTED and
 * a reason, before anything is queued. `params` of its call is its size, an
 * array of int64_t (labs/sweep.h).
 *
 * Tables are arrays of struct lab_rung that end with an empty row. In C++
 * (rungs.cu) designators stand in the order of the members. */
#pragma once
#include "common/kernel.h"

/* What the pipes of the device have to do, counted from the kernel's text.
 * "A multiply-add" is one of a whole warp (32 of them); 0: does not apply. */
struct lab_rung_model {
    /* Bytes that memory moves for each byte that the problem needs. */
    double traffic;
    /* Tile of the result (gemm): each number of A is read N / tile_n times, each
     * of B M / tile_m times; stands in the place of `traffic`. */
    int tile_m;
    int tile_n;
    /* Accesses of 128 bytes to L1 or shared memory, a multiply-add. */
    double accesses;
    /* Instructions issued, a multiply-add. */
    double instructions;
    /* Share of the device's processors that have work. 0: all. */
    double share;
    /* The vendor's library: no model, it is what the others are measured by. */
    bool library;
    /* Operations measured in time: nanoseconds that an item is said to take. */
    double item_ns;
};

enum { LAB_RUNG_NOTE = 128 };

/* What a rung says of itself once it has run at a size. */
struct lab_rung_note {
    char text[LAB_RUNG_NOTE]; /* "algorithm 3"; "" is nothing */
    int64_t workspace_bytes;  /* beside the tensors; -1: not known */
};

struct lab_rung {
    const char *name;
    const char *idea;  /* one line: what it adds to the rung before it */
    const char *needs; /* what the machine must have; NULL: nothing more */
    lab_kernel_fn *run;
    const char *source; /* the file that a learner reads */
    struct lab_rung_model model;
    enum lab_precision precision; /* LAB_FP32 when left out */
    /* Gain over the rung before that its idea promises; 0: the model's. */
    double gain;
    /* Compute capability, major * 10 + minor: 80 is 8.0 or later. With `only`
     * that major version and no other, as code for 90a wants it. 0: any. */
    int capability;
    bool capability_only;
    /* NULL: nothing to prepare. Called once for each size, before the first
     * `run`, with the same call: makes memory, chooses algorithms, describes
     * tensors. LAB_E_UNSUPPORTED: the rung does not serve the size, and says
     * why. */
    lab_kernel_fn *prepare;
    /* Called once after a `prepare` that did not fail, when the size is done;
     * NULL: nothing to give back. */
    lab_kernel_fn *release;
    /* Called after the size was timed; NULL: nothing to say. */
    void (*note)(const struct lab_call *call, struct lab_rung_note *out);
    /* The rung stands for the fastest of its candidates, where `lab tune` has
     * found one on this device; else `run` is what it does. */
    bool tuned;
    /* A candidate for the tuned rung of that name, in the same precision; it is
     * listed and timed by `lab tune` alone. NULL: an ordinary rung. */
    const char *family;
    /* NULL, or what is wrong: a rung that shows a mistake. It is run at each
     * size, its wrong elements are counted and told, and it is never timed. */
    const char *wrong_on_purpose;
};
