/* lapenna-lab lab mixing: for each layer of a network over a sequence, which
 * positions of what it reads reach which positions of what it gives: the size of the
 * derivatives, a picture a layer. They are differences: a position of the layer's
 * input is changed, and the layer runs again. */
#include "commands.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/signals.h"
#include "common/random.h"
#include "debug/options.h"
#include "engine/infer.h"
#include "engine/setup.h"
#include "engine/walk.h"
#include "lesson/catalog.h"
#include "lesson/lesson.h"
#include "report/exit.h"
#include "report/json_line.h"
#include "report/print.h"
#include "report/text_table.h"

enum {
    MOST_POSITIONS = 32, /* that are looked at, from the first on */
    DIRECTIONS = 4       /* in which a position's vector is changed */
};
static const float step_size = 1e-2f;

/* Of one layer. norm[o][i]: of the derivatives of output position o by input
 * position i, as the root of their squares' sum. */
struct mixed {
    int node;
    int rows;         /* output positions: as many, or one vector of all */
    int positions;    /* input positions that were looked at */
    int64_t sequence; /* positions that there are */
    double norm[MOST_POSITIONS][MOST_POSITIONS];
};

struct mixing {
    const struct lab_options *o;
    struct lab_walk *walk;
    struct lab_plan *plan;
    struct mixed *layers;
    int n_layers;
};

/* ---- the derivatives ---- */

/* [batch, positions, width], of real numbers: an image has rank 4. */
static bool over_positions(const struct lab_plan *plan, int tensor)
{
    const struct lab_tensor *t = &plan->tensors[tensor];
    return t->dtype == LAB_F32 && t->shape.rank == 3 && t->shape.dim[1] > 1;
}

/* [batch, width]: the last state of a recurrent layer, a context, a mean. */
static bool is_one_vector(const struct lab_tensor *t)
{
    return t->dtype == LAB_F32 && t->shape.rank == 2;
}

static bool wanted(const struct mixing *m, int node)
{
    const struct lab_node *n = &m->plan->nodes[node];
    const struct lab_tensor *out = &m->plan->tensors[n->out];
    bool one = is_one_vector(out);
    int64_t length = one ? 0 : out->shape.dim[1];
    bool reads = false;
    if (!lab_node_is_layer(n) || n->n_in < 1 ||
        (!one && !over_positions(m->plan, n->out)))
        return false;
    for (int k = 0; k < n->n_in; k++) {
        const struct lab_tensor *in = &m->plan->tensors[n->in[k]];
        /* Beside a sequence one vector may be read, as attention's query. */
        if (one && is_one_vector(in))
            continue;
        if (!over_positions(m->plan, n->in[k]) ||
            (length > 0 && in->shape.dim[1] != length))
            return false;
        length = in->shape.dim[1];
        reads = true;
    }
    return reads;
}

static enum lab_status forward(struct mixing *m, int steps)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < steps && !st; i++)
        st = lab_walk_step(m->walk);
    return st;
}

/* The layer's steps once more, with these values as its input. */
static enum lab_status again(struct mixing *m, int steps, int tensor,
                             const float *values)
{
    enum lab_status st = lab_walk_back(m->walk, steps);
    if (!st)
        st = lab_walk_write(m->walk, tensor, values);
    return st ? st : forward(m, steps);
}

/* Numbers of a position, in one sample. */
static int64_t width_of(const struct lab_tensor *t)
{
    return t->count / t->shape.dim[0] / t->shape.dim[1];
}

/* What changed[] is away from was[], by position of the first sample. */
static void add_differences(struct mixed *l, int at, const struct lab_tensor *t,
                            const float *was, const float *changed)
{
    int64_t width = is_one_vector(t) ? t->shape.dim[1] : width_of(t);
    for (int o = 0; o < l->rows; o++) {
        double sum = 0;
        for (int64_t k = o * width; k < (o + 1) * width; k++)
            sum +=
                ((double)changed[k] - was[k]) * ((double)changed[k] - was[k]);
        l->norm[o][at] += sum / (step_size * step_size) / DIRECTIONS;
    }
}

