/* kept_times.c -- the times of variants in the database: read before a network is
 * opened, given to the tuner, kept afterwards; and what the network then runs. */
#include "debug/kept_times.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/parallel.h"
#include "engine/backend.h"
#include "report/exit.h"
#include "store/database.h"
#include "store/variant_times.h"
#include "trace/intern.h"

enum { NOTE_BYTES = 1024, BACKEND_BYTES = 16, PRECISIONS_BYTES = 64 };

struct lab_kept_times {
    struct lab_tune_keeper keeper;
    char *db; /* NULL: none */
    char precisions[PRECISIONS_BYTES];
    enum lab_precision precision;
    const char *where;
    bool anew; /* what is kept is not read */
    /* What was opened last. */
    char backend[BACKEND_BYTES];
    struct lab_device_info device;
    /* What was measured, until it is in the database. */
    struct lab_tune_time *list;
    size_t n;
    size_t room;
    struct lab_variant_times_left left;
    struct lab_tune_time *gone; /* kept for variants that are not there */
    size_t n_gone;
    size_t gone_room;
    bool on_line; /* what is measured is on a terminal's line */
    bool shown;   /* a line of it was printed */
    pthread_mutex_t lock;
    char note[NOTE_BYTES]; /* what was not read or not kept */
};

/* Of the device that was opened; a GPU's times do not depend on threads. */
static struct lab_variant_time_of times_of(const struct lab_kept_times *t)
{
    return (struct lab_variant_time_of){
        .backend = t->backend,
        .device = t->device.name,
        .precision = lab_precision_name(t->precision),
        .threads = strcmp(t->backend, "cuda") == 0 ? 0 : lab_threads(),
        .precisions = t->precisions};
}

/* ---- read ---- */

/* Where the kept times go. */
struct kept_to {
    struct lab_kept_times *kept;
    struct lab_backend *be;
    struct lab_tuning *t;
};

static enum lab_status add_kept(void *user, const struct lab_variant_time *t)
{
    const struct kept_to *to = user;
    struct lab_kept_times *k = to->kept;
    struct lab_tune_time time = {.ns = t->ns};
    if (strlen(t->step) >= sizeof(time.step) ||
        strlen(t->variant) >= sizeof(time.variant))
        return LAB_OK; /* no step and no variant has such a name */
    snprintf(time.step, sizeof(time.step), "%s", t->step);
    snprintf(time.variant, sizeof(time.variant), "%s", t->variant);
    if (lab_tune_has(to->be, time.step, time.variant))
        return lab_tuning_add(to->t, &time);
    enum lab_status st = lab_grow(&k->gone, k->n_gone, &k->gone_room,
                                  sizeof(*k->gone), "a time");
    if (!st)
        k->gone[k->n_gone++] = time;
    return st;
}

static void take_note(struct lab_kept_times *t, const char *what,
                      const char *text)
{
    pthread_mutex_lock(&t->lock);
    snprintf(t->note, sizeof(t->note), "%s%s", what, text);
    pthread_mutex_unlock(&t->lock);
}

/* Notes which of the kept times are not used. */
static void note_unused(struct lab_kept_times *t)
{
    const struct {
        int64_t n;
        const char *what;
    } why[] = {{t->left.damaged, "damaged"},
               {t->left.foreign, "of another version of the program"},
               {t->left.unknown,
                "of a precision or number of threads that there is not"},
               {(int64_t)t->n_gone,
                "of variants that this program or machine does not have"}};
    char text[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < sizeof(why) / sizeof(why[0]); i++)
        if (why[i].n > 0)
            used += (size_t)snprintf(text + used, sizeof(text) - used,
                                     "%s%lld %s", used ? ", " : "",
                                     (long long)why[i].n, why[i].what);
    if (used > 0)
        take_note(t,
                  "kept times of variants are not used, and measured again "
                  "where they are needed: ",
                  text);
}

/* Times were measured because those that are kept are of another number of threads. */
static void note_threads(struct lab_kept_times *t)
{
    char text[96];
    snprintf(text, sizeof(text),
             "%lld thread%s: they are measured again for %d",
             (long long)t->left.threads, t->left.threads == 1 ? "" : "s",
             lab_threads());
    if (t->left.threads > 0 && t->n > 0)
        take_note(t, "the kept times of variants are for ", text);
}

