/* engine/tune.h -- which variant a step runs here, by measuring.
 *
 * A tuning is a list of times: of a step, named by its op, phase and shapes
 * (lab_tune_key), as each variant did it. Where a schedule is made with one, a step
 * without a chosen variant runs the fastest of them, on the host that which is the best
 * of most steps where the fastest gains less than 15 %, and a group runs where
 * it takes less time than the steps that it hides. Without one, the fixed table
 * holds (LAB_PREFERRED_FLOP, engine/plan.h).
 *
 * A time comes from lab_tune(), or from an earlier run that kept it: times hold for
 * one device, one number of threads and one precision, which the caller sees to.
 * Threads: one at a time, and none while a walk that uses the tuning chooses. */
#pragma once
#include "base/stop.h"
#include "engine/plan.h"

struct lab_walk;
struct lab_tuning;

/* Networks of fewer FLOPs an iteration keep the kernels that a person reads. */
enum { LAB_TUNE_FLOP = 20000 };
enum { LAB_TUNE_KEY = 256, LAB_TUNE_NAME = 32 };

struct lab_tune_time {
    char
        step[LAB_TUNE_KEY]; /* "dense.matmul forward 128x784,784x16 > 128x16" */
    char variant[LAB_TUNE_NAME];
    double ns; /* NaN: tried and left out, as it cannot be had in the budget */
    bool is_new; /* measured by lab_tune(), not kept from earlier */
};

/* Where the times of earlier runs are kept, and who sees what goes on. Called on
 * the thread that tunes; every slot may be NULL. */
struct lab_tune_keeper {
    void *user;
    int64_t budget_ns; /* 0: what is kept is used, and nothing is measured */
    /* Adds what is kept for this device to `t`. */
    enum lab_status (*load)(void *user, struct lab_backend *be,
                            struct lab_tuning *t);
    /* One more time was measured. */
    void (*keep)(void *user, const struct lab_tune_time *time);
    /* `variant` is measured next, `done` of `total` are. */
    void (*progress)(void *user, const char *variant, int done, int total);
    /* Ends the measuring with LAB_E_CANCELLED, as the walk's own stop does. */
    struct lab_stop stop;
};

/* What a step could run as. */
struct lab_candidate {
    const char *name;  /* of a row of the backend's tables */
    bool serves;       /* false: a row of other steps of its node */
    bool by_hand;      /* lab_tune_competes() has it left out */
    const char *wrong; /* what a row that shows a mistake does wrong; or NULL */
    bool timed;
    double ns; /* NaN where it is timed: left out, over the budget */
    int steps; /* of the plan, that the time is of */
    bool fastest;
};

LAB_C_BEGIN
struct lab_tuning *lab_tuning_new(void); /* NULL: no memory */
void lab_tuning_free(struct lab_tuning *t);
/* Keeps the time of a step and variant; the last one of both holds. */
enum lab_status lab_tuning_add(struct lab_tuning *t,
                               const struct lab_tune_time *time);
/* Names that the last lab_tune() left to the next one; 0 before the first. */
int lab_tuning_waiting(const struct lab_tuning *t);
void lab_tuning_set_waiting(struct lab_tuning *t, int names);
/* Steps of the plan of which the last lab_tune() had variants left out and no time, and
 * measured them again. */
int lab_tuning_untimed(const struct lab_tuning *t);
/* Without what is left out of a step that has no time at all, kept from earlier. */
void lab_tuning_forget_untimed(struct lab_tuning *t, int steps);
/* NULL: there is none. */
const struct lab_tune_time *lab_tuning_find(const struct lab_tuning *t,
                                            const char *step,
                                            const char *variant);
/* Time i, by step and then from the fastest on; NULL past the last. */
const struct lab_tune_time *lab_tuning_time(const struct lab_tuning *t, int i);
/* The times of one step, the fastest first; *n how many. */
const struct lab_tune_time *lab_tuning_of(const struct lab_tuning *t,
                                          const char *key, int *n);

/* The step's name among all networks. */
void lab_tune_key(const struct lab_plan *plan, const struct lab_step *step,
                  char key[LAB_TUNE_KEY]);
/* May run without being chosen: in fp32, no row that shows a mistake, and no row of
 * a lab, which shows an idea and not a speed, or uses other threads than it is
 * given. */
bool lab_tune_competes(const struct lab_variant *v);
/* Does the backend have the variant for the step of that name? Not where its check
 * has withdrawn it, nor where the name is none. */
bool lab_tune_has(struct lab_backend *be, const char *step,
                  const char *variant);
/* FLOPs of an iteration, and whether they are LAB_TUNE_FLOP or more. */
double lab_tune_flop(const struct lab_plan *plan);
bool lab_tune_wanted(const struct lab_plan *plan);

/* The variants of a node's op, the default first; *at is a step of the node in a
 * schedule, or NULL: without times. Where *at is a group, the time of a variant
 * that is none is that of the steps that the group hides, each in the fastest way
 * that is known where the variant has no part in it; where *at is no group, that
 * of a group is of all that it hides. The fastest is one of as many steps as *at.
 * `t` may be NULL. At most `max`; returns how many. */
int lab_candidates(const struct lab_plan *plan, struct lab_backend *be,
                   const struct lab_tuning *t, int node,
                   const struct lab_schedule_step *at,
                   struct lab_candidate *out, int max);

/* Measures what the tuning does not have yet: walks five iterations with each variant
 * chosen wherever it serves, two with one that takes four times as long as the fastest,
 * up to 100 within a quarter of the budget, or within half of it while times still become
 * smaller, in fp32 alone. Those come first that the fixed table prefers, then from the
 * last row of the tables to the first, the reference last. They take turns, an iteration
 * each, or as many as take 0.2 ms, so that the caches are those of training; a turn begins
 * with all threads awake. One whose iteration takes more than its share of the time that is
 * left runs no further one. On a backend with graphs one name after the other is measured.
 * The reference is left out of a network too large for it.
 * The budget is a bound, and holds the restart of the walk, too, by what the last one
 * took: no step begins that would end after it, by the fastest time that is known of it
 * and by the longest step before it in its iteration; such a step ends the measuring of
 * its name, others go on. What it ends before is kept as NaN, and the best of what was
 * measured is used. On the host a step's time is the least of its iterations', each the
 * mean of all steps of the same key: a group is compared with their sum. What other
 * programs had of the cores meanwhile is taken off. Where the restart needs more than half
 * of the budget, a name gets NaN only if it was begun and no new time was found; the next
 * lab_tune() goes on with the others (lab_tuning_waiting). Where no step of the plan has
 * a time, no name gets NaN. What was left out earlier is measured again where a step that
 * is reached in half of the budget has no time by any variant (lab_tuning_untimed).
 * The walk, which has no observer yet, keeps its choices to be made. With nothing to
 * measure it returns at once. LAB_E_CANCELLED, LAB_E_NOMEM, or what
 * a step returned. */
enum lab_status lab_tune(struct lab_walk *w, struct lab_tuning *t,
                         const struct lab_tune_keeper *keeper);
LAB_C_END
