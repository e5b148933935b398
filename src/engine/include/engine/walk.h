/* engine/walk.h -- the stepper: one plan, one backend, one position.
 *
 * The walk owns the memory of a plan's tensors and moves through the schedule.
 * Everything runs on the calling thread; session.h gives it a thread of its
 * own. Position p means that steps 0 .. p-1 of the iteration have run.
 *
 * Back is exact. A step is a pure function of its inputs, except for what is
 * kept over iterations (parameters, optimizer state): that part of the arena
 * is copied when an iteration starts, so going back is restoring the copy and
 * forgetting what was written after. Random numbers are a function of seed,
 * node and iteration. Going back over an iteration's start takes the newest
 * copy before it and runs forward again, from the seed if there is none; each
 * step runs as the variant that it ran as then. Steps are counted as they ran,
 * a group as one. What is chosen holds for all that runs from then on, also
 * after going back to before it was chosen. */
#pragma once
#include "base/stop.h"
#include "base/str.h"
#include "engine/data.h"
#include "engine/explain.h"
#include "engine/observer.h"
#include "engine/tensor.h"

/* In place of an execution's number: the step has run and no observer heard of
 * it, as in a replay or at speed. */
enum { LAB_EXEC_UNOBSERVED = -1 };

struct lab_walk;
struct lab_tuning; /* engine/tune.h */

/* Who has steps run again, and how often: every slot is called, on the calling
 * thread. */
struct lab_rerun {
    void *user;
    enum lab_status (*pass_begin)(void *user); /* nothing is running */
    void (*step_begin)(void *user, int index);
    void (*step_end)(void *user, int index); /* queued, not waited for */
    /* The device has finished; *again: another pass is wanted. */
    enum lab_status (*pass_end)(void *user, bool *again);
};

/* Of an evaluation that decodes. In training a decoder reads the right answer,
 * one place later, which states little about what it can do alone: here it
 * reads its own answers. The first place holds the symbol to begin with; the
 * network runs; the symbol of the highest score goes to the next place, and so
 * on (greedy decoding). All rows of a batch decode together, in the memory of
 * an evaluation; steps that do not depend on the decoder's input, the
 * encoder's, run once. */
struct lab_decoded {
    double exact; /* share of held-back rows with every symbol right */
    double right; /* share of symbols right, at their places */
};

enum { LAB_DECODED_EXAMPLES = 4 };

/* What an evaluation found, a call for each held-back row with a class, or for
 * each place of a text; answer -1: the scores are NaN. */
struct lab_row_watch {
    void *user;
    void (*row)(void *user, int64_t row, int label, int answer, double loss);
};

LAB_C_BEGIN
/* Takes over `be` and `data` on success; the plan and the spec must outlive
 * the walk. `stop`, which may be NULL, ends opening and is then as by
 * lab_walk_stop_when(). LAB_E_CANCELLED; LAB_E_RANGE: the tensors are larger than the
 * device; LAB_E_NOMEM: it has no room for them now. Both name the largest. */
enum lab_status lab_walk_new(struct lab_walk **out, const struct lab_plan *plan,
                             struct lab_backend *be, struct lab_data *data,
                             const struct lab_stop *stop);
void lab_walk_free(struct lab_walk *w); /* NULL allowed */
/* Copied; in place of the one before. */
void lab_walk_observe(struct lab_walk *w, const struct lab_observer *o);
/* Where the backend can: steps have the device's time, not the host's. */
void lab_walk_time_with_events(struct lab_walk *w, bool on);
/* Where the backend has graphs: each step has the device's time in one, and runs
 * several times for it, so that what it updates is no training. */
void lab_walk_time_in_graph(struct lab_walk *w, bool on);
/* Copied; returns the one before. iterate(), evaluate(), forward() and back() look at it
 * before each step and return LAB_E_CANCELLED; what each of them leaves is described
 * there. */