/* Without a database, or one that an earlier program wrote, nothing is kept yet; a
 * database that refuses is none either. */
static enum lab_status load_times(void *user, struct lab_backend *be,
                                  struct lab_tuning *tuning)
{
    const struct lab_database_options options = {.read_only = true,
                                                 .busy_timeout_ms = 1000};
    struct lab_kept_times *t = user;
    struct lab_database *db = NULL;
    struct kept_to to = {t, be, tuning};
    /* What is left of a network that was not opened is of another device. */
    t->n = t->n_gone = 0;
    t->left = (struct lab_variant_times_left){0};
    lab_backend_info(be, &t->device);
    snprintf(t->backend, sizeof(t->backend), "%s", be->ops->name);
    if (!t->db || t->anew)
        return LAB_OK;
    const struct lab_variant_time_of of = times_of(t);
    enum lab_status st = lab_database_open(&db, t->db, &options);
    if (!st)
        st = lab_variant_times_read(db, &of, add_kept, &to, &t->left);
    lab_database_close(db);
    if (st == LAB_E_NOMEM)
        return st;
    if (st && st != LAB_E_NOTFOUND && st != LAB_E_STATE)
        take_note(t, "the kept times of variants are not read: ", lab_error());
    else
        note_unused(t);
    return LAB_OK;
}

/* ---- measured ---- */

/* What has no memory is measured again the next time. */
static void keep_time(void *user, const struct lab_tune_time *time)
{
    struct lab_kept_times *t = user;
    if (!lab_grow(&t->list, t->n, &t->room, sizeof(*t->list), "a time"))
        t->list[t->n++] = *time;
}

/* On a terminal a line that is written over, else one line. */
static void show_measuring(void *user, const char *variant, int done, int total)
{
    struct lab_kept_times *t = user;
    const char *term = getenv("TERM");
    if (isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0) {
        fprintf(stderr, "\rmeasuring variants: %s (%d of %d)\033[K", variant,
                done + 1, total);
        t->on_line = true;
    } else if (!t->shown)
        lab_warn("measuring %d variants, once and for %lld s at most%s", total,
                 (long long)(t->keeper.budget_ns / 1000000000), t->where);
    t->shown = true;
}

void lab_kept_times_opened(struct lab_kept_times *t)
{
    if (t->on_line)
        fputs("\r\033[K", stderr);
    t->on_line = false;
}

/* ---- kept ---- */

void lab_kept_times_store(struct lab_kept_times *t)
{
    const struct lab_database_options options = {.busy_timeout_ms = 1000};
    struct lab_database *db = NULL;
    struct lab_variant_time *rows;
    size_t unused = t->n_gone + (size_t)(t->left.damaged + t->left.foreign +
                                         t->left.unknown);
    if (t->n + unused == 0 || !t->db || t->keeper.budget_ns == 0)
        return;
    if (unused == 0) /* else there is a note of those */
        note_threads(t);
    rows = lab_alloc_array(t->n + t->n_gone + 1, sizeof(*rows));
    enum lab_status st = rows ? LAB_OK : lab_no_memory("variants' times");
    for (size_t i = 0; i < t->n && !st; i++)
        rows[i] = (struct lab_variant_time){t->list[i].step, t->list[i].variant,
                                            t->list[i].ns, false};
    for (size_t i = 0; i < t->n_gone && !st; i++)
        rows[t->n + i] = (struct lab_variant_time){
            t->gone[i].step, t->gone[i].variant, NAN, true};
    const struct lab_variant_time_of of = times_of(t);
    if (!st)
        st = lab_database_open(&db, t->db, &options);
    if (!st)
        st = lab_variant_times_keep(db, &of, rows, t->n + t->n_gone);
    if (st)
        take_note(t, "the times of variants are not kept: ", lab_error());
    lab_database_close(db);
    lab_free(rows);
    t->n = t->n_gone = 0;
    t->anew = false; /* a network that is opened again has these */
    t->left = (struct lab_variant_times_left){0};
}

