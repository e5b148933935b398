/* lapenna-lab lab layers: a network as a table of layers, with parameters and
 * operations, and what fusing leaves of the layers in inference. The network is
 * planned and not run: one of any size is counted without its memory. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "debug/options.h"
#include "engine/data.h"
#include "engine/infer.h"
#include "lesson/catalog.h"
#include "lesson/lesson.h"
#include "report/exit.h"
#include "report/json_line.h"
#include "report/print.h"
#include "report/text_table.h"

struct counted {
    const struct lab_options *o;
    const char *name;
    struct lab_plan *plan;
    struct lab_fused fused;
};

/* Of one sample, forward. */
static double flop_of(const struct counted *c, int node)
{
    const struct lab_node *n = &c->plan->nodes[node];
    double flop = 0;
    for (int i = 0; i < n->n_steps[LAB_FORWARD]; i++)
        flop += c->plan->steps[n->first_step[LAB_FORWARD] + i].flop;
    return flop / (double)c->plan->batch;
}

static int64_t parameters_of(const struct counted *c, int node)
{
    int64_t count = 0;
    for (int t = 0; t < c->plan->n_tensors; t++) {
        const struct lab_tensor *tensor = &c->plan->tensors[t];
        if (tensor->role == LAB_TENSOR_PARAM && tensor->node == node)
            count += tensor->count;
    }
    return count;
}

static bool is_layer(const struct counted *c, int node)
{
    return lab_node_is_layer(&c->plan->nodes[node]);
}

static double flop_of_all(const struct counted *c)
{
    double sum = 0;
    for (int i = 0; i < c->plan->n_nodes; i++)
        sum += is_layer(c, i) ? flop_of(c, i) : 0;
    return sum;
}

/* ---- text ---- */

static enum lab_status print_layers(const struct counted *c)
{
    static const char *const heads[] = {"layer",       "op",     "result",
                                        ">parameters", ">MFLOP", NULL};
    struct lab_text_table t;
    struct lab_str text;
    lab_str_init(&text);
    lab_text_table_init(&t, heads);
    for (int i = 0; i < c->plan->n_nodes; i++) {
        const struct lab_node *n = &c->plan->nodes[i];
        char shape[LAB_SHAPE_TEXT];
        if (!is_layer(c, i))
            continue;
        lab_text_table_add(&t, n->id);
        lab_text_table_add(&t, n->op->name);
        lab_text_table_add(
            &t, lab_shape_text(&c->plan->tensors[n->out].shape, shape));
        lab_text_table_add_int(&t, parameters_of(c, i));
        lab_text_table_add_real(&t, flop_of(c, i) / 1e6, 4);
    }
    enum lab_status st = lab_text_table_format(&t, &text);
    if (!st)
        st = lab_print_str(&text);
    lab_str_release(&text);
    return st;
}

static enum lab_status print_text(const struct counted *c)
{
    const struct lab_fused *f = &c->fused;
    int others = f->nodes - f->idle;
    enum lab_status st = print_layers(c);
    if (st)
        return st;
    lab_print_wrap(lab_print_columns(), 7);
    lab_printf(
        stdout,
        "\n%lld parameter%s, %s a sample forward\n\nin inference, "
        "of %d layer%s\n  %4d eliminated: flatten, dropout; %d other%s, or "
        "%d where a batch norm counts as two\n",
        (long long)c->plan->parameter_count,
        c->plan->parameter_count == 1 ? "" : "s", LAB_FLOP_TEXT(flop_of_all(c)),
        f->nodes, f->nodes == 1 ? "" : "s", f->idle, others,
        others == 1 ? "" : "s", others + f->norms);
    lab_printf(stdout, "  %4d eliminated: concat, written in place\n",
               f->joined);
    lab_printf(stdout, "  %4d folded: batch norms, into weights and biases\n",
               f->folded);
    lab_printf(stdout, "  %4d fused vertically: functions and sums\n",
               f->vertical);
    lab_printf(stdout, "  %4d fused horizontally: products of one input\n",
               f->horizontal);
    lab_printf(stdout, "  %4d %s left\n", f->left, f->left == 1 ? "is" : "are");
    lab_print_wrap(0, 0);
    return lab_print_check();
}