struct lab_stop lab_walk_stop_when(struct lab_walk *w,
                                   const struct lab_stop *stop);
/* LAB_E_CANCELLED when the walk is to stop. */
enum lab_status lab_walk_look_for_stop(const struct lab_walk *w);

/* The times that later choices go by (engine/tune.h); the walk takes them over.
 * NULL: the fixed table. */
void lab_walk_tune_with(struct lab_walk *w, struct lab_tuning *t);
const struct lab_tuning *lab_walk_tuning(const struct lab_walk *w);
/* Replaces the choices of variants; the position keeps its meaning: what has
 * run has run, a group that has run in part runs again. */
enum lab_status lab_walk_choose(struct lab_walk *w,
                                const struct lab_variant_choice *choices,
                                int n);

/* Another base learning rate (engine/plan.h), from the next step on; what has run
 * keeps its own when it runs again. The plan's rate is that of a restart. */
enum lab_status lab_walk_set_lr(struct lab_walk *w, double lr);
/* The base rate that holds now; NaN: nothing is updated. */
double lab_walk_lr(const struct lab_walk *w);
/* The learning rate of that iteration's updates; NaN: nothing is updated. */
double lab_walk_rate(const struct lab_walk *w, int64_t iteration);

const struct lab_plan *lab_walk_plan(const struct lab_walk *w);
struct lab_backend *lab_walk_backend(const struct lab_walk *w);
/* A tensor in the walk's memory, which is the backend's. */
struct lab_view lab_walk_view(const struct lab_walk *w, int tensor);
struct lab_data *lab_walk_data(const struct lab_walk *w);
struct lab_schedule *lab_walk_schedule(const struct lab_walk *w);
int lab_walk_position(const struct lab_walk *w);
int64_t lab_walk_iteration(const struct lab_walk *w);
double lab_walk_loss(const struct lab_walk *w); /* NaN before it is known */
/* Execution of schedule step i in this iteration; exec 0: not yet, or
 * LAB_EXEC_UNOBSERVED. */
void lab_walk_step_status(const struct lab_walk *w, int i, int64_t *exec,
                          int64_t *time_ns);
/* The variant of that execution, which a later choice does not change; NULL:
 * not yet. */
const char *lab_walk_step_ran(const struct lab_walk *w, int i);
/* Has a step written it in this iteration (data, parameters: always true)? */
bool lab_walk_written(const struct lab_walk *w, int tensor);
int64_t lab_walk_generation(const struct lab_walk *w, int tensor);
/* The schedule step that wrote the tensor as it is now, or -1. */
int lab_walk_writer(const struct lab_walk *w, int tensor);

/* Runs the step at the position and moves on. At the end of the iteration the
 * next one starts first. */
enum lab_status lab_walk_step(struct lab_walk *w);
bool lab_walk_at_end(const struct lab_walk *w);
/* At an iteration's end: to the start of the next one, before its first step.
 * Elsewhere it does nothing. */
enum lab_status lab_walk_begin(struct lab_walk *w);
/* The same for a walk that is restarted before it goes back: nothing is copied, and an
 * iteration that was left in the middle is given up. */
enum lab_status lab_walk_begin_uncopied(struct lab_walk *w);
/* n steps back, as they ran; where a group is chosen now, to its start. Stops
 * at the first step of iteration 0. Stopped on the way, the walk is at the
 * start of an earlier iteration. */
enum lab_status lab_walk_back(struct lab_walk *w, int64_t n);
/* Marks the end of the iteration in which the walk is, or its start where no step of it
 * has run, in place of an earlier mark of that number: the copy from which it is reached
 * stays, however far the walk goes on. */
enum { LAB_WALK_MARKS = 2 };
void lab_walk_set_mark(struct lab_walk *w, int number);
/* Back to the mark, as by lab_walk_back(), but for a stop, which it does not obey: from
 * its copy it is near. Where it is not behind, nothing. */