void lab_kept_times_note(struct lab_kept_times *t, struct lab_str *out)
{
    pthread_mutex_lock(&t->lock);
    if (t->note[0])
        lab_str_addf(out, "%s\n", t->note);
    pthread_mutex_unlock(&t->lock);
}

/* ---- life ---- */

struct lab_kept_times *lab_kept_times_new(const char *db,
                                          enum lab_precision precision)
{
    struct lab_kept_times *t = lab_alloc(sizeof(*t));
    struct lab_str path;
    if (!t)
        return NULL;
    pthread_mutex_init(&t->lock, NULL);
    t->precision = precision;
    for (int p = 0, used = 0; p < LAB_PRECISION_COUNT; p++)
        used += snprintf(
            t->precisions + used, sizeof(t->precisions) - (size_t)used, "%s%s",
            p ? "," : "", lab_precision_name((enum lab_precision)p));
    lab_str_init(&path);
    if (db)
        lab_str_add(&path, db);
    t->db = db ? lab_str_detach(&path) : NULL;
    if (!db || t->db)
        return t;
    lab_kept_times_free(t);
    return NULL;
}

void lab_kept_times_free(struct lab_kept_times *t)
{
    if (!t)
        return;
    pthread_mutex_destroy(&t->lock);
    lab_free(t->list);
    lab_free(t->gone);
    lab_free(t->db);
    lab_free(t);
}

const struct lab_tune_keeper *lab_kept_times_keeper(struct lab_kept_times *t,
                                                    const struct lab_options *o,
                                                    bool tells,
                                                    const char *where)
{
    const char *set = getenv("LAPENNA_LAB_TUNE");
    bool off =
        !o->tune_again && (o->no_tune || (set && strcmp(set, "off") == 0));
    t->where = where;
    t->anew = o->tune_again;
    t->keeper = (struct lab_tune_keeper){
        .user = t,
        .budget_ns = o->walks_once ? 0 : INT64_C(2000000000),
        .load = load_times,
        .keep = keep_time,
        .progress = tells ? show_measuring : NULL};
    return off ? NULL : &t->keeper;
}

/* ---- what runs ---- */

/* Does a step of the walk go by a time? */
static bool goes_by_times(struct lab_walk *walk)
{
    const struct lab_schedule *s = lab_walk_schedule(walk);
    for (int i = 0; i < s->n_steps; i++)
        if (s->steps[i].by == LAB_BY_TIME)
            return true;
    return false;
}

enum lab_variants_from lab_variants_from(const struct lab_network_spec *spec,
                                         const struct lab_options *o,
                                         struct lab_walk *walk)
{
    bool all = false;
    for (int i = 0; i < spec->n_variants; i++)
        all = all || strcmp(spec->variants[i].target, "*") == 0;
    for (int i = 0; i < o->n_choices; i++)
        all = all || strcmp(o->choices[i].target, "*") == 0;
    return all                   ? LAB_VARIANTS_CHOSEN
           : goes_by_times(walk) ? LAB_VARIANTS_MEASURED
                                 : LAB_VARIANTS_TABLE;
}

const char *lab_variants_from_name(enum lab_variants_from from)
{
    return from == LAB_VARIANTS_CHOSEN     ? "chosen"
           : from == LAB_VARIANTS_MEASURED ? "measured"
                                           : "table";
}

enum lab_variants_from lab_variants_from_find(const char *name)
{
    int from = LAB_VARIANTS_CHOSEN;
    while (from > LAB_VARIANTS_TABLE &&
           (!name || strcmp(name, lab_variants_from_name(
                                      (enum lab_variants_from)from)) != 0))
        from--;
    return (enum lab_variants_from)from;
}

const char *lab_variants_from_text(enum lab_variants_from from)
{
    return from == LAB_VARIANTS_MEASURED ? "chosen by measuring"
           : from == LAB_VARIANTS_CHOSEN ? "as chosen"
                                         : "the fixed table";
}

