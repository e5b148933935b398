/* Times of every variant of every step, by walking the network with each of
 * them: real tensors, and caches as they are in training. */
#include "engine/tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "engine/walk.h"

/* The names that may serve any step of the plan, or a group. */
enum { MAX_NAMES = 64 };
struct names {
    const char *name[MAX_NAMES];
    bool preferred[MAX_NAMES]; /* a row of the fixed table */
    int n;
    const char *reference; /* the first row's: it comes last, as the slowest */
};

static bool may_serve(struct lab_backend *be, const struct lab_plan *plan,
                      const struct lab_step *s, const char *name,
                      bool *preferred)
{
    const struct lab_variant *step = lab_backend_variant(
        be, plan->real, s->op->name, s->kernel, s->phase, name);
    const struct lab_variant *group =
        lab_backend_variant(be, plan->real, s->op->name, NULL, s->phase, name);
    *preferred |= (step && step->preferred) || (group && group->preferred);
    return (step && lab_tune_competes(step)) ||
           (group && lab_tune_competes(group));
}

/* Those come first that are likely to win, in case the time ends: the fixed table's,
 * then from the last row of the tables, which go from plain to fast, to the first. */
static void put_fast_first(struct names *names)
{
    struct names sorted = {.n = 0, .reference = names->reference};
    for (int i = 0; i < names->n; i++) {
        if (names->preferred[i])
            sorted.name[sorted.n++] = names->name[i];
    }
    for (int i = names->n - 1; i >= 0; i--) {
        if (!names->preferred[i])
            sorted.name[sorted.n++] = names->name[i];
    }
    *names = sorted;
}

static void collect(const struct lab_plan *plan, struct lab_backend *be,
                    struct names *out)
{
    *out = (struct names){.n = 0};
    for (int i = 0; i < plan->n_steps; i++) {
        const char *own[MAX_NAMES];
        int n = lab_backend_variant_names(
            be, plan->real, plan->steps[i].op->name, own, MAX_NAMES);
        if (n > 0 && !out->reference)
            out->reference = own[0];
        for (int k = 0; k < n; k++) {
            int at = 0;
            bool preferred = false;
            while (at < out->n && strcmp(out->name[at], own[k]) != 0)
                at++;
            if (at == MAX_NAMES ||
                !may_serve(be, plan, &plan->steps[i], own[k], &preferred))
                continue;
            if (at == out->n)
                out->name[out->n++] = own[k];
            out->preferred[at] |= preferred;
        }
    }
    put_fast_first(out);
    for (int i = 0; i + 1 < out->n; i++) {
        const char *after = out->name[i + 1];
        if (out->name[i] != out->reference)
            continue;
        out->name[i + 1] = out->name[i];
        out->name[i] = after;
    }
}

/* A step that was timed in the iteration that is walked. */
struct timed_step {
    char key[LAB_TUNE_KEY];
    double ns;
};

struct tuner {
    struct lab_walk *w;
    struct lab_tuning *t;
    const struct lab_tune_keeper *keeper;
    struct lab_stop own; /* the walk's */
    bool cancelled;      /* by either stop */
    bool walked;
    int64_t data_ns;    /* that the last iteration's data took */
    int64_t longest_ns; /* of the steps of the iteration that is walked */
    int64_t steps_ns;   /* of all of them, 1 at least */
    int64_t cut_ns;     /* of those of the iterations that did not fit */
    struct timed_step *timed;
    int n_timed;
    int64_t end_ns;   /* of the budget, less the time for the restart */
    int64_t short_ns; /* of a quarter of it */
    int64_t half_ns;  /* of half of it */
    bool slow_start;  /* the restart needs more than half of it */
    int added;        /* times that were not known */
    double gained_ns; /* by which times have become smaller in this round */
    int gained; /* the last round in which they did, by enough to matter */
};

/* Does this step of the schedule count for `name`? */
static bool counts(const struct lab_schedule_step *s, const char *name)
{
    return strcmp(s->variant->name, name) == 0 && lab_tune_competes(s->variant);
}

static const struct lab_schedule_step *step_at(const struct tuner *u, int i)
{
    return &lab_walk_schedule(u->w)->steps[i];
}