static enum lab_status derive_by(struct mixing *m, struct mixed *l, int steps,
                                 int tensor, const float *was)
{
    const struct lab_node *n = &m->plan->nodes[l->node];
    const struct lab_tensor *in = &m->plan->tensors[tensor];
    const struct lab_tensor *out = &m->plan->tensors[n->out];
    int64_t width = width_of(in);
    float *x = lab_alloc_array((size_t)in->count, sizeof(*x));
    float *changed = lab_alloc_array((size_t)in->count, sizeof(*x));
    float *y = lab_alloc_array((size_t)out->count, sizeof(*y));
    enum lab_status st = x && changed && y
                             ? lab_walk_read(m->walk, tensor, false, x)
                             : lab_no_memory("derivatives");
    for (int i = 0; i < l->positions * DIRECTIONS && !st; i++) {
        int at = i / DIRECTIONS;
        memcpy(changed, x, (size_t)in->count * sizeof(*x));
        for (int64_t k = 0; k < width; k++) {
            uint32_t word = lab_random_word(1, (uint32_t)(i % DIRECTIONS), 0,
                                            (uint64_t)(at * width + k));
            changed[at * width + k] += word & 1 ? step_size : -step_size;
        }
        st = again(m, steps, tensor, changed);
        if (!st)
            st = lab_walk_read(m->walk, n->out, false, y);
        if (!st)
            add_differences(l, at, out, was, y);
        if (!st && lab_signals_caught())
            st = lab_fail(LAB_E_CANCELLED, "stopped");
    }
    if (!st)
        st = again(m, steps, tensor, x);
    lab_free(x);
    lab_free(changed);
    lab_free(y);
    return st;
}

/* The layer's steps have run. */
static enum lab_status derive(struct mixing *m, int node, int steps)
{
    const struct lab_node *n = &m->plan->nodes[node];
    const struct lab_tensor *out = &m->plan->tensors[n->out];
    struct mixed *l = &m->layers[m->n_layers++];
    float *was = lab_alloc_array((size_t)out->count, sizeof(*was));
    enum lab_status st = was ? lab_walk_read(m->walk, n->out, false, was)
                             : lab_no_memory("derivatives");
    *l = (struct mixed){.node = node};
    for (int k = 0; k < n->n_in && !st; k++) {
        const struct lab_tensor *in = &m->plan->tensors[n->in[k]];
        bool again = false; /* the same tensor twice is one input */
        if (is_one_vector(in))
            continue;
        l->sequence = in->shape.dim[1];
        l->positions =
            l->sequence < MOST_POSITIONS ? (int)l->sequence : MOST_POSITIONS;
        l->rows = is_one_vector(out) ? 1 : l->positions;
        for (int j = 0; j < k; j++)
            again |= n->in[j] == n->in[k];
        if (!again)
            st = derive_by(m, l, steps, n->in[k], was);
    }
    for (int i = 0; i < MOST_POSITIONS * MOST_POSITIONS; i++)
        l->norm[i / MOST_POSITIONS][i % MOST_POSITIONS] =
            sqrt(l->norm[i / MOST_POSITIONS][i % MOST_POSITIONS]);
    lab_free(was);
    return st;
}

static enum lab_status derive_all(struct mixing *m)
{
    const struct lab_schedule *s = lab_walk_schedule(m->walk);
    enum lab_status st = LAB_OK;
    int end;
    m->layers = lab_alloc_array((size_t)m->plan->n_nodes, sizeof(*m->layers));
    if (!m->layers)
        return lab_no_memory("derivatives");
    for (int i = 0; i < s->phase_first[LAB_FORWARD + 1] && !st; i = end) {
        int node = s->steps[i].step->node;
        for (end = i; end < s->phase_first[LAB_FORWARD + 1] &&
                      s->steps[end].step->node == node;)
            end++;
        st = forward(m, end - i);
        if (!st && wanted(m, node))
            st = derive(m, node, end - i);
    }
    if (!st && m->n_layers == 0)
        st =
            lab_fail(LAB_E_USAGE,
                     "[demo.mixing-sequence] no layer of %s reads a vector for "
                     "each position of a sequence, as those of "
                     "transformer-block do",
                     m->o->lesson);
    return st;
}

/* ---- what came out ---- */

struct reach {
    bool earlier;
    bool later;
    bool all;
    double others; /* of all squares, the part of other positions */
};