/* ---- JSON ---- */

static enum lab_status print_json(const struct counted *c)
{
    const struct lab_fused *f = &c->fused;
    enum lab_status st = LAB_OK;
    for (int i = 0; i < c->plan->n_nodes && !st; i++) {
        const struct lab_node *n = &c->plan->nodes[i];
        if (!is_layer(c, i))
            continue;
        const struct lab_shape *s = &c->plan->tensors[n->out].shape;
        json_t *line = lab_json_new("layer");
        lab_json_text(line, "layer", n->id);
        lab_json_text(line, "op", n->op->name);
        lab_json_ints(line, "result", s->dim, (size_t)s->rank);
        lab_json_int(line, "parameters", parameters_of(c, i));
        lab_json_real(line, "flop", flop_of(c, i));
        st = lab_json_print(line);
    }
    if (st)
        return st;
    json_t *line = lab_json_new("layers");
    lab_json_text(line, "network", c->name);
    lab_json_int(line, "parameters", c->plan->parameter_count);
    lab_json_real(line, "flop", flop_of_all(c));
    lab_json_int(line, "layers", f->nodes);
    lab_json_int(line, "batch_norms", f->norms);
    lab_json_int(line, "idle", f->idle);
    lab_json_int(line, "joined", f->joined);
    lab_json_int(line, "folded", f->folded);
    lab_json_int(line, "vertical", f->vertical);
    lab_json_int(line, "horizontal", f->horizontal);
    lab_json_int(line, "left", f->left);
    return lab_json_print(line);
}

/* ---- the command ---- */

static enum lab_status count(struct counted *c, const struct lab_lesson *lesson)
{
    struct lab_data *data = NULL;
    struct lab_data_shapes shapes;
    if (lesson->kind == LAB_LESSON_LAB)
        return lab_fail(LAB_E_USAGE,
                        "[demo.layers-lab] %s is a lab and has no network",
                        c->name);
    enum lab_status st = lab_data_open(&data, &lesson->spec, NULL, 0, NULL);
    if (st)
        return st;
    lab_data_get_shapes(data, &shapes);
    st = lab_plan_build(&c->plan, &lesson->spec, &shapes, LAB_F32);
    if (!st)
        st = lab_fuse(&c->fused, c->plan);
    if (!st)
        st = c->o->json ? print_json(c) : print_text(c);
    lab_fused_release(&c->fused);
    lab_plan_free(c->plan);
    lab_data_free(data);
    return st;
}

static void take_lesson(struct lab_options *o, struct argp_state *state)
{
    struct lab_str models;
    lab_str_init(&models);
    if (o->n_words != 1) {
        lab_catalog_models(&models);
        lab_usage_error(state, "[usage.network] one network: a lesson's%s%s",
                        models.len ? ", or one of " : "",
                        lab_str_text(&models));
    }
    lab_str_release(&models);
    o->lesson = o->words[0];
}

static int cmd_layers(int argc, char **argv)
{
    static const struct lab_command_line line = {
        .name = "lapenna-lab lab layers",
        .commands = LAB_FOR_LAYERS,
        .args = "LESSON",
        .doc = "A network's layers with their parameters and operations, and "
               "what fusing leaves of them in inference. LESSON is a lesson, "
               "or a network that is only counted; without LESSON their names "
               "are printed.",
        .check = take_lesson};
    struct lab_options o;
    struct lab_lesson *lesson = NULL;
    lab_options_parse(&o, argc, argv, &line);
    struct counted c = {.o = &o, .name = o.lesson};
    enum lab_status st = lab_lesson_open(&lesson, o.lesson);
    if (!st)
        st = count(&c, lesson);
    lab_lesson_free(lesson);
    return lab_exit_error(st);
}

const struct lab_demo_row lab_demo_row_layers = {
    .word = "layers",
    .takes = "LESSON",
    .text = "a network's layers, counted, and what fusing leaves",
    .run = cmd_layers};
