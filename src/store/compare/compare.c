/* compare.c -- matches the steps, kernels and phases of two runs and tests
 * whether their times differ by more than noise. */
#include "store/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "db/row.h"
#include "store/counted.h"

static const char *const fact_names[LAB_FACT_COUNT] = {
    [LAB_FACT_LESSON] = "lesson",
    [LAB_FACT_BACKEND] = "backend",
    [LAB_FACT_DEVICE] = "device",
    [LAB_FACT_PRECISION] = "precision",
    [LAB_FACT_VARIANTS] = "variants",
    [LAB_FACT_BATCH] = "batch",
    [LAB_FACT_SEED] = "seed",
    [LAB_FACT_TIMES_FROM] = "times from",
    [LAB_FACT_COUNTERS] = "counters",
    [LAB_FACT_DRIVER] = "driver",
    [LAB_FACT_RUNTIME] = "runtime",
    [LAB_FACT_VERSION] = "version",
    [LAB_FACT_COMMIT] = "commit",
    [LAB_FACT_MACHINE] = "machine",
    [LAB_FACT_USER] = "user",
    [LAB_FACT_KIND] = "kind",
    [LAB_FACT_TRACE] = "tracing",
    [LAB_FACT_LEARNING_RATE] = "learning rate",
    [LAB_FACT_THREADS] = "threads",
};

const char *lab_run_fact_name(enum lab_run_fact fact)
{
    return (unsigned)fact < LAB_FACT_COUNT ? fact_names[fact] : NULL;
}

const char *lab_verdict_name(enum lab_verdict verdict)
{
    static const char *const names[LAB_VERDICT_COUNT] = {
        "same", "faster", "slower", "too few", "unknown", "only a", "only b"};
    return (unsigned)verdict < LAB_VERDICT_COUNT ? names[verdict] : NULL;
}

const char *lab_sum_level_name(enum lab_sum_level level)
{
    static const char *const names[LAB_SUM_LEVELS] = {"iteration", "phase",
                                                      "node", "step", "kernel"};
    if (level == LAB_SUM_WALL)
        return "wall";
    return (unsigned)level < LAB_SUM_LEVELS ? names[level] : NULL;
}

/* ---- the runs ---- */

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

struct copying {
    struct lab_compared_run *to;
    bool failed;
};

static bool copy_run(void *user, const struct lab_run_row *r)
{
    struct copying *copy = user;
    char batch[32];
    char seed[32];
    char rate[32];
    char threads[32];
    snprintf(rate, sizeof(rate), "%g", r->learning_rate);
    snprintf(threads, sizeof(threads), "%lld", (long long)r->threads);
    snprintf(batch, sizeof(batch), "%lld", (long long)r->batch);
    snprintf(seed, sizeof(seed), "%llu", (unsigned long long)r->seed);
    const char *facts[LAB_FACT_COUNT] = {
        [LAB_FACT_LESSON] = r->lesson,
        [LAB_FACT_KIND] = r->kind,
        [LAB_FACT_BACKEND] = r->backend,
        [LAB_FACT_DEVICE] = r->device,
        [LAB_FACT_PRECISION] = r->precision,
        [LAB_FACT_VARIANTS] = r->variants,
        [LAB_FACT_BATCH] = r->batch == LAB_UNKNOWN ? NULL : batch,
        [LAB_FACT_SEED] = (int64_t)r->seed == LAB_UNKNOWN ? NULL : seed,
        [LAB_FACT_LEARNING_RATE] = isnan(r->learning_rate) ? NULL : rate,
        [LAB_FACT_THREADS] = r->threads == LAB_UNKNOWN ? NULL : threads,
        [LAB_FACT_TIMES_FROM] = r->time_source,
        [LAB_FACT_TRACE] = r->trace_state,
        [LAB_FACT_COUNTERS] = r->counters,
        [LAB_FACT_DRIVER] = r->driver,
        [LAB_FACT_RUNTIME] = r->runtime,
        [LAB_FACT_VERSION] = r->version,
        [LAB_FACT_COMMIT] = r->commit,
        [LAB_FACT_MACHINE] = r->hostname,
        [LAB_FACT_USER] = r->label ? r->label : r->user,
    };
    copy->to->run = r->id;
    copy->to->iterations = r->iterations;
    copy->to->iteration_median_ns = r->iteration_median_ns;
    copy->to->samples_per_s = r->samples_per_s;
    copy->to->loss_last = r->loss_last;
    for (int i = 0; i < LAB_FACT_COUNT; i++) {
        copy->to->fact[i] = facts[i] ? lab_strdup(facts[i]) : NULL;
        copy->failed |= facts[i] && !copy->to->fact[i];
    }
    return true;
}

