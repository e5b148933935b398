/* bench/model.h -- a lab as data: a ladder of kernels at several sizes,
 * measured here and elsewhere, with what was predicted of it. Tables, pictures
 * and the screen draw this.
 *
 * The screen gets copies: the program fills the data under a lock, and a
 * version shows when there is newer data. Texts are safe for a terminal and
 * live as long as the process (trace/intern.h), those of the course as long as
 * the lesson. Unknown numbers are NaN or LAB_UNKNOWN, unknown texts NULL in
 * results and "" elsewhere. Threads: one at a time a struct lab_bench_data. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/ladder.h"
#include "report/doc.h"
#include "store/bench.h"
#include "store/counted.h"
#include "store/query.h"

struct lab_bench;
struct lab_counters;
struct lab_lesson_slide;
struct lab_options;
struct lab_timed_row;

enum {
    LAB_BENCH_SETS = 4,
    LAB_BENCH_TEXT = 512,
    LAB_BENCH_COMMAND = 16384, /* two paths of any length, quoted */
    LAB_BENCH_NAME = 64,
    LAB_BENCH_PREDICTIONS = 512
};

/* A machine with results. */
struct lab_bench_set {
    char name[LAB_BENCH_NAME];   /* "CPU", "GPU", "recorded" */
    char device[LAB_BENCH_NAME]; /* "NVIDIA H200" */
    char badge[LAB_BENCH_NAME];  /* of the title line while it is shown */
    char note[160];              /* when, which run; or why there is nothing */
    char sizes[LAB_BENCH_TEXT];  /* as --sizes has them */
    bool runs;                   /* it can be measured here and now */
    bool untimed;                /* a simulation: values and counts alone */
    double ceiling;              /* of the rates; NaN: not known */
    char ceiling_name[48];
};

struct lab_bench_size {
    int set;
    const char *text;
    double x;                   /* its first side, for axes */
    struct lab_prediction best; /* of the fastest variant */
};

/* A figure of the course beside ours. */
struct lab_bench_slide {
    const struct lab_lesson_slide *course;
    double x;
    double rate; /* of its value where that is a rate, else NaN */
    /* The recorded result of a run that is not shown, and its device; state
     * LAB_BENCH_WAITING: there is none. */
    struct lab_bench_result recorded;
    char recorded_device[LAB_BENCH_NAME];
    /* Ours, in words; and the device that it was recorded on where this machine
     * has none, else "". */
    char here[160];
    double
        call_ns; /* not measured here, by the rate at another size; else NaN */
    char recorded_on[LAB_BENCH_NAME];
};

struct lab_bench_data {
    int64_t version;
    enum lab_bench_unit unit;
    const char *item;       /* LAB_UNIT_TIME: what one is; else NULL */
    const char *size_name;  /* of what a size is, "batch"; NULL: "size" */
    bool by_size;           /* a result a size: the bars are the sizes */
    bool far_apart;         /* the bars need a logarithmic axis */
    const char *arithmetic; /* the operation's; NULL: each row's precision */
    const char *error_is;   /* the operation's; NULL: rows have no error */
    struct lab_bench_set sets[LAB_BENCH_SETS];
    int set_count;
    int running; /* a set, or -1 */
    int at_size; /* that is being measured or was last; -1: none yet */
    char doing[160];
    int64_t done; /* results so far, of this run */
    int64_t total;
    int64_t elapsed_ns;           /* when the last result came */
    char problem[LAB_BENCH_TEXT]; /* why the last run ended early */
    int problem_set;
    /* Of a lab that is no ladder, what measures it; else "". */
    char command[LAB_BENCH_COMMAND];
    struct lab_str
        output; /* what that has printed; `running` 0 while it runs */
    struct lab_bench_slide *slides;
    int slide_count;
    struct lab_bench_size *sizes;
    int size_count;
    struct lab_bench_result
        *rows; /* sizes within sets, variants within sizes */
    int64_t row_count;
};

/* The program's side of the screen. All functions are called on the UI's
 * thread. */
struct lab_bench_model {
    void *user;
    const char *title;
    const char *shape; /* how a size is written */
    int64_t (*version)(void *user);
    /* A copy of its own, to be released. */
    enum lab_status (*snapshot)(void *user, struct lab_bench_data *out);
    enum lab_status (*run)(void *user, int set);
    void (*stop)(void *user);
    /* Launches a row's variant at its size, once, for a screen that walks its
     * kernels (debug/kernel_pause.h) and is armed; it runs until `running` is -1.
     * LAB_E_UNSUPPORTED: no simulation. */
    enum lab_status (*into)(void *user, const struct lab_bench_result *row);
    enum lab_status (*sizes)(void *user, int set, const char *list);
    /* `variant` NULL: of the fastest. The text is as typed; "" takes it
     * back. */
    enum lab_status (*predict)(void *user, int set, const char *variant,
                               const char *size, const char *text);
    /* The file's text, until the next call. */
    enum lab_status (*source)(void *user, const char *file, const char **text,
                              size_t *bytes);
    enum lab_status (*write_text)(void *user, struct lab_doc *out);
};