enum lab_status lab_walk_to_mark(struct lab_walk *w, int number);
/* To where the walk began: iteration 0, position 0, initial parameters, or what
 * lab_walk_start_from() has given. */
enum lab_status lab_walk_restart(struct lab_walk *w);
/* The same, but that a stop ends it, after which the walk is to be restarted or freed:
 * large parameters take seconds. */
enum lab_status lab_walk_restart_or_stop(struct lab_walk *w);
/* What the last restart took, or opening the walk. */
int64_t lab_walk_start_ns(const struct lab_walk *w);
/* Called when the values are there and the walk is still as it was: the last moment
 * to end what belongs to it. */
struct lab_walk_ready {
    void *user;
    void (*call)(void *user); /* NULL: none */
};
/* What a walk begins with in place of the seed's parameters. */
struct lab_walk_start {
    int64_t iteration; /* the first to run: so many have run before */
    void *user;
    /* Called once for each parameter and state; `out` holds the values that the
     * seed gives, and takes others in the tensor's own element type. */
    enum lab_status (*fill)(void *user, const struct lab_tensor *t, void *out);
    struct lab_walk_ready ready;
};
/* Begins anew from there; NULL: from the seed. Going back ends there, restart
 * returns there. Nothing has changed when `fill` fails. LAB_E_NOMEM. */
enum lab_status lab_walk_start_from(struct lab_walk *w,
                                    const struct lab_walk_start *from);
int64_t lab_walk_first(const struct lab_walk *w); /* iteration; 0: the seed */
/* Its parameters are not those of the seed: lab_walk_start_from() gave them. */
bool lab_walk_was_given(const struct lab_walk *w);

/* One iteration at speed: the host does not wait for every step, and a copy for
 * going back is kept now and then only. Observers hear of the steps of sampled
 * iterations, and of every iteration's start, end and loss. Leaves the walk at
 * the end of the iteration. Stopped, and 20 ms from the end, it leaves the walk
 * between two steps: the iteration goes on as a walked one, and observers hear
 * of it as cut unless it comes to its end.
 *
 * * Where the backend has graphs, an iteration of which no observer wants the
 * steps is captured once, when its schedule has run, and launched as one. The
 * host does not wait for it: its loss is known up to LAB_GRAPH_AHEAD iterations
 * later (until then lab_walk_loss() is NaN), and the observers hear of it then,
 * in order. The numbers are the same, bit for bit. */
enum lab_status lab_walk_iterate(struct lab_walk *w);
/* What iterate() has to tell, in order; at most 64 are kept, the newest. */
struct lab_iteration_progress {
    int64_t iteration;
    double loss;
    int64_t start_ns;    /* when it was begun, or the one before it had ended */
    int64_t end_ns;      /* monotonic clock */
    int64_t steps_ns;    /* within its steps; -1: not timed, or a device's */
    int64_t readings_ns; /* what timing them took, in and between them */
};
bool lab_walk_poll(struct lab_walk *w, struct lab_iteration_progress *out);
/* Waits until all that was launched has been reported. */
enum lab_status lab_walk_drain(struct lab_walk *w);
/* false: every step is queued by itself (default: true). */
void lab_walk_use_graph(struct lab_walk *w, bool on);
/* Iterations that are observed step by step are launched as the graph, too: the
 * observers hear graph_begin and graph_end around the launch, and step_done for
 * each step when the device has done it (default: false). */
void lab_walk_graph_nodes(struct lab_walk *w, bool on);
/* Why an iteration could not be captured as a graph and runs step by step, the
 * first time that it is asked after that; else NULL. */
const char *lab_walk_graph_refused(struct lab_walk *w);
/* The next iteration at speed is captured anew. Errors: of settling. */
enum lab_status lab_walk_recapture(struct lab_walk *w);
/* Which iterations of a training run, counted from its first, are observed step
 * by step: the first 32, then ever fewer, 16 each time their number doubles, so that
 * the record of a long run stays small. Walked iterations always are. Of a run's
 * evaluations, counted from 0, the kernels are recorded by the same rule. */
