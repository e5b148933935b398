/* generate.c -- generates text with a trained network, a character at a
 * time. */
#include "engine/generate.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "engine/text.h"
#include "common/random.h"

struct lab_generator {
    struct lab_walk *walk;
    const struct lab_text *text;
    struct lab_plan *plan; /* the walk's network with batch 1 */
    struct lab_schedule *schedule;
    struct lab_arena memory; /* of the arrays that follow */
    int *shared; /* by tensor: the walk's that it shares memory with; or -1 */
    void *arena;
    int32_t *window; /* context ids */
    float *row;      /* the plan's result */
    double *logits;
    struct lab_sampling sampling;
    int32_t *ids; /* the text so far: its last `context` characters */
    int64_t n_ids;
    uint64_t drawn;
    double probability; /* of the character drawn last */
};

/* ---- the second plan ---- */

static enum lab_status build_plan(struct lab_generator *g)
{
    struct lab_data *data = lab_walk_data(g->walk);
    struct lab_data_shapes shapes;
    lab_data_get_shapes(data, &shapes);
    shapes.batch = shapes.x.dim[0] = shapes.y.dim[0] = 1;
    return lab_plan_build(&g->plan, lab_data_spec_of(data), &shapes, LAB_F32);
}

/* Ids go in, and for every place scores of the next character come out. */
static enum lab_status check_plan(const struct lab_generator *g)
{
    const struct lab_plan *p = g->plan;
    const struct lab_tensor *out = &p->tensors[p->out];
    bool ids = p->x >= 0 && p->tensors[p->x].dtype == LAB_I32;
    if (ids && out->shape.rank == 3 && out->shape.dim[1] == g->text->context)
        return LAB_OK;
    return lab_fail(
        LAB_E_SHAPE,
        "[generate.network] only a network that reads characters as ids and "
        "gives the next character at every position can write text");
}

/* Variants that are not the default, once for each node. */
static enum lab_status choose(struct lab_generator *g)
{
    const struct lab_schedule *s = lab_walk_schedule(g->walk);
    const struct lab_plan *plan = lab_walk_plan(g->walk);
    struct lab_backend *be = lab_walk_backend(g->walk);
    struct lab_variant_choice *list =
        lab_alloc_array((size_t)s->n_steps + 1, sizeof(*list));
    int n = 0;
    if (!list)
        return lab_fail(LAB_E_NOMEM, "no memory to write text");
    for (int i = 0; i < s->n_steps; i++) {
        const struct lab_schedule_step *at = &s->steps[i];
        const char *step = at->step->group ? NULL : at->step->kernel;
        const char *node = plan->nodes[at->step->node].id;
        if (at->step->phase != LAB_FORWARD ||
            (step && at->variant ==
                         lab_backend_variant(be, plan->real, at->step->op->name,
                                             step, LAB_FORWARD, NULL)))
            continue;
        bool again = n > 0 && strcmp(list[n - 1].target, node) == 0 &&
                     strcmp(list[n - 1].variant, at->variant->name) == 0;
        if (!again)
            list[n++] = (struct lab_variant_choice){node, at->variant->name};
    }
    enum lab_status st =
        lab_schedule_make(&g->schedule, g->plan, be, list, n, NULL);
    lab_free(list);
    return st;
}

/* Parameters and state lie in the walk's memory. Of a state with a row for
 * each sample the one sample has the first. */
static enum lab_status share(struct lab_generator *g)
{
    const struct lab_plan *theirs = lab_walk_plan(g->walk);
    for (int i = 0; i < g->plan->n_tensors; i++) {
        const struct lab_tensor *t = &g->plan->tensors[i];
        g->shared[i] = -1;
        if (!t->persistent)
            continue;
        int id = lab_plan_tensor(theirs, t->name);
        if (id < 0 || theirs->tensors[id].count < t->count)
            return lab_fail(LAB_E_INTERNAL, "the walk has no %s", t->name);
        g->shared[i] = id;
    }
    return LAB_OK;
}

static enum lab_status alloc_all(struct lab_generator *g)
{
    const struct lab_plan *p = g->plan;
    size_t context = (size_t)g->text->context;
    size_t out = (size_t)p->tensors[p->out].count;
    struct lab_arena *m = &g->memory;
    g->shared = lab_arena_array(m, (size_t)p->n_tensors, sizeof(*g->shared));
    g->window = lab_arena_array(m, context, sizeof(*g->window));
    g->ids = lab_arena_array(m, context, sizeof(*g->ids));
    g->row = lab_arena_array(m, out, sizeof(*g->row));
    g->logits = lab_arena_array(m, out / context, sizeof(*g->logits));
    if (!g->shared || !g->window || !g->ids || !g->row || !g->logits)
        return lab_fail(LAB_E_NOMEM, "no memory to write text");
    struct lab_backend *be = lab_walk_backend(g->walk);
    enum lab_status st = lab_backend_alloc(be, p->arena_bytes, &g->arena);
    for (int i = 0; i < p->n_tensors && !st; i++)
        lab_backend_label(be, g->arena, p->tensors[i].offset,
                          p->tensors[i].name, true);
    return st;
}

