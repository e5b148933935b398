/* kernel_priv.h -- what the keys of the kernel screen and its pictures share. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include "base/str.h"
#include "debug/kernel_pause.h"
#include "debug/kernel_text.h"
#include "ui/kernel.h"

enum { KERNEL_LANES = 32 };

/* The part below the source; in a wide window some of it is beside. */
enum kernel_tab {
    KERNEL_ACCESS,
    KERNEL_SHARED,
    KERNEL_PLACE,
    KERNEL_WARPS,
    KERNEL_FOUND,
    KERNEL_TABS
};

/* What runs on a thread of its own, so that Esc can stop it. */
enum kernel_job {
    KERNEL_MOVE,
    KERNEL_BACK,
    KERNEL_WRITER,
    KERNEL_ELEMENTS,
    KERNEL_BLOCK,
    KERNEL_FINDING /* the block, and on to a finding */
};

struct kernel_work {
    enum kernel_job job;
    enum lab_sim_move move;
    void *p; /* of an element */
    size_t bytes;
    uint32_t block[3];
    int warp; /* of a thread */
    int lane; /* the writer's, afterwards */
    struct lab_str text;
    struct lab_sim_stop stop;
    enum lab_status status;
    char error[256];
    bool running; /* its thread is to be joined */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool done;
    atomic_bool ends; /* it is to stop */
};

struct kernel_state {
    struct lab_kernel_args of;
    const struct lab_kernel_pause *at; /* NULL: none waits now */
    int number;                        /* of the launch that is shown */
    struct lab_kernel_source source;
    int32_t file;
    int32_t line;   /* of the next instruction; 0: not known */
    int32_t cursor; /* the line under the cursor */
    int lane;
    enum kernel_tab tab;
    int64_t top;    /* first row of shared memory, or of the list, shown */
    int finding;    /* chosen */
    char note[512]; /* why it stopped */
    struct kernel_work work;
    /* Where things were drawn, for clicks. */
    struct lab_rect tabs[KERNEL_TABS];
    struct lab_rect lanes;
    struct lab_rect lines; /* its first row is line `first_line` */
    int32_t first_line;
    struct lab_rect pane;
    struct lab_rect threads; /* a cell a group of threads */
    int per_cell[2];         /* threads along x and y */
    struct lab_rect blocks;
    int blocks_per_cell[2];
    struct lab_rect warps;
};

LAB_C_BEGIN
int kernel_focus(const struct kernel_state *st);
/* The first finding behind `i` that is of another check or line; n: none. */
int32_t kernel_same_finding(const struct lab_sim_finding *f, int32_t n,
                            int32_t i);
void kernel_draw(struct kernel_state *st, struct lab_canvas *c,
                 struct lab_rect body);
LAB_C_END