/* What is known of step i by `name`, or NULL; `key` gets its key. */
static const struct lab_tune_time *
known(const struct tuner *u, int i, const char *name, char key[LAB_TUNE_KEY])
{
    lab_tune_key(lab_walk_plan(u->w), step_at(u, i)->step, key);
    return lab_tuning_find(u->t, key, name);
}

/* Is a time of `name` missing in the schedule that the walk has? */
static bool lacks_time(const struct tuner *u, const char *name)
{
    char key[LAB_TUNE_KEY];
    for (int i = 0; i < lab_walk_schedule(u->w)->n_steps; i++) {
        if (counts(step_at(u, i), name) && !known(u, i, name, key))
            return true;
    }
    return false;
}

/* Keeps the smaller time of a step, 1 ns for one that does nothing; NaN: none. What
 * was known before this measuring stays: networks share steps, and none of them changes
 * the choices of another. */
static enum lab_status note(struct tuner *u, const char *key, const char *name,
                            double ns)
{
    struct lab_tune_time time = {.ns = ns < 1 ? 1 : ns, .is_new = true};
    const struct lab_tune_time *old = lab_tuning_find(u->t, key, name);
    if (old && (!old->is_new || old->ns <= ns || isnan(ns)))
        return LAB_OK;
    if (old && !isnan(old->ns))
        u->gained_ns += old->ns - ns;
    u->added += !old && !isnan(ns);
    snprintf(time.step, sizeof(time.step), "%s", key);
    snprintf(time.variant, sizeof(time.variant), "%s", name);
    return lab_tuning_add(u->t, &time);
}

/* Steps of `name` that were not reached have no time, and are not tried again. */
static enum lab_status note_left_out(struct tuner *u, const char *name)
{
    enum lab_status st = LAB_OK;
    char key[LAB_TUNE_KEY];
    for (int i = 0; i < lab_walk_schedule(u->w)->n_steps && !st; i++) {
        if (counts(step_at(u, i), name) && !known(u, i, name, key))
            st = note(u, key, name, NAN);
    }
    return st;
}

static bool time_is_up(const struct tuner *u)
{
    return lab_clock_monotonic_ns() >= u->end_ns;
}

static bool has_graphs(const struct tuner *u)
{
    return lab_walk_backend(u->w)->ops->graph != NULL;
}

/* The walk's stop while it is measured: a readable kernel ends with the time, too. */
static bool is_to_stop(void *tuner)
{
    struct tuner *u = tuner;
    u->cancelled = u->cancelled || lab_stop_asked(&u->own) ||
                   lab_stop_asked(&u->keeper->stop);
    return u->cancelled || time_is_up(u);
}

/* NaN: nothing is known of the step. */
static double fastest_of(const struct tuner *u, const struct lab_step *step)
{
    char key[LAB_TUNE_KEY];
    int n;
    lab_tune_key(lab_walk_plan(u->w), step, key);
    const struct lab_tune_time *best = lab_tuning_of(u->t, key, &n);
    return best ? best->ns : (double)NAN;
}

/* Of the first step, which has none before it: where nothing is known of it, what is
 * known of the steps that it does, as a group. Where that is nothing either,
 * and another iteration was cut, it is taken to be as long as that one's. */
static double first_takes(const struct tuner *u,
                          const struct lab_schedule_step *s)
{
    const struct lab_step *hidden = lab_walk_plan(u->w)->steps + s->hides_from;
    double ns = fastest_of(u, s->step);
    double all = s->hides_count > 0 ? 0 : (double)NAN;
    for (int k = 0; k < s->hides_count; k++)
        all += fastest_of(u, &hidden[k]);
    ns = isnan(ns) ? all : ns;
    return isnan(ns) ? (double)u->cut_ns : ns;
}

/* Is there time for the next step, by the fastest that is known of it and by the longest
 * before it in this iteration? */
static bool step_fits(const struct tuner *u)
{
    int i = lab_walk_position(u->w);
    const struct lab_schedule_step *s = step_at(u, i);
    double best = i == 0 ? first_takes(u, s) : fastest_of(u, s->step);
    double ns = (double)u->longest_ns;
    ns = best > ns ? best : ns;
    return (double)lab_clock_monotonic_ns() + ns < (double)u->end_ns;
}