enum lab_status lab_generator_new(struct lab_generator **out,
                                  struct lab_walk *walk)
{
    const struct lab_text *text = lab_data_text(lab_walk_data(walk));
    if (!text)
        return lab_fail(LAB_E_USAGE,
                        "[generate.data] this lesson's data are no text: only "
                        "a network that was trained on text can write some");
    struct lab_generator *g = lab_alloc(sizeof(*g));
    if (!g)
        return lab_fail(LAB_E_NOMEM, "no memory to write text");
    g->walk = walk;
    g->text = text;
    enum lab_status st = build_plan(g);
    if (!st)
        st = check_plan(g);
    if (!st)
        st = choose(g);
    if (!st)
        st = alloc_all(g);
    if (!st)
        st = share(g);
    if (st) {
        lab_generator_free(g);
        return st;
    }
    *out = g;
    return LAB_OK;
}

void lab_generator_free(struct lab_generator *g)
{
    if (!g)
        return;
    lab_schedule_release(g->schedule);
    lab_backend_free(lab_walk_backend(g->walk), g->arena);
    lab_plan_free(g->plan);
    lab_arena_release(&g->memory);
    lab_free(g);
}

int64_t lab_generator_context(const struct lab_generator *g)
{
    return g->text->context;
}

int64_t lab_generator_classes(const struct lab_generator *g)
{
    return g->plan->tensors[g->plan->out].shape.dim[2];
}

/* ---- one forward pass ---- */

/* Parameters and state are the walk's. */
static void *shared_memory(const struct lab_generator *g, int tensor, void *own)
{
    return tensor >= 0 && g->shared[tensor] >= 0
               ? lab_walk_view(g->walk, g->shared[tensor]).data
               : own;
}

static enum lab_status run_step(struct lab_generator *g,
                                const struct lab_schedule_step *s)
{
    const struct lab_step *step = s->step;
    struct lab_step_call c;
    lab_step_call(&c, g->plan, step, g->arena, g->arena);
    c.call.training = false;
    for (int i = 0; i < step->n_in; i++)
        c.in[i].data = shared_memory(g, step->in[i], c.in[i].data);
    for (int i = 0; i < step->n_out; i++)
        c.out[i].data = shared_memory(g, step->out[i], c.out[i].data);
    return lab_backend_run(lab_walk_backend(g->walk), s->variant, &c.call);
}

static enum lab_status run_window(struct lab_generator *g)
{
    struct lab_backend *be = lab_walk_backend(g->walk);
    const struct lab_tensor *x = &g->plan->tensors[g->plan->x];
    const struct lab_tensor *out = &g->plan->tensors[g->plan->out];
    enum lab_status st =
        lab_backend_upload(be, (char *)g->arena + x->offset, g->window,
                           (size_t)x->count * sizeof(*g->window));
    for (int i = 0; i < g->schedule->n_steps && !st; i++) {
        if (g->schedule->steps[i].step->phase == LAB_FORWARD)
            st = run_step(g, &g->schedule->steps[i]);
    }
    if (!st)
        st = lab_backend_download(be, g->row, (char *)g->arena + out->offset,
                                  (size_t)out->count * sizeof(*g->row));
    return st;
}

enum lab_status lab_generator_logits(struct lab_generator *g,
                                     const int32_t *ids, int64_t n, double *out)
{
    int64_t context = lab_generator_context(g);
    int64_t classes = lab_generator_classes(g);
    if (n < 1)
        return lab_fail(LAB_E_RANGE,
                        "[generate.no-id] nothing comes before the first id");
    int64_t from = n > context ? n - context : 0;
    memset(g->window, 0, (size_t)context * sizeof(*g->window));
    for (int64_t i = from; i < n; i++) {
        if (ids[i] < 0 || ids[i] >= classes)
            return lab_fail(LAB_E_RANGE,
                            "[generate.id] id %d: ids run from 0 to %lld",
                            (int)ids[i], (long long)classes - 1);
        g->window[i - from] = ids[i];
    }
    enum lab_status st = run_window(g);
    const float *row = g->row + (n - from - 1) * classes;
    for (int64_t c = 0; c < classes && !st; c++)
        out[c] = row[c];
    return st;
}

/* ---- drawing ---- */

static int64_t best_of(const double *logits, int64_t n)
{
    int64_t best = -1;
    for (int64_t i = 0; i < n; i++) {
        if (!isnan(logits[i]) && (best < 0 || logits[i] > logits[best]))
            best = i;
    }
    return best;
}