LAB_C_BEGIN
void lab_bench_data_init(struct lab_bench_data *data);
void lab_bench_data_release(struct lab_bench_data *data);
/* LAB_E_NOMEM: *to is empty then. */
enum lab_status lab_bench_data_copy(struct lab_bench_data *to,
                                    const struct lab_bench_data *from);
/* The fastest result of a size, or NULL. */
const struct lab_bench_result *lab_bench_best(const struct lab_bench_data *data,
                                              int size);
/* The result that a gain is over: the last one before it at its size that was
 * timed and is no library's, in whatever precision; NULL: none. `row` is one of
 * data->rows. */
const struct lab_bench_result *
lab_bench_gain_over(const struct lab_bench_data *data,
                    const struct lab_bench_result *row);
/* What runs beside what in a row of the lab overlap: the parts of its vector in
 * three lanes, each lane one part after the other, a part's kernel after its copy.
 * Times from those of each lane alone, as the row's note has them. */
enum { LAB_LANE_IN, LAB_LANE_KERNEL, LAB_LANE_OUT, LAB_LANES };
enum { LAB_LANE_PARTS = 8 };
struct lab_bench_lanes {
    int parts;
    double begin_ms[LAB_LANES][LAB_LANE_PARTS];
    double end_ms[LAB_LANES][LAB_LANE_PARTS];
    double ms; /* of all */
};
/* false: the row is none of that lab, or was not timed. */
bool lab_bench_lanes(const struct lab_bench_result *row,
                     struct lab_bench_lanes *out);
/* The size of a set by its text; -1: there is none. */
int lab_bench_size_find(const struct lab_bench_data *data, int set,
                        const char *text);
/* Fills of_library of a size's results: the speed over that of the fastest
 * library of the same precision, NaN where there is none. */
void lab_bench_relate(struct lab_bench_data *data, int size);

/* Adds an empty set; returns its index, or -1: there are too many. */
int lab_bench_model_add_set(struct lab_bench_data *data, const char *name,
                            const char *device);
/* Is a variant of `lab` measured at a size? See its course_from. */
bool lab_bench_measures(const struct lab_bench *lab, int variant, int size);
/* The unit, and a waiting result for each size and variant of `lab`, with its
 * prediction; what the set had goes. Errors: LAB_E_NOMEM. */
enum lab_status lab_bench_model_plan(struct lab_bench_data *data, int set,
                                     const struct lab_bench *lab);
/* The ceilings, once they were measured. */
void lab_bench_model_ceilings(struct lab_bench_data *data, int set,
                              const struct lab_bench *lab);
/* Bytes that are read before each repeat. */
int64_t lab_bench_flushed(const struct lab_bench *lab);
/* What was measured, with interned texts. */
void lab_bench_result_of(const struct lab_bench *lab,
                         const struct lab_ladder_row *row,
                         struct lab_bench_result *out);
/* Puts it in the place of the waiting one, which it returns; NULL: there is
 * none. */
const struct lab_bench_result *
lab_bench_model_put(struct lab_bench_data *data, int set,
                    const struct lab_bench *lab,
                    const struct lab_bench_result *result);
/* A kernel of a traced result: of several the longest counts. */
void lab_bench_model_kernel(struct lab_bench_data *data, int set,
                            const struct lab_bench *lab,
                            const struct lab_timed_row *row,
                            const struct lab_kernel_record *kernel,
                            const struct lab_counters *counters);
/* What is being checked (`size` NULL: at every size) or timed. */
void lab_bench_model_state(struct lab_bench_data *data, int set,
                           const struct lab_variant *variant, const char *size,
                           enum lab_bench_progress state);
/* The predictions of a set's results, anew. */
void lab_bench_model_predict(struct lab_bench_data *data, int set,
                             const struct lab_prediction *list, int n);
/* A set "recorded" with that run of this lab that ships with the program and
 * has most of its variants, then sizes, then is the newest (profiles/recorded).
 * Errors: LAB_E_NOTFOUND, none does; LAB_E_DB. */
enum lab_status lab_bench_model_recorded(struct lab_bench_data *data,
                                         const struct lab_bench *lab);
/* Sets with the rows of a sweep of a lesson's network, or of all (`lesson` NULL), as
 * times: a set for each backend. `recorded`: of the run that ships with the program,
 * else of the newest in the database `path`. Errors: LAB_E_NOTFOUND, there is none;
 * LAB_E_DB. */