bool lab_comparison_differs(const struct lab_comparison *c,
                            enum lab_run_fact fact)
{
    const char *a = c->run[LAB_SIDE_A].fact[fact];
    const char *b = c->run[LAB_SIDE_B].fact[fact];
    if ((fact == LAB_FACT_LEARNING_RATE || fact == LAB_FACT_THREADS) &&
        !(a && b))
        return false; /* earlier programs did not record it */
    return a && b ? strcmp(a, b) != 0 : a != b;
}

static enum lab_status load_counted(struct lab_comparison *c, int side,
                                    struct lab_database *db, int64_t run)
{
    struct lab_counted_run counted = {0};
    enum lab_status st = lab_counted_load(&counted, db, run);
    if (st)
        return st;
    lab_counted_fill(&counted, &c->sums[side]);
    c->counted_by[side] = lab_counted_by(&counted);
    lab_counted_release(&counted);
    return LAB_OK;
}

bool lab_comparison_simulated(const struct lab_comparison *c)
{
    for (int side = 0; side < LAB_SIDES; side++)
        if (same_text(c->counted_by[side], "simulation"))
            return true;
    return false;
}

static enum lab_status load_run(struct lab_comparison *c, int side,
                                struct lab_database *db, int64_t run)
{
    struct copying copy = {.to = &c->run[side]};
    enum lab_status st = lab_query_run(db, run, copy_run, &copy);
    if (st == LAB_OK && copy.failed)
        st = lab_no_memory("a run's facts");
    if (st == LAB_OK)
        st = lab_time_sums_load(&c->sums[side], db, run, ~0u);
    if (st == LAB_OK)
        st = lab_time_breakdown_load(&c->wall[side], db, run);
    return st ? st : load_counted(c, side, db, run);
}

/* A lab has a lesson's id when the lesson named it, and its own name when the
 * command line did: what it measured decides. */
static enum lab_status measured_same_lab(const struct lab_comparison *c,
                                         struct lab_database *db, bool *out)
{
    char sql[160];
    int64_t labs = 0;
    sqlite3_snprintf(sizeof(sql), sql,
                     "SELECT count(DISTINCT lab) FROM lab_row WHERE runId IN "
                     "(%lld, %lld)",
                     (long long)c->run[LAB_SIDE_A].run,
                     (long long)c->run[LAB_SIDE_B].run);
    enum lab_status st = lab_database_int(db, sql, 0, &labs);
    *out = st == LAB_OK && labs == 1 && c->sums[LAB_SIDE_A].bench_names.count &&
           c->sums[LAB_SIDE_B].bench_names.count;
    return st;
}

static enum lab_status check_lessons(const struct lab_comparison *c,
                                     struct lab_database *db)
{
    bool same_lab;
    const struct lab_compared_run *a = &c->run[LAB_SIDE_A];
    const struct lab_compared_run *b = &c->run[LAB_SIDE_B];
    const char *first = a->fact[LAB_FACT_LESSON];
    const char *second = b->fact[LAB_FACT_LESSON];
    const char *kind = a->fact[LAB_FACT_KIND];
    if (!lab_comparison_differs(c, LAB_FACT_LESSON) &&
        !lab_comparison_differs(c, LAB_FACT_KIND))
        return LAB_OK;
    if (kind && b->fact[LAB_FACT_KIND] &&
        lab_comparison_differs(c, LAB_FACT_KIND)) {
        bool lab = strcmp(kind, "lab") == 0;
        return lab_fail(
            LAB_E_RANGE,
            "[compare.kinds] run %lld is a lab's and run %lld a network's: a "
            "repeat of a kernel is no iteration; compare labs with labs",
            (long long)(lab ? a->run : b->run),
            (long long)(lab ? b->run : a->run));
    }
    if (!lab_comparison_differs(c, LAB_FACT_LESSON))
        return LAB_OK;
    enum lab_status st = measured_same_lab(c, db, &same_lab);
    if (st || same_lab)
        return st;
    return lab_fail(LAB_E_RANGE,
                    "[compare.lessons] run %lld is of the lesson %s, run %lld "
                    "of %s: their steps do different work, so their times "
                    "cannot be compared; compare runs of one lesson, or "
                    "their losses (profile compare --loss)",
                    (long long)a->run, first ? first : "(none)",
                    (long long)b->run, second ? second : "(none)");
}