static struct reach reach_of(const struct mixed *l)
{
    struct reach r = {.all = true};
    double all = 0;
    double others = 0;
    for (int o = 0; o < l->rows; o++) {
        for (int i = 0; i < l->positions; i++) {
            double square = l->norm[o][i] * l->norm[o][i];
            all += square;
            others += i != o ? square : 0;
            r.earlier |= l->rows > 1 && i < o && square > 0;
            r.later |= l->rows > 1 && i > o && square > 0;
            r.all &= square > 0;
        }
    }
    r.others = all > 0 && l->rows > 1 ? others / all : NAN;
    return r;
}

static const char *text_of(const struct mixed *l, const struct reach *r)
{
    if (l->rows == 1)
        return r->all ? "one vector, of all" : "one vector, of some";
    return r->earlier && r->later ? (r->all ? "all" : "its own and some others")
           : r->earlier           ? "its own and earlier ones"
           : r->later             ? "its own and later ones"
                                  : "its own alone";
}

/* In ASCII the dot would be a star, darker than the shades. */
static const char *none(void)
{
    return lab_print_is_ascii() ? "-" : "·";
}

static const char *shade_of(double v, double most)
{
    return v <= 0             ? none()
           : v < 0.05 * most  ? "░"
           : v < 0.25 * most  ? "▒"
           : v < 0.625 * most ? "▓"
                              : "█";
}

static double most_of(const struct mixed *l)
{
    double most = 0;
    for (int i = 0; i < l->rows * l->positions; i++)
        most = fmax(most, l->norm[i / l->positions][i % l->positions]);
    return most;
}

static const char *name_of(const struct mixing *m, const struct mixed *l)
{
    return m->plan->nodes[l->node].id;
}

/* Pictures side by side, as many as a line has room for. */
static void print_pictures(const struct mixing *m)
{
    size_t room = lab_print_columns() > 0 ? lab_print_columns() : 80;
    for (int first = 0, end; first < m->n_layers; first = end) {
        size_t used = 0;
        for (end = first; end < m->n_layers; end++) {
            size_t name = strlen(name_of(m, &m->layers[end]));
            size_t width = (size_t)(2 * m->layers[end].positions);
            width = (width > name ? width : name) + 2;
            if (end > first && used + width > room)
                break;
            used += width;
        }
        int lines = 0;
        for (int k = first; k < end; k++)
            lines = m->layers[k].rows > lines ? m->layers[k].rows : lines;
        for (int line = -1; line < lines; line++) {
            struct lab_str text;
            lab_str_init(&text);
            for (int k = first; k < end; k++) {
                const struct mixed *l = &m->layers[k];
                size_t name = strlen(name_of(m, l));
                size_t width = (size_t)(2 * l->positions);
                if (line < 0)
                    lab_str_add(&text, name_of(m, l));
                for (int i = 0; line >= 0 && i < l->positions; i++)
                    lab_str_addf(&text, "%s ",
                                 line < l->rows
                                     ? shade_of(l->norm[line][i], most_of(l))
                                     : " ");
                size_t have = line < 0 ? name : width;
                for (size_t s = have; s < (width > name ? width : name) + 2;
                     s++)
                    lab_str_add(&text, " ");
            }
            while (text.len > 0 && text.data[text.len - 1] == ' ')
                text.data[--text.len] = '\0';
            lab_printf(stdout, "%s\n", lab_str_text(&text));
            lab_str_release(&text);
        }
        lab_printf(stdout, "\n");
    }
}