/* Is it among the k likeliest? Of equals the first are. */
static bool in_top(const double *logits, int64_t n, int64_t k, int64_t i)
{
    int64_t before = 0;
    if (k >= n)
        return true;
    for (int64_t j = 0; j < n && before < k; j++)
        before += logits[j] > logits[i] || (logits[j] == logits[i] && j < i);
    return before < k;
}

int64_t lab_sampling_draw(const struct lab_sampling *s, const double *logits,
                          int64_t n, uint64_t at)
{
    const uint32_t stream = 0x53414D50u; /* "SAMP" */
    int64_t best = best_of(logits, n);
    int64_t k = s->top_k > 0 && s->top_k < n ? s->top_k : n;
    double sum = 0;
    if (best < 0 || s->temperature <= 0 || isinf(logits[best]))
        return best;
    double top = logits[best];
    for (int64_t i = 0; i < n; i++) {
        if (!isnan(logits[i]) && in_top(logits, n, k, i))
            sum += exp((logits[i] - top) / s->temperature);
    }
    uint32_t word = lab_random_word(s->seed, stream, 0, at);
    double goal = (double)lab_random_unit(word) * sum;
    int64_t last = best;
    for (int64_t i = 0; i < n; i++) {
        if (isnan(logits[i]) || !in_top(logits, n, k, i))
            continue;
        double share = exp((logits[i] - top) / s->temperature);
        if (goal < share)
            return i;
        goal -= share;
        if (share > 0)
            last = i; /* rounding may leave a little at the end */
    }
    return last;
}

/* ---- text ---- */

static void keep(struct lab_generator *g, int32_t id)
{
    int64_t context = lab_generator_context(g);
    if (g->n_ids == context) {
        memmove(g->ids, g->ids + 1, (size_t)(context - 1) * sizeof(*g->ids));
        g->n_ids--;
    }
    g->ids[g->n_ids++] = id;
}

static enum lab_status no_such_character(const char *bytes, size_t n,
                                         unsigned code)
{
    struct lab_str s;
    lab_str_init(&s);
    lab_str_add_visible(&s, bytes, n, false);
    enum lab_status st =
        lab_fail(LAB_E_RANGE,
                 "[generate.character] the text that the network learns from "
                 "never uses '%s' (U+%04X): begin with others",
                 lab_str_text(&s), code);
    lab_str_release(&s);
    return st;
}

static enum lab_status check_sampling(const struct lab_sampling *s)
{
    if (!(s->temperature >= 0) || isinf(s->temperature))
        return lab_fail(
            LAB_E_RANGE,
            "[generate.temperature] temperature %g: a number from 0 is needed",
            s->temperature);
    if (s->top_k < 0)
        return lab_fail(LAB_E_RANGE,
                        "[generate.top-k] top-k %lld: a whole number from 0",
                        (long long)s->top_k);
    return LAB_OK;
}

enum lab_status lab_generator_begin(struct lab_generator *g, const char *prompt,
                                    const struct lab_sampling *sampling)
{
    size_t bytes = strlen(prompt);
    enum lab_status st = check_sampling(sampling);
    g->n_ids = 0;
    g->drawn = 0;
    for (size_t i = 0; i < bytes && !st;) {
        unsigned code = 0;
        size_t n = lab_utf8_next(prompt + i, bytes - i, &code);
        if (n == 0)
            return lab_fail(
                LAB_E_PARSE,
                "[generate.utf8] the text to begin with is not UTF-8");
        int32_t id = lab_text_find(g->text, code);
        if (id < 0)
            st = no_such_character(prompt + i, n, code);
        else
            keep(g, id);
        i += n;
    }
    if (st)
        return st;
    int32_t newline = lab_text_find(g->text, '\n');
    if (g->n_ids == 0)
        keep(g, newline >= 0 ? newline : g->text->id[0]);
    g->sampling = *sampling;
    return LAB_OK;
}

/* By the network's scores as they are, at temperature 1. */
static double probability_of(const double *logits, int64_t n, int64_t id)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += isnan(logits[i]) ? 0 : exp(logits[i] - logits[id]);
    return 1 / sum;
}

double lab_generator_probability(const struct lab_generator *g)
{
    return g->probability;
}

/* The network may know more ids than the text has characters: those are not
 * drawn. */
enum lab_status lab_generator_next(struct lab_generator *g, struct lab_str *out)
{
    int64_t known = g->text->vocab;
    enum lab_status st = lab_generator_logits(g, g->ids, g->n_ids, g->logits);
    if (st)
        return st;
    int64_t id = lab_sampling_draw(&g->sampling, g->logits, known, g->drawn);
    if (id < 0)
        return lab_fail(LAB_E_STATE, "[generate.nan] the network computes NaN: "
                                     "there is no next character");
    g->drawn++;
    g->probability = probability_of(g->logits, known, id);
    keep(g, (int32_t)id);
    lab_text_add(g->text, (int32_t)id, out);
    return LAB_OK;
}