/* Has the step no other variant? Its time is wanted all the same: it is a part of
 * what a group would save. */
static bool is_only(const struct tuner *u, const struct lab_schedule_step *s)
{
    struct lab_backend *be = lab_walk_backend(u->w);
    enum lab_dtype real = lab_walk_plan(u->w)->real;
    const char *own[MAX_NAMES];
    int rows = 0;
    int n =
        lab_backend_variant_names(be, real, s->step->op->name, own, MAX_NAMES);
    for (int i = 0; i < n && !s->step->group; i++) {
        const struct lab_variant *v =
            lab_backend_variant(be, real, s->step->op->name, s->step->kernel,
                                s->step->phase, own[i]);
        rows += v && lab_tune_competes(v);
    }
    return rows == 1;
}

static int by_key(const void *a, const void *b)
{
    const struct timed_step *x = a;
    const struct timed_step *y = b;
    return strcmp(x->key, y->key);
}

/* The mean of each step's times in this iteration, which a group of many time steps is
 * compared with: what else uses the machine then slows both. Their least or median would
 * leave that out, and a group, which is one long step, has it in nearly every iteration. */
static enum lab_status note_means(struct tuner *u, const char *name)
{
    enum lab_status st = LAB_OK;
    if (u->n_timed > 0)
        qsort(u->timed, (size_t)u->n_timed, sizeof(*u->timed), by_key);
    for (int first = 0, end; first < u->n_timed && !st; first = end) {
        double sum = 0;
        for (end = first; end < u->n_timed &&
                          strcmp(u->timed[end].key, u->timed[first].key) == 0;
             end++)
            sum += u->timed[end].ns;
        st = note(u, u->timed[first].key, name, sum / (end - first));
    }
    u->n_timed = 0;
    return st;
}

/* What the process has had of the processors. */
struct use {
    int64_t process_ns; /* all threads */
    int64_t thread_ns;  /* this one */
    int64_t asleep_ns;  /* that workers had no work */
    int64_t loops;      /* that the pool has shared out */
};

static struct use use_now(void)
{
    struct use now = {.process_ns = lab_clock_process_ns(),
                      .thread_ns = lab_clock_thread_ns()};
    now.loops = lab_loops_shared(&now.asleep_ns);
    return now;
}

/* A step's time without what another program had of the cores meanwhile: it would be held
 * against variants that use several threads. A worker of the pool runs, looks for work, or
 * sleeps because there is none: what is left of all threads' time is the other program's. */
static double undisturbed(const struct use *before, const struct use *after,
                          double ns)
{
    enum { OF_TEN = 9 };
    int64_t all = after->process_ns - before->process_ns + after->asleep_ns -
                  before->asleep_ns;
    double had = after->loops > before->loops
                     ? (double)all / lab_threads()
                     : (double)(after->thread_ns - before->thread_ns);
    return had * 10 < ns * OF_TEN ? had : ns;
}

/* The next step, timed where `name` does it, or nothing else can: in a graph,
 * where there are any, once for all steps of its shapes. */
static enum lab_status step_timed(struct tuner *u, const char *name)
{
    char key[LAB_TUNE_KEY];
    int i = lab_walk_position(u->w);
    const struct lab_schedule_step *s = step_at(u, i);
    const char *by = s->variant->name;
    int64_t exec;
    int64_t ns;
    bool timed = (counts(s, name) || (has_graphs(u) && is_only(u, s))) &&
                 !(has_graphs(u) && known(u, i, by, key));
    const struct use before = use_now();
    lab_walk_time_in_graph(u->w, timed);
    enum lab_status st = lab_walk_step(u->w);
    const struct use after = use_now();
    lab_walk_time_in_graph(u->w, false);
    if (st || !timed)
        return st;
    lab_walk_step_status(u->w, i, &exec, &ns);
    lab_tune_key(lab_walk_plan(u->w), s->step, key);
    if (has_graphs(u))
        return note(u, key, by, (double)ns);
    u->timed[u->n_timed].ns = undisturbed(&before, &after, (double)ns);
    memcpy(u->timed[u->n_timed++].key, key, sizeof(key));
    return LAB_OK;
}