/* ---- pairs ---- */

/* A lab's step is the same by name, precision and size; its own variant adds nothing. */
static bool is_same_bench_name(const struct lab_time_sum *a,
                               const struct lab_time_sum *b)
{
    if (!a->bench_name || !b->bench_name ||
        !lab_bench_name_is(a->bench_name, b->bench_name))
        return false;
    return a->level != LAB_SUM_KERNEL || same_text(a->kernel, b->kernel);
}

static bool is_same(const struct lab_time_sum *a, const struct lab_time_sum *b,
                    bool variant_too)
{
    if (a->level != b->level)
        return false;
    if (a->bench_name || b->bench_name)
        return is_same_bench_name(a, b);
    if (variant_too && !same_text(a->variant, b->variant))
        return false;
    switch (a->level) {
    case LAB_SUM_KERNEL:
        return same_text(a->kernel, b->kernel) && same_text(a->name, b->name) &&
               same_text(a->phase, b->phase);
    case LAB_SUM_STEP:
        return same_text(a->name, b->name) && same_text(a->phase, b->phase);
    case LAB_SUM_NODE:
        return same_text(a->node, b->node) && same_text(a->phase, b->phase);
    case LAB_SUM_PHASE:
        return same_text(a->phase, b->phase);
    default:
        return true;
    }
}

/* match[i]: which row of b belongs to row i of a, plus 1. A step that ran with
 * several variants finds its own variant first. */
static void match_rows(const struct lab_comparison *c, size_t *match,
                       bool *taken)
{
    const struct lab_time_sums *a = &c->sums[LAB_SIDE_A];
    const struct lab_time_sums *b = &c->sums[LAB_SIDE_B];
    for (int pass = 0; pass < 2; pass++) {
        size_t next = 0; /* both lists are in the same order, mostly */
        for (size_t i = 0; i < a->count; i++) {
            for (size_t n = 0; n < b->count && !match[i]; n++) {
                size_t k = (next + n) % b->count;
                if (taken[k] || !is_same(&a->items[i], &b->items[k], !pass))
                    continue;
                match[i] = k + 1;
                taken[k] = true;
                next = k + 1;
            }
        }
    }
}

static enum lab_status test_row(struct lab_compare_row *row)
{
    const struct lab_time_sum *a = row->side[LAB_SIDE_A];
    const struct lab_time_sum *b = row->side[LAB_SIDE_B];
    struct lab_rank_result result;
    row->difference_ns = row->share = row->speed_up = row->p = NAN;
    if (!a || !b) {
        row->verdict = a ? LAB_VERDICT_ONLY_A : LAB_VERDICT_ONLY_B;
        return LAB_OK;
    }
    row->verdict = LAB_VERDICT_UNKNOWN;
    enum lab_status st = lab_rank_test(&result, &a->times, &b->times);
    if (st || isnan(result.p)) /* one side has no times */
        return st;
    row->difference_ns = b->median_ns - a->median_ns;
    if (a->median_ns > 0)
        row->share = row->difference_ns / a->median_ns;
    if (b->median_ns > 0)
        row->speed_up = a->median_ns / b->median_ns;
    /* Too few times on one side are not tested, however many the other has,
     * and no p is adjusted for them: how many there are does not depend on
     * what they are. */
    int64_t least = lab_rank_least(LAB_RANK_ALPHA);
    if (a->timed >= least && b->timed >= least)
        row->p = result.p;
    else
        row->verdict = LAB_VERDICT_FEW;
    return LAB_OK;
}

