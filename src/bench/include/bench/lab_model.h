/* ui/lab_model.h -- what the screen of a lab shows: a ladder of kernels at
 * several sizes, measured here and elsewhere, as plain data.
 *
 * The screen knows no engine: the program fills a copy of the data under a lock
 * and tells by a version when there is a newer one. Texts are safe for a
 * terminal. Unknown numbers are NaN, unknown texts "". */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"
#include "report/doc.h"

enum {
    LAB_UI_LAB_SETS = 4,
    LAB_UI_LAB_SLIDES = 64,
    LAB_UI_LAB_TEXT = 512,
    LAB_UI_LAB_COMMAND = 16384, /* two paths of any length, quoted */
    LAB_UI_LAB_NAME = 64
};

/* What rates are of. */
enum lab_ui_lab_unit {
    LAB_UI_LAB_FLOPS, /* operations a second */
    LAB_UI_LAB_BYTES, /* bytes a second */
    LAB_UI_LAB_TIME   /* seconds of one item: less is better */
};

enum lab_ui_lab_state {
    LAB_UI_LAB_WAITING,
    LAB_UI_LAB_CHECKING, /* compared with double */
    LAB_UI_LAB_TIMING,
    LAB_UI_LAB_DONE,
    LAB_UI_LAB_FAILED /* `reason` says why there are no times */
};

/* What somebody expects before it is measured; at most one of rate and time is
 * known, and none of them when nothing was said. */
struct lab_ui_prediction {
    double rate; /* in the lab's unit */
    double time_ns;
    double occupancy_pct;
    char bound[16]; /* "memory", "compute", "latency" */
};

/* One rung at one size on one machine. */
struct lab_ui_lab_row {
    int set;
    int size; /* of lab_ui_lab.sizes */
    enum lab_ui_lab_state state;
    char rung[32];
    char idea[160];
    char precision[8];
    char source[96]; /* the file, below the program's data */
    char reason[LAB_UI_LAB_TEXT];
    char note[160];
    bool library; /* the vendor's, or what others are measured by */
    int repeats;
    double check_error; /* on odd shapes, in parts of what is allowed */
    double min_ns;
    double quarter_ns;
    double median_ns;
    double three_quarters_ns;
    double max_ns;
    double flop;
    double bytes;
    double traffic_bytes; /* by the rung's model */
    double rate;
    double rate_model;
    double gain; /* over lab_ui_lab_gain_over() */
    double gain_model;
    double share;      /* of the ceiling */
    double of_library; /* of the library's rate at this size and precision */
    double workspace_bytes;
    /* Its kernel, traced once: of several the one that took longest. */
    char kernel[LAB_UI_LAB_NAME];
    char launch[LAB_UI_LAB_NAME]; /* "128 x 128 blocks of 16 x 16" */
    int kernels;
    double kernel_ns;
    double occupancy_pct; /* theoretical */
    double achieved_pct;  /* counted */
    double dram_bytes;    /* counted, of all kernels */
    double registers;     /* a thread */
    double shared_bytes;  /* a block */
    double sm_clock_hz;
    double temperature_c;
    double power_w;
    char bound[16]; /* what the measured time says */
    struct lab_ui_prediction said;
};

/* Where rows come from. */
struct lab_ui_lab_set {
    char name[LAB_UI_LAB_NAME];   /* "CPU", "GPU", "recorded" */
    char device[LAB_UI_LAB_NAME]; /* "NVIDIA H200" */
    char badge[LAB_UI_LAB_NAME];  /* of the title line while it is shown */
    char note[160];               /* when, which run; or why there is nothing */
    char sizes[LAB_UI_LAB_TEXT];  /* as --sizes has them */
    bool runs;                    /* it can be measured here and now */
    double ceiling;               /* of the rates; NaN: not known */
    char ceiling_name[48];
};