/* An iteration by `name`, or what the budget has of it; *whole: all of it; again: the one
 * before was whole, and by that name. One that was
 * cut before is given up first: a choice in the middle of it could undo steps. */
static enum lab_status walk_once(struct tuner *u, const char *name, bool timed,
                                 bool again, bool *whole)
{
    const struct lab_variant_choice choice = {"*", name};
    int64_t begin = lab_clock_monotonic_ns();
    enum lab_status st = lab_walk_begin_uncopied(u->w);
    u->data_ns = lab_clock_monotonic_ns() - begin;
    u->longest_ns = 0;
    u->steps_ns = 1;
    u->walked = true;
    if (!st && !again)
        st = lab_walk_choose(u->w, &choice, 1);
    /* The iteration before may have been one of a name that uses one thread. */
    if (!has_graphs(u) && !again)
        lab_threads_wake();
    *whole = true;
    do {
        if (!st && !step_fits(u)) {
            *whole = false;
            if (u->longest_ns > u->cut_ns)
                u->cut_ns = u->longest_ns;
            break;
        }
        begin = lab_clock_monotonic_ns();
        if (!st)
            st = lab_walk_look_for_stop(u->w);
        if (!st)
            st = timed ? step_timed(u, name) : lab_walk_step(u->w);
        int64_t took = lab_clock_monotonic_ns() - begin;
        u->longest_ns = took > u->longest_ns ? took : u->longest_ns;
        u->steps_ns += took;
    } while (!st && !lab_walk_at_end(u->w));
    enum lab_status kept = note_means(u, name);
    *whole &= st == LAB_OK;
    if (st != LAB_E_CANCELLED)
        return st ? st : kept;
    return u->cancelled ? lab_fail(st, "measuring was stopped") : LAB_OK;
}

/* A name that is measured. */
struct contender {
    const char *name;
    int64_t took_ns; /* its last iteration; 0: none yet */
    int rounds;      /* that it was through */
    bool gained;     /* a time that was not known */
    bool ended;      /* no time for one of its steps */
};

enum {
    BY_ANY = 2,
    BY_HOST = 5,
    MANY = 100,
    HOPELESS = 4,
    BY_DEVICE = 2,
    MATTERS = 50,
    TURN_NS = 200000
};

/* One more turn of c, the first of `left` that are to come in this round: an iteration, or
 * of short ones as many as take TURN_NS. What comes before leaves other caches than training
 * does: another name's iteration, the choice, the waking. The first turn always, later
 * ones that fit into an even share of the time that is left.
 * Where one of its steps does not fit, others go on: theirs may take less.
 * In graphs the first is a warm-up. Elsewhere it finds cold caches, and counts where
 * it is the only one, as the smallest time does. */
static enum lab_status measure_once(struct tuner *u, struct contender *c,
                                    int left)
{
    int64_t begin = lab_clock_monotonic_ns();
    bool fits = has_graphs(u) || c->took_ns <= (u->end_ns - begin) / left;
    bool whole = true;
    if (begin + u->data_ns >= u->end_ns || !fits)
        return LAB_OK;
    int known_before = u->added;
    bool is_first = !u->walked;
    bool timed = !has_graphs(u) || c->took_ns > 0;
    int64_t last = begin;
    enum lab_status st = walk_once(u, c->name, timed, false, &whole);
    for (int64_t ns = u->steps_ns;
         !st && whole && !has_graphs(u) && ns < TURN_NS; ns += u->steps_ns) {
        last = lab_clock_monotonic_ns();
        st = walk_once(u, c->name, timed, true, &whole);
    }
    c->gained |= u->added > known_before;
    c->ended |= !whole;
    if (!whole && !is_first && lab_walk_position(u->w) == 0)
        return st; /* not begun: after a slow start it waits for the next one */
    c->took_ns = 1 + lab_clock_monotonic_ns() - last;
    return st;
}

/* Of those that had a whole iteration; a day: of none. */
static int64_t least_of(const struct contender *c, int n)
{
    int64_t least = INT64_C(86400000000000);
    for (int i = 0; i < n; i++)
        if (c[i].took_ns > 0 && c[i].took_ns < least && !c[i].ended)
            least = c[i].took_ns;
    return least;
}