static void judge(struct lab_compare_row *row, size_t tests)
{
    const struct lab_time_sum *a = row->side[LAB_SIDE_A];
    const struct lab_time_sum *b = row->side[LAB_SIDE_B];
    if (isnan(row->p))
        return;
    bool large = !(fabs(row->share) < LAB_COMPARE_LEAST_SHARE) &&
                 fabs(row->difference_ns) >= LAB_COMPARE_LEAST_NS;
    if (row->p < LAB_RANK_ALPHA && large)
        row->verdict =
            row->difference_ns < 0 ? LAB_VERDICT_FASTER : LAB_VERDICT_SLOWER;
    else if (lab_rank_best(a->timed, b->timed) * (double)tests >=
             LAB_RANK_ALPHA)
        row->verdict = LAB_VERDICT_FEW;
    else
        row->verdict = LAB_VERDICT_SAME;
}

/* The rows of one level are looked at together. */
static enum lab_status judge_level(struct lab_comparison *c, size_t first,
                                   size_t end, double *p)
{
    size_t tests = 0;
    for (size_t i = first; i < end; i++) {
        p[i] = c->rows[i].p;
        tests += !isnan(p[i]);
    }
    enum lab_status st = lab_rank_holm(p + first, end - first);
    for (size_t i = first; i < end && st == LAB_OK; i++) {
        c->rows[i].p = p[i];
        judge(&c->rows[i], tests);
    }
    if (first < end)
        c->tests[c->rows[first].level] = tests;
    return st;
}

static enum lab_status judge_rows(struct lab_comparison *c)
{
    enum lab_status st = LAB_OK;
    double *p = lab_alloc_array(c->count + 1, sizeof(*p));
    if (!p)
        return lab_no_memory("a comparison");
    for (size_t i = 0; i < c->count && st == LAB_OK; i++)
        st = test_row(&c->rows[i]);
    for (size_t first = 0; first < c->count && st == LAB_OK;) {
        size_t end = first;
        while (end < c->count && c->rows[end].level == c->rows[first].level)
            end++;
        st = judge_level(c, first, end, p);
        first = end;
    }
    lab_free(p);
    return st;
}

/* The one launch of a variant that was traced is not for timing: only its kernels
 * are rows. */
static bool is_row(const struct lab_time_sum *s, int level)
{
    return (int)s->level == level &&
           !(level == LAB_SUM_STEP && s->bench_name && s->bench_name->traced);
}

/* Rows of the first run, each with its match; then what only the second has,
 * level by level. */
static void list_rows(struct lab_comparison *c, const size_t *match,
                      const bool *taken)
{
    const struct lab_time_sums *a = &c->sums[LAB_SIDE_A];
    const struct lab_time_sums *b = &c->sums[LAB_SIDE_B];
    for (int level = 0; level < LAB_SUM_LEVELS; level++) {
        for (size_t i = 0; i < a->count; i++) {
            if (!is_row(&a->items[i], level))
                continue;
            struct lab_compare_row *row = &c->rows[c->count++];
            row->level = (enum lab_sum_level)level;
            row->side[LAB_SIDE_A] = &a->items[i];
            if (match[i])
                row->side[LAB_SIDE_B] = &b->items[match[i] - 1];
        }
        for (size_t k = 0; k < b->count; k++) {
            if (!is_row(&b->items[k], level) || taken[k])
                continue;
            struct lab_compare_row *row = &c->rows[c->count++];
            row->level = (enum lab_sum_level)level;
            row->side[LAB_SIDE_B] = &b->items[k];
        }
    }
}

