/* missing.c -- the reason when a run has no rows of a kind, and the
 * command that records them. */
#include "report/missing.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "report/exit.h"
#include "engine/ladder.h"
#include "lesson/catalog.h"
#include "report/suggest.h"
#include "profiler/profiler.h"
#include "store/query.h"

struct facts {
    int64_t run;
    unsigned has;
    bool cpu;
    bool lab;
    bool own;   /* recorded as runs are, not an nsys export */
    bool below; /* the message follows what `profile show` prints */
    char status[16];
    char lesson[64];
    enum lab_trace_state trace;
};

/* Why something is missing, and what to do. */
struct reason {
    char why[160];
    char instead[200];
};

/* A name of a file becomes a word of a command only where it is the name of a
 * lesson or a lab that is here. */
static bool is_known(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const struct lab_operation *op;
    struct lab_str path;
    if (!name || !name[0] || name[0] == '-' || name[strspn(name, letters)])
        return false;
    if (lab_ladder_find(name, &op) == LAB_OK)
        return true;
    lab_str_init(&path);
    bool found = lab_lesson_find(name, &path) == LAB_OK;
    lab_str_release(&path);
    return found;
}

static bool read_facts(void *user, const struct lab_run_row *r)
{
    struct facts *f = user;
    f->run = r->id;
    f->cpu = r->backend && strcmp(r->backend, "cpu") == 0;
    f->lab = r->kind && strcmp(r->kind, "lab") == 0;
    f->own = r->kind != NULL;
    f->trace = lab_trace_state_find(r->trace_state);
    snprintf(f->status, sizeof(f->status), "%s", r->status ? r->status : "");
    snprintf(f->lesson, sizeof(f->lesson), "%s",
             is_known(r->lesson) ? r->lesson : "LESSON");
    return true;
}

static bool is_status(const struct facts *f, enum lab_run_status status)
{
    return strcmp(f->status, lab_run_status_text(status)) == 0;
}

static void give(struct reason *r, const char *why, const char *instead)
{
    snprintf(r->why, sizeof(r->why), "%s", why);
    snprintf(r->instead, sizeof(r->instead), "%s", instead);
}