/* Five rounds, two of a name that takes several times as long as the fastest; more where
 * they are short, or times became smaller in the last five, by a fiftieth of an
 * iteration: then something else uses the machine. */
static bool goes_on(const struct tuner *u, const struct contender *c, int n,
                    int which, int round)
{
    int64_t now = lab_clock_monotonic_ns();
    if (c[which].ended)
        return false;
    if (has_graphs(u) || round < BY_ANY)
        return true;
    if (c[which].took_ns > HOPELESS * least_of(c, n))
        return false;
    return round < BY_HOST || now < u->short_ns ||
           (now < u->half_ns && round <= u->gained + BY_HOST);
}

static void end_round(struct tuner *u, const struct contender *c, int n,
                      int round)
{
    if (u->gained_ns * MATTERS > (double)least_of(c, n))
        u->gained = round;
    u->gained_ns = 0;
}

/* In turn: whatever slows the machine for a second would
 * otherwise be held against the one that is measured just then. In graphs one after
 * the other, as each is captured anew. */
static enum lab_status measure(struct tuner *u, struct contender *c, int n)
{
    enum lab_status st = LAB_OK;
    int rounds = has_graphs(u) ? BY_DEVICE : MANY;
    for (int i = 0; i < rounds * n && !st; i++) {
        int which = has_graphs(u) ? i / rounds : i % n;
        bool first = has_graphs(u) ? i % rounds == 0 : i < n;
        if (u->keeper->progress && first)
            u->keeper->progress(u->keeper->user, c[which].name, which, n);
        if (goes_on(u, c, n, which, i / n))
            st = measure_once(u, &c[which], n - which);
        c[which].rounds += !st;
        if (i % n == n - 1)
            end_round(u, c, n, i / n);
    }
    return st;
}

/* Hands what was found to the keeper, but for names that were not measured to the
 * end. */
static void hand(const struct tuner *u, const struct contender *c, int n,
                 int enough)
{
    const struct lab_tune_time *t;
    for (int i = 0; u->keeper->keep && (t = lab_tuning_time(u->t, i)); i++) {
        bool whole = t->is_new;
        for (int k = 0; k < n; k++)
            whole &=
                c[k].rounds >= enough || strcmp(t->variant, c[k].name) != 0;
        if (whole)
            u->keeper->keep(u->keeper->user, t);
    }
}

/* How many steps of the plan have no time though something is kept of them, and one could
 * be had: steps before it take less than half of the budget. What is kept may be damaged,
 * or the first measuring was disturbed. The reference has no part in it where it is not
 * measured. */
static int count_untimed(const struct tuner *u, const char *unmeasured)
{
    const struct lab_plan *plan = lab_walk_plan(u->w);
    double half_ns = (double)(u->end_ns - lab_clock_monotonic_ns()) / 2;
    double before_ns = 0;
    int untimed = 0;
    char key[LAB_TUNE_KEY];
    for (int i = 0; i < plan->n_steps && before_ns < half_ns; i++) {
        bool left_out = false;
        int n;
        lab_tune_key(plan, &plan->steps[i], key);
        const struct lab_tune_time *t = lab_tuning_of(u->t, key, &n);
        if (t && !isnan(t->ns))
            before_ns += t->ns;
        for (int k = 0; k < n && isnan(t->ns); k++)
            left_out |= !t[k].is_new &&
                        (!unmeasured || strcmp(t[k].variant, unmeasured) != 0);
        untimed += left_out;
    }
    return untimed;
}

/* Has any step of the plan a time? */
static bool any_known(const struct tuner *u)
{
    const struct lab_plan *plan = lab_walk_plan(u->w);
    char key[LAB_TUNE_KEY];
    int n;
    for (int i = 0; i < plan->n_steps; i++) {
        lab_tune_key(plan, &plan->steps[i], key);
        const struct lab_tune_time *best = lab_tuning_of(u->t, key, &n);
        if (best && !isnan(best->ns))
            return true;
    }
    return false;
}

/* Marks what was not reached, of the names that were measured to the end. Where the start
 * was slow, as on a busy machine, names wait for the next time instead, but for those
 * that were begun without a new time: so this comes to an end. Where nothing is known at
 * all, every name waits. The first `measured` of the `n` were to be measured. */