static enum lab_status print_text(const struct mixing *m)
{
    static const char *const heads[] = {"layer", "op", "a position depends on",
                                        ">of others", NULL};
    struct lab_text_table t;
    struct lab_str text;
    lab_str_init(&text);
    lab_print_wrap(lab_print_columns(), 0);
    lab_printf(stdout,
               "%s: what a position of a layer's output (down) changes with at "
               "the positions of its input (across)\n\n",
               m->o->lesson);
    lab_print_wrap(0, 0);
    print_pictures(m);
    lab_text_table_init(&t, heads);
    for (int i = 0; i < m->n_layers; i++) {
        const struct mixed *l = &m->layers[i];
        struct reach r = reach_of(l);
        lab_text_table_add(&t, name_of(m, l));
        lab_text_table_add(&t, m->plan->nodes[l->node].op->name);
        lab_text_table_add(&t, text_of(l, &r));
        lab_text_table_add_share(&t, r.others);
    }
    enum lab_status st = lab_text_table_format(&t, &text);
    if (!st)
        st = lab_print_str(&text);
    lab_str_release(&text);
    lab_print_wrap(lab_print_columns(), 0);
    lab_printf(
        stdout,
        "\n%s no derivative; ░ ▒ ▓ █ up to 5 %%, 25 %%, 62.5 %% and all of the "
        "layer's largest\n"
        "of others: the part of the squares that is of other positions; first "
        "sample, first iteration\n",
        none());
    int64_t printed = 0;
    for (int i = 0; i < m->n_layers; i++) {
        const struct mixed *l = &m->layers[i];
        if (l->sequence > l->positions && l->sequence != printed)
            lab_printf(stdout, "the first %d of %lld positions\n", l->positions,
                       (long long)l->sequence);
        printed = l->sequence;
    }
    lab_print_wrap(0, 0);
    return st ? st : lab_print_check();
}

static enum lab_status print_json(const struct mixing *m)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < m->n_layers && !st; i++) {
        const struct mixed *l = &m->layers[i];
        struct reach r = reach_of(l);
        json_t *line = lab_json_new("mixing");
        json_t *rows = json_array();
        for (int o = 0; o < l->rows; o++) {
            json_t *row = json_array();
            for (int k = 0; k < l->positions; k++)
                json_array_append_new(row, lab_json_number(l->norm[o][k]));
            json_array_append_new(rows, row);
        }
        lab_json_text(line, "layer", name_of(m, l));
        lab_json_text(line, "op", m->plan->nodes[l->node].op->name);
        lab_json_int(line, "positions", l->sequence);
        lab_json_bool(line, "earlier", r.earlier);
        lab_json_bool(line, "later", r.later);
        lab_json_real(line, "others", r.others);
        json_object_set_new(line, "norm", rows);
        st = lab_json_print(line);
    }
    return st;
}

/* ---- the command ---- */

static enum lab_status run(struct mixing *m,
                           const struct lab_network_spec *spec)
{
    struct lab_setup setup = {
        .spec = spec, .backend = "cpu", .data = m->o->data};
    struct lab_str notice;
    lab_str_init(&notice);
    enum lab_status st = lab_setup_open(&setup, &m->walk, &m->plan, &notice);
    if (!st)
        st = derive_all(m);
    if (!st)
        st = m->o->json ? print_json(m) : print_text(m);
    lab_free(m->layers);
    lab_walk_free(m->walk);
    lab_plan_free(m->plan);
    lab_str_release(&notice);
    return st;
}

static void take_lesson(struct lab_options *o, struct argp_state *state)
{
    if (o->n_words != 1)
        lab_usage_error(
            state,
            "[usage.mixing-lesson] give one lesson over a sequence, "
            "as transformer-block (found: %d)",
            o->n_words);
    o->lesson = o->words[0];
}

static int cmd_mixing(int argc, char **argv)
{
    static const struct lab_command_line line = {
        .name = "lapenna-lab lab mixing",
        .commands = LAB_FOR_MIXING,
        .args = "LESSON",
        .doc =
            "Which positions of a sequence each layer of a network mixes: the "
            "derivatives of every position of its output by every position "
            "of its input, as a picture; a row alone where the output is one "
            "vector, as a last state. On the CPU; nothing is recorded.",
        .check = take_lesson};
    struct lab_options o;
    struct lab_lesson *lesson = NULL;
    lab_options_parse(&o, argc, argv, &line);
    struct mixing m = {.o = &o};
    lab_signals_catch();
    enum lab_status st = lab_lesson_open(&lesson, o.lesson);
    if (!st && lesson->kind == LAB_LESSON_LAB)
        st = lab_fail(LAB_E_USAGE,
                      "[demo.mixing-lab] %s is a lab and has no network",
                      o.lesson);
    if (!st) {
        if (o.given.seed)
            lesson->spec.seed = o.seed;
        st = run(&m, &lesson->spec);
    }
    lab_lesson_free(lesson);
    return lab_exit_error(st);
}

const struct lab_demo_row lab_demo_row_mixing = {
    .word = "mixing",
    .takes = "LESSON",
    .text = "which positions of a sequence each layer mixes",
    .run = cmd_mixing};