enum lab_status lab_bench_model_sweep(struct lab_bench_data *data,
                                      const char *sweep, const char *lesson,
                                      const char *path, bool recorded);
/* A set with the newest run of this lab on another backend (on any, where the lab has
 * none open) that the learner's own database has, so that CPU and GPU are in one
 * picture. Errors: the same. */
enum lab_status lab_bench_model_earlier(struct lab_bench_data *data,
                                        const struct lab_bench *lab);
/* Appends the database that --db names, or the usual one. */
enum lab_status lab_bench_db_path(const struct lab_options *o,
                                  struct lab_str *out);
/* A set with what run `run` measured, of a ladder or a sweep, without its kernels and
 * sources; a run of neither has no rows. Errors: LAB_E_NOTFOUND, LAB_E_DB. */
enum lab_status lab_bench_model_run(struct lab_bench_data *data,
                                    struct lab_database *db, int64_t run);
/* The lesson's figures of the course. Errors: LAB_E_NOMEM. */
enum lab_status lab_bench_model_slides(struct lab_bench_data *data,
                                       const struct lab_bench *lab);
/* For figures that no set has: the newest of what ships (profiles/recorded), whatever
 * run it is of; after the recorded set. Errors: LAB_E_NOTFOUND, LAB_E_DB. */
enum lab_status lab_bench_model_slides_recorded(struct lab_bench_data *data,
                                                const struct lab_bench *lab);
/* What this machine has beside them, in words: when results have changed. */
void lab_bench_model_beside(struct lab_bench_data *data,
                            const struct lab_operation *ladder);

/* Column i of those that a simulated row has in place of times, NULL past the last:
 * fields of struct lab_counted_row. */
const struct lab_field *lab_bench_counted_column(int i);

/* ---- predictions ---- */

bool lab_prediction_any(const struct lab_prediction *p);
/* One to four words in any order, separated by blanks, commas or colons: a rate
 * ("8.2T", "900 GFLOP/s"; a bare number is G a second, or ns an item), or the
 * time of a call ("3.5 ms"); what bounds it (LAB_ROOFLINE_WORDS; "mem" will
 * do); the occupancy ("50%"). An empty text predicts nothing.
 * LAB_E_USAGE: the word that is not understood, and what would be. */
enum lab_status lab_prediction_parse(enum lab_bench_unit unit, const char *text,
                                     struct lab_prediction *out);

/* ---- numbers as text, for the screen and the commands ----
 *
 * Pure. Every function ends `out` with NUL and returns it. Threads: any. */

/* "8.241 TFLOP/s", "3.2 TB/s", "1.8 ns / access"; NaN: "n/a". */
const char *lab_bench_rate_text(const struct lab_bench_data *data, double rate,
                                char *out, size_t cap);
/* "2 TFLOP/s, memory, 50 %"; nothing predicted: "". */
const char *lab_prediction_text(const struct lab_bench_data *data,
                                const struct lab_prediction *p, char *out,
                                size_t cap);
/* How far off it was: "1.9 x as fast as you predicted; bound: compute, not
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
/* "workspace 72 MiB", beside the tensors; "no workspace"; "": unknown. Returns `out`. */
const char *lab_bench_workspace_text(int64_t bytes, char *out, size_t cap);
/* A figure of the course beside ours: "np.dot at 6000: slide, its CPU: 71.65
 * GFLOP/s; this machine: 50.1 GFLOP/s (blas)", or "; recorded on NVIDIA H200:
 * ..." */
enum { LAB_BENCH_SLIDE_TEXT = 512 };
const char *lab_bench_slide_text(const struct lab_bench_slide *slide, char *out,
                                 size_t cap);
/* What a row multiplies, as it is shown: "fp32", "int8". */
const char *lab_bench_precision_text(const struct lab_bench_data *data,
                                     const struct lab_bench_result *r);
/* "not run", "checking", "timing", or "" when the time needs no word. */
const char *lab_bench_state_text(enum lab_bench_progress state);
/* Why a rate is above its ceiling, for shares past what noise explains; else
 * NULL: then that rate is no ceiling at this size. */
const char *lab_bench_ceiling_passed(enum lab_bench_unit unit, double share);
/* What a row is a share of; NaN: it has none. */
double lab_bench_row_ceiling(const struct lab_bench_result *r);
/* Whether a variant of a set passes this ceiling of its own, which is one of
 * its precision: at one size, or with -1 at any. */
bool lab_bench_ceiling_beaten(const struct lab_bench_data *data, int set,
                              int size, double ceiling);
LAB_C_END