static enum lab_status mark_all(struct tuner *u, const struct contender *c,
                                int measured, int n, int enough)
{
    bool nothing = measured > 0 && !any_known(u);
    enum lab_status st = LAB_OK;
    int waiting = 0;
    for (int i = 0; i < n && !st; i++) {
        const struct lab_variant_choice choice = {"*", c[i].name};
        bool may_gain = i < measured && (c[i].took_ns == 0 || c[i].gained);
        if (c[i].rounds < enough)
            continue;
        st = lab_walk_choose(u->w, &choice, 1);
        if (st || !lacks_time(u, c[i].name))
            continue;
        if (nothing || (u->slow_start && may_gain))
            waiting++;
        else
            st = note_left_out(u, c[i].name);
    }
    lab_tuning_set_waiting(u->t, waiting);
    return st;
}

/* The reference does 1e9 FLOPs a second at best. */
static bool too_large(const struct lab_plan *plan, int64_t budget_ns)
{
    enum { ITERATIONS = 4 };
    return lab_tune_flop(plan) * ITERATIONS > (double)budget_ns / 4;
}

/* The names of which times are missing, and how many of them are to be measured. */
static int find_contenders(struct tuner *u, struct contender *found,
                           int *measured)
{
    const struct lab_plan *plan = lab_walk_plan(u->w);
    struct names names;
    int n = 0;
    collect(plan, lab_walk_backend(u->w), &names);
    bool large = too_large(plan, u->keeper->budget_ns);
    int untimed = count_untimed(u, large ? names.reference : NULL);
    if (untimed > 0)
        lab_tuning_forget_untimed(u->t, untimed);
    for (int i = 0; i < names.n; i++) {
        const struct lab_variant_choice choice = {"*", names.name[i]};
        if (lab_walk_choose(u->w, &choice, 1) == LAB_OK &&
            lacks_time(u, names.name[i]))
            found[n++] = (struct contender){.name = names.name[i]};
    }
    bool without = n > 0 && found[n - 1].name == names.reference && large;
    *measured = n - without;
    return n;
}

/* Measures, and brings the walk back to where it was. */
static enum lab_status measure_and_restart(struct tuner *u, struct contender *c,
                                           int n)
{
    struct lab_kept_error why;
    const struct lab_stop both = {is_to_stop, u};
    u->own = lab_walk_stop_when(u->w, &both);
    enum lab_status st = measure(u, c, n);
    lab_walk_stop_when(u->w, &u->own);
    lab_error_keep(&why);
    enum lab_status back = u->walked ? lab_walk_restart_or_stop(u->w) : LAB_OK;
    if (back && (!st || st == LAB_E_CANCELLED))
        return back;
    return st ? lab_error_again(st, &why) : LAB_OK;
}

enum lab_status lab_tune(struct lab_walk *w, struct lab_tuning *t,
                         const struct lab_tune_keeper *keeper)
{
    int64_t now = lab_clock_monotonic_ns();
    /* What follows takes time, too: parameters as they were in the beginning. */
    int64_t reserve_ns = lab_walk_start_ns(w) + keeper->budget_ns / 16;
    struct tuner u = {.w = w,
                      .t = t,
                      .keeper = keeper,
                      .end_ns = now + keeper->budget_ns - reserve_ns,
                      .short_ns = now + keeper->budget_ns / 4,
                      .half_ns = now + keeper->budget_ns / 2,
                      .slow_start = reserve_ns > keeper->budget_ns / 2};
    struct contender found[MAX_NAMES];
    struct lab_kept_error why;
    int measured;
    int n = find_contenders(&u, found, &measured);
    u.timed = lab_alloc_array((size_t)lab_walk_plan(w)->n_steps + 1,
                              sizeof(*u.timed));
    enum lab_status st = u.timed ? measure_and_restart(&u, found, measured)
                                 : lab_no_memory("times of steps");
    int enough = !st ? 0 : has_graphs(&u) ? BY_DEVICE : BY_HOST;
    lab_error_keep(&why);
    enum lab_status kept = mark_all(&u, found, measured, n, enough);
    hand(&u, found, n, enough);
    if (!kept)
        kept = lab_walk_choose(w, NULL, 0);
    lab_free(u.timed);
    return st ? lab_error_again(st, &why) : kept;
}