bool lab_walk_samples(int64_t iteration);
/* Forward on the validation rows, or on all that are held back where none are set
 * apart, as in evaluation (no dropout): share of rows right and mean loss; NaN where
 * there is nothing held back or no classes. Of data that decodes, the share of symbols
 * that come out right.
 * Between iterations only; leaves parameters and position as they were.
 * Stopped, no observer hears of it. */
enum lab_status lab_walk_evaluate(struct lab_walk *w, double *accuracy,
                                  double *loss);

/* The same on the test rows, where there are validation rows too; else NaN. No
 * observer hears the figures. */
enum lab_status lab_walk_test(struct lab_walk *w, double *accuracy,
                              double *loss);

/* Called by evaluations until it is taken off (NULL). Copied. */
void lab_walk_watch_rows(struct lab_walk *w, const struct lab_row_watch *watch);
/* Of the walk's last evaluation; NaN: there was none that decodes. */
void lab_walk_decoded(const struct lab_walk *w, struct lab_decoded *out);
/* Held-back row i as it was read and as it came out, "40713 -> 31704", and what
 * it should have been where it is not, "40713 -> 31700, not 31704". false:
 * there is none, or no memory (out->failed). */
bool lab_walk_decoded_example(const struct lab_walk *w, int i,
                              struct lab_str *out);
/* A data tensor's values: the whole tensor, in its own element type. */
struct lab_walk_input {
    int tensor;
    const void *values;
};
/* Forward as in evaluation, on data of the caller's, beside the iteration that
 * is shown; reads `tensor` afterwards. Data that is not given holds what an
 * earlier evaluation left there, or zeros. Leaves parameters and position as
 * they were. */
enum lab_status lab_walk_forward(struct lab_walk *w,
                                 const struct lab_walk_input *in, int n_in,
                                 int tensor, void *out);

/* Runs steps from .. to-1 of this iteration, which have run, again as often as
 * it is asked for, with the inputs that they had. No observer hears of it, and
 * afterwards all tensors, the position and the figures are as before, bit for
 * bit. LAB_E_STATE: a step has not run yet; LAB_E_NOMEM: no room to keep the
 * tensors aside meanwhile; or what a slot returned. */
enum lab_status lab_walk_rerun(struct lab_walk *w, int from, int to,
                               const struct lab_rerun *r);

/* Copies a whole tensor to the host, in its own element type. `old`: a
 * persistent tensor as this iteration found it. */
enum lab_status lab_walk_read(struct lab_walk *w, int tensor, bool old,
                              void *out);
/* Overwrites a tensor from the host (gradient checks, tests). */
enum lab_status lab_walk_write(struct lab_walk *w, int tensor, const void *in);
enum lab_status lab_walk_explain(struct lab_walk *w, int tensor, int64_t index,
                                 struct lab_explanation *out);

/* From now on all tensors are kept as each iteration leaves them that runs step by step
 * (walked, observed or run again), as many of the newest as have room in 64 MiB. */
enum { LAB_WALK_PAST = 64 };
void lab_walk_keep_past(struct lab_walk *w);
/* An element at the end of the kept iterations before this one, in their order, then, if
 * it is written, as it is now. Returns how many values there are. */
int lab_walk_past(struct lab_walk *w, int tensor, int64_t index,
                  int64_t iteration[LAB_WALK_PAST + 1],
                  double value[LAB_WALK_PAST + 1]);
/* Waits for the device and tells what is pending to have happened. */
enum lab_status lab_walk_sync(struct lab_walk *w);
/* run_begin and run_end for the observers. */
void lab_walk_run_begin(struct lab_walk *w, const char *name);
void lab_walk_run_end(struct lab_walk *w);
LAB_C_END