struct lab_ui_lab_size {
    int set;
    char text[LAB_UI_LAB_NAME];
    double x;                      /* its first side, for axes */
    struct lab_ui_prediction best; /* said of the fastest rung */
};

/* A figure of the course beside ours. */
struct lab_ui_lab_slide {
    char label[96];
    char machine[96];
    char source[160];
    char size[LAB_UI_LAB_NAME];
    char unit[16];
    double value;
    char rung[LAB_UI_LAB_NAME]; /* ours; "" the fastest */
    char precision[8];          /* "": the ladder's usual one */
    double x;
    double rate; /* of `value` where that is a rate, else NaN */
    /* Ours, in words; and whose that is: the device that it was recorded on
     * where this machine has none, else "". */
    char here[96];
    char recorded_on[LAB_UI_LAB_NAME];
};

struct lab_ui_lab {
    int64_t version;
    enum lab_ui_lab_unit unit;
    char item[32]; /* LAB_UI_LAB_TIME: what one is */
    struct lab_ui_lab_set sets[LAB_UI_LAB_SETS];
    int set_count;
    int running; /* a set, or -1 */
    int at_size; /* that is being measured, or -1 */
    char doing[160];
    int64_t done; /* rows that are through, of this climb */
    int64_t total;
    int64_t elapsed_ns;            /* when the last row came */
    char problem[LAB_UI_LAB_TEXT]; /* why the last climb ended early */
    int problem_set;
    /* Of a lab that is no ladder, what measures it; else "". */
    char command[LAB_UI_LAB_COMMAND];
    struct lab_ui_lab_slide *slides;
    int slide_count;
    struct lab_ui_lab_size *sizes;
    int size_count;
    struct lab_ui_lab_row *rows; /* sizes within sets, rungs within sizes */
    int64_t row_count;
};

/* The program's side. All functions are called on the UI's thread. */
struct lab_bench_model {
    void *user;
    const char *title;
    const char *shape; /* how a size is written */
    int64_t (*version)(void *user);
    /* A copy of its own, to be released. */
    enum lab_status (*snapshot)(void *user, struct lab_ui_lab *out);
    enum lab_status (*run)(void *user, int set);
    void (*stop)(void *user);
    enum lab_status (*sizes)(void *user, int set, const char *list);
    /* `rung` NULL: of the fastest. The text is as typed; "" takes it back. */
    enum lab_status (*predict)(void *user, int set, const char *rung,
                               const char *size, const char *text);
    /* The file's text, until the next call. */
    enum lab_status (*source)(void *user, const char *file, const char **text,
                              size_t *bytes);
    enum lab_status (*write_text)(void *user, struct lab_doc *out);
};

LAB_C_BEGIN
void lab_ui_lab_init(struct lab_ui_lab *lab);
void lab_ui_lab_release(struct lab_ui_lab *lab);
/* LAB_E_NOMEM: *to is empty then. */
enum lab_status lab_ui_lab_copy(struct lab_ui_lab *to,
                                const struct lab_ui_lab *from);
void lab_ui_prediction_init(struct lab_ui_prediction *said);
bool lab_ui_prediction_any(const struct lab_ui_prediction *said);
/* A row with nothing known. */
void lab_ui_lab_row_init(struct lab_ui_lab_row *row);
/* The fastest row of a size that is done, or NULL. */
const struct lab_ui_lab_row *lab_ui_lab_best(const struct lab_ui_lab *lab,
                                             int size);
/* The rung that a row's gain is over: the last one before it at its size that
 * was timed and is no library's, in whatever precision; NULL: none. `row` is one
 * of lab->rows. */
const struct lab_ui_lab_row *
lab_ui_lab_gain_over(const struct lab_ui_lab *lab,
                     const struct lab_ui_lab_row *row);
/* Fills of_library of a size's rows: the speed as a share of that of the
 * fastest library row of the same precision, NaN where there is none. */
void lab_ui_lab_relate(struct lab_ui_lab *lab, int size);
LAB_C_END