void lab_variants_text(struct lab_walk *walk, char out[LAB_VARIANTS_TEXT])
{
    const struct lab_schedule *s = lab_walk_schedule(walk);
    const struct lab_plan *plan = lab_walk_plan(walk);
    const struct lab_schedule_step *first = NULL; /* of the node */
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < s->n_steps && used + 1 < LAB_VARIANTS_TEXT; i++) {
        const struct lab_schedule_step *step = &s->steps[i];
        const char *name = step->variant->name;
        bool inner = first && step->step->node == first->step->node;
        if (strcmp(name, "naive") == 0 || step->step->phase != LAB_FORWARD ||
            (inner && strcmp(name, first->variant->name) == 0))
            continue;
        if (!inner)
            first = step;
        int n = snprintf(
            out + used, LAB_VARIANTS_TEXT - used, "%s%s=%s", used ? " " : "",
            inner ? step->step->name : plan->nodes[step->step->node].id, name);
        used += n > 0 ? (size_t)n : 0;
    }
}

/* ---- why ---- */

enum { MOST_CANDIDATES = 64 };

static const char *keep(const char *text)
{
    return lab_intern_text(lab_intern(text));
}

static bool same_work(const struct lab_plan *plan,
                      const struct lab_schedule_step *a,
                      const struct lab_schedule_step *b)
{
    char one[LAB_TUNE_KEY];
    char other[LAB_TUNE_KEY];
    if (a->by != b->by || a->variant != b->variant)
        return false;
    lab_tune_key(plan, a->step, one);
    lab_tune_key(plan, b->step, other);
    return strcmp(one, other) == 0;
}

/* Does step i do what an earlier step of its node does in that phase, as those of
 * several time steps do? */
static bool is_repeated(const struct lab_plan *plan,
                        const struct lab_schedule *s, int i)
{
    const struct lab_step *step = s->steps[i].step;
    for (int k = i - 1; k >= 0; k--) {
        const struct lab_schedule_step *before = &s->steps[k];
        if (before->step->node != step->node ||
            before->step->phase != step->phase)
            return false;
        if (same_work(plan, before, &s->steps[i]))
            return true;
    }
    return false;
}

static struct lab_choice_row choice_of(struct lab_walk *walk,
                                       const struct lab_schedule_step *at)
{
    struct lab_candidate c[MOST_CANDIDATES];
    const struct lab_plan *plan = lab_walk_plan(walk);
    const char *node = keep(plan->nodes[at->step->node].id);
    struct lab_choice_row row = {.step = at->step->group ? node
                                                         : keep(at->step->name),
                                 .node = node,
                                 .phase = lab_phase_name(at->step->phase),
                                 .variant = keep(at->variant->name),
                                 .steps = at->hides_count,
                                 .time_ns = NAN,
                                 .next_ns = NAN};
    int n = lab_candidates(plan, lab_walk_backend(walk), lab_walk_tuning(walk),
                           at->step->node, at, c, MOST_CANDIDATES);
    for (int i = 0; i < n; i++) {
        bool competes = c[i].serves && c[i].timed && !c[i].by_hand &&
                        !c[i].wrong && c[i].steps == at->hides_count;
        if (!competes || isnan(c[i].ns))
            continue;
        if (strcmp(c[i].name, at->variant->name) == 0) {
            row.time_ns = c[i].ns;
        } else if (!row.next || c[i].ns < row.next_ns) {
            row.next = keep(c[i].name);
            row.next_ns = c[i].ns;
        }
    }
    return row;
}

void lab_choices_note(struct lab_choices *out, struct lab_walk *walk)
{
    const struct lab_schedule *s = lab_walk_schedule(walk);
    out->n = 0;
    for (int i = 0; i < s->n_steps; i++) {
        if (s->steps[i].by != LAB_BY_TIME ||
            is_repeated(lab_walk_plan(walk), s, i))
            continue;
        if (lab_grow(&out->list, out->n, &out->room, sizeof(*out->list),
                     "a choice"))
            return;
        out->list[out->n] = choice_of(walk, &s->steps[i]);
        out->list[out->n].place = (int64_t)out->n;
        out->n++;
    }
}