/* What a run may have, and why it has none where only some runs have it. */
static const struct {
    enum lab_content content;
    const char *name;
    const char *why;
    const char *instead;
} kinds[] = {
    {LAB_HAS_STEPS, "steps", NULL, NULL},
    {LAB_HAS_KERNELS, "kernels", NULL, NULL},
    {LAB_HAS_LOSSES, "losses",
     "only a lesson that is walked or trained has one",
     "`lapenna-lab run LESSON` records it"},
    {LAB_HAS_VARIANTS, "variants",
     "only a lab with a ladder of kernels has them",
     "`lapenna-lab lab NAME` measures one"},
    {LAB_HAS_SWEEPS, "places of a sweep", "only a sweep has them",
     "`lapenna-lab lab batch-size LESSON` is one"},
    {LAB_HAS_PREDICTIONS, "predictions",
     "nothing was predicted before it was measured",
     "`lapenna-lab lab NAME --predict ask` keeps it"},
    {LAB_HAS_TUNED, "winners of a tuning", "nothing was tuned in it",
     "`lapenna-lab lab tune NAME` does that"},
    {LAB_HAS_CHOICES, "choices by time",
     "no step's variant was chosen by measuring",
     "`lapenna-lab run LESSON` measures what is large enough"},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* Of a run that has not come to its end. */
static void give_ended(struct reason *r, const struct facts *f,
                       const char *when)
{
    bool failed = is_status(f, LAB_RUN_FAILED);
    give(r, "", "run it again, to its end");
    snprintf(r->why, sizeof(r->why), "it was %s%s",
             failed ? "given up" : f->status, when);
}

static void why_no_steps(const struct facts *f, struct reason *r)
{
    if (f->has & LAB_HAS_VARIANTS) {
        give(r, "no variant of it was timed",
             f->below ? "the rows above have the reasons"
                      : "`lapenna-lab profile show` has the reasons");
    } else if (!f->own) {
        give(r, "it was imported from an nsys export, which has none",
             f->has & LAB_HAS_KERNELS
                 ? "`profile kernels` and `profile timeline` show its kernels"
                 : "`lapenna-lab run LESSON` records them");
    } else if (!is_status(f, LAB_RUN_DONE)) {
        give_ended(r, f, " before one was stored");
    } else {
        give(r, "nothing was recorded of it", "");
        snprintf(r->instead, sizeof(r->instead),
                 "`lapenna-lab %s %s` records it anew", f->lab ? "lab" : "run",
                 f->lesson);
    }
}

static void why_no_kernels_of_a_lab(const struct facts *f, struct reason *r)
{
    if (f->has & LAB_HAS_TUNED)
        give(r, "candidates of a tuning are timed, not traced",
             "`lapenna-lab lab NAME` traces the variants of a ladder");
    else if (!is_status(f, LAB_RUN_DONE))
        give_ended(r, f, ", and a lab's kernels are traced after all times");
    else
        give(r, "its launches were not traced, as those of a tuning never are",
             "for a ladder's `lapenna-lab doctor` reports whether CUPTI can");
}

static void why_no_kernels(const struct facts *f, struct reason *r)
{
    bool untraced = f->trace == LAB_TRACE_NEVER || f->trace == LAB_TRACE_OFF;
    if (f->cpu) {
        give(r, "it ran on the CPU, which has none",
             "--backend cuda records them on a machine with an NVIDIA GPU");
    } else if (f->lab) {
        why_no_kernels_of_a_lab(f, r);
    } else if (untraced) {
        snprintf(r->why, sizeof(r->why), "it was timed %s",
                 lab_trace_state_text(f->trace));
        snprintf(r->instead, sizeof(r->instead),
                 "`lapenna-lab run %s --trace on` records them, where "
                 "`lapenna-lab doctor` reports that CUPTI can",
                 f->lesson);
    } else if (f->own && !is_status(f, LAB_RUN_DONE)) {
        give_ended(r, f, " before one was stored");
    } else {
        give(r, "none was recorded",
             "`lapenna-lab doctor` reports whether CUPTI can trace them");
    }
}

static void find_reason(const struct facts *f, unsigned missing,
                        struct reason *r)
{
    if (is_status(f, LAB_RUN_RUNNING)) {
        give(r, "it is still being recorded", "look again when it has ended");
        return;
    }
    for (int i = 0; i < KINDS; i++) {
        if (kinds[i].why && (missing & kinds[i].content)) {
            give(r, kinds[i].why, kinds[i].instead);
            return;
        }
    }
    if (f->has & LAB_HAS_SWEEPS) {
        give(r, "a sweep times whole iterations and keeps its places alone",
             "`profile show` prints them, and `lapenna-lab run LESSON` records "
             "a lesson step by step");
    } else if (missing & LAB_HAS_STEPS) {
        why_no_steps(f, r);
    } else {
        why_no_kernels(f, r);
    }
}

static void add_names(struct lab_str *out, unsigned missing)
{
    const char *between = "";
    for (int i = 0; i < KINDS; i++) {
        if (missing & kinds[i].content) {
            lab_str_addf(out, "%sno %s", between, kinds[i].name);
            between = " and ";
        }
    }
}

static enum lab_status missing_text(struct lab_database *db, int64_t run,
                                    unsigned wanted, bool below,
                                    struct lab_str *out)
{
    struct facts f = {.run = run, .below = below};
    struct reason r = {{0}, {0}};
    enum lab_status st = lab_query_contents(db, run, &f.has);
    unsigned missing = wanted & ~f.has;
    if (st || !missing)
        return st;
    if (missing & LAB_HAS_KERNELS) /* then that is why */
        missing |= LAB_HAS_STEPS & ~f.has;
    st = lab_query_run(db, run, read_facts, &f);
    if (st)
        return st;
    find_reason(&f, missing, &r);
    lab_str_addf(out, "run %lld has ", (long long)run);
    add_names(out, missing);
    lab_str_addf(out, ": %s; ", r.why);
    lab_suggest_in_text(out, db, r.instead);
    return lab_str_check(out, "a message");
}

enum lab_status lab_fail_missing(struct lab_database *db, int64_t run,
                                 unsigned wanted)
{
    struct lab_str text;
    lab_str_init(&text);
    enum lab_status st = missing_text(db, run, wanted, false, &text);
    if (st == LAB_OK)
        st = lab_fail(LAB_E_NOTFOUND, "[run.has-none] %s", lab_str_text(&text));
    lab_str_release(&text);
    return st;
}

static enum lab_status warn(struct lab_database *db, int64_t run,
                            unsigned wanted, bool below)
{
    struct lab_str text;
    lab_str_init(&text);
    enum lab_status st = missing_text(db, run, wanted, below, &text);
    if (st == LAB_OK && text.len > 0)
        lab_warn("%s", lab_str_text(&text));
    lab_str_release(&text);
    return st;
}

enum lab_status lab_warn_missing(struct lab_database *db, int64_t run,
                                 unsigned wanted)
{
    return warn(db, run, wanted, false);
}

enum lab_status lab_warn_missing_below(struct lab_database *db, int64_t run,
                                       unsigned wanted)
{
    return warn(db, run, wanted, true);
}