static void add_wall(struct lab_comparison *c, const char *name, int64_t a,
                     int64_t b)
{
    const int64_t ns[LAB_SIDES] = {a, b};
    struct lab_compare_row *row = &c->rows[c->count + c->walls];
    *row = (struct lab_compare_row){.level = LAB_SUM_WALL,
                                    .verdict = LAB_VERDICT_UNKNOWN,
                                    .difference_ns = NAN,
                                    .share = NAN,
                                    .speed_up = NAN,
                                    .p = NAN};
    for (int i = 0; i < LAB_SIDES; i++) {
        struct lab_time_sum *s =
            &c->wall_sums[LAB_SIDES * c->walls + (size_t)i];
        *s = (struct lab_time_sum){.level = LAB_SUM_WALL,
                                   .name = name,
                                   .timed = LAB_UNKNOWN,
                                   .median_ns = lab_to_real(ns[i]),
                                   .mad_ns = NAN,
                                   .flop = NAN};
        row->side[i] = ns[i] == LAB_UNKNOWN ? NULL : s;
    }
    if (a == LAB_UNKNOWN && b == LAB_UNKNOWN)
        row->side[LAB_SIDE_A] = &c->wall_sums[LAB_SIDES * c->walls];
    if (a != LAB_UNKNOWN && b != LAB_UNKNOWN) {
        row->difference_ns = (double)b - (double)a;
        row->speed_up = b ? (double)a / (double)b : (double)NAN;
    }
    c->walls++;
}

static void add_walls(struct lab_comparison *c)
{
    const struct lab_time_breakdown *a = &c->wall[LAB_SIDE_A];
    const struct lab_time_breakdown *b = &c->wall[LAB_SIDE_B];
    if (a->wall_ns == LAB_UNKNOWN && b->wall_ns == LAB_UNKNOWN)
        return;
    for (int i = 0; i < LAB_WALL_PARTS; i++)
        add_wall(c, lab_time_part_name((enum lab_time_part)i), a->part_ns[i],
                 b->part_ns[i]);
    add_wall(c, "all of it", a->wall_ns, b->wall_ns);
}

static enum lab_status pair_up(struct lab_comparison *c)
{
    enum { WALLS = LAB_WALL_PARTS + 1 };
    size_t na = c->sums[LAB_SIDE_A].count;
    size_t nb = c->sums[LAB_SIDE_B].count;
    size_t *match = lab_alloc_array(na + 1, sizeof(*match));
    bool *taken = lab_alloc_array(nb + 1, sizeof(*taken));
    enum lab_status st = LAB_OK;
    c->rows = lab_alloc_array(na + nb + WALLS, sizeof(*c->rows));
    c->wall_sums = lab_alloc_array(LAB_SIDES * WALLS, sizeof(*c->wall_sums));
    if (!match || !taken || !c->rows || !c->wall_sums) {
        st = lab_no_memory("a comparison");
    } else {
        match_rows(c, match, taken);
        list_rows(c, match, taken);
        st = judge_rows(c);
        add_walls(c);
        for (size_t i = 0; i < c->count + c->walls; i++)
            for (int side = 0; side < LAB_SIDES; side++)
                c->rows[i].run[side] = c->run[side].run;
    }
    lab_free(match);
    lab_free(taken);
    return st;
}

/* Both runs call the same variant the same. */
static void name_alike(struct lab_comparison *c)
{
    struct lab_bench_names *a = &c->sums[LAB_SIDE_A].bench_names;
    struct lab_bench_names *b = &c->sums[LAB_SIDE_B].bench_names;
    bool differ = a->count && b->count &&
                  strcmp(a->items[0].precision, b->items[0].precision) != 0;
    if (!a->precisions && !b->precisions && !differ)
        return;
    lab_bench_names_say_precision(a);
    lab_bench_names_say_precision(b);
}

enum lab_status lab_comparison_load(struct lab_comparison *out,
                                    struct lab_database *db, int64_t a,
                                    int64_t b)
{
    struct lab_comparison c = {0};
    enum lab_status st = load_run(&c, LAB_SIDE_A, db, a);
    if (st == LAB_OK)
        st = load_run(&c, LAB_SIDE_B, db, b);
    if (st == LAB_OK)
        st = check_lessons(&c, db);
    if (st == LAB_OK)
        name_alike(&c);
    if (st == LAB_OK)
        st = pair_up(&c);
    if (st)
        lab_comparison_release(&c);
    else
        *out = c;
    return st;
}

void lab_comparison_release(struct lab_comparison *c)
{
    for (int side = 0; side < LAB_SIDES; side++) {
        for (int i = 0; i < LAB_FACT_COUNT; i++)
            lab_free(c->run[side].fact[i]);
        lab_time_sums_release(&c->sums[side]);
    }
    lab_free(c->rows);
    lab_free(c->wall_sums);
    *c = (struct lab_comparison){0};
}
