/* network.c -- what a lesson asks for, before it is built: memory and errors of
 * the specification. */
#include "engine/network.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/vocabulary.h"

void lab_vocabulary_free(struct lab_vocabulary *v)
{
    if (!v)
        return;
    for (int64_t i = 0; i < v->n; i++)
        lab_free(v->word[i]);
    lab_free(v->word);
    lab_free(v->times);
    lab_names_release(&v->ids);
    lab_free(v);
}

static const char *const source_names[LAB_DATA_SOURCE_COUNT] = {
    "inline", "digits", "mnist", "fibonacci",
    "text",   "csv",    "words", "reverse"};

void lab_network_spec_init(struct lab_network_spec *spec)
{
    *spec = (struct lab_network_spec){0};
    spec->data.label_column = -1;
    spec->data.scale = 1;
    spec->data.shuffle = true;
    spec->seed = 1;
}

static void tensor_spec_release(struct lab_tensor_spec *t)
{
    lab_free(t->name);
    lab_free(t->values);
}

static void node_spec_release(struct lab_node_spec *n)
{
    lab_free(n->id);
    for (int i = 0; i < n->n_from; i++)
        lab_free(n->from[i]);
    lab_free(n->from);
}

static void free_strings(char **list, int n)
{
    for (int i = 0; i < n; i++)
        lab_free(list[i]);
    lab_free(list);
}

static void release_debugging(struct lab_network_spec *spec)
{
    for (int i = 0; i < spec->n_variants; i++) {
        lab_free(spec->variants[i].target);
        lab_free(spec->variants[i].variant);
    }
    lab_free(spec->variants);
    free_strings(spec->watch, spec->n_watch);
    for (int i = 0; i < spec->n_breaks; i++)
        lab_free(spec->breaks[i].step);
    lab_free(spec->breaks);
    for (int i = 0; i < spec->n_printed; i++) {
        lab_free(spec->printed[i].tensor);
        lab_free(spec->printed[i].values);
        lab_free(spec->printed[i].where);
        lab_free(spec->printed[i].note);
    }
    lab_free(spec->printed);
}

void lab_network_spec_release(struct lab_network_spec *spec)
{
    lab_free(spec->file);
    lab_free(spec->title);
    lab_free(spec->data.path);
    for (int i = 0; i < spec->data.n_tensors; i++)
        tensor_spec_release(&spec->data.tensors[i]);
    lab_free(spec->data.tensors);
    lab_vocabulary_free(spec->data.words);
    for (int i = 0; i < spec->n_nodes; i++)
        node_spec_release(&spec->nodes[i]);
    lab_free(spec->nodes);
    node_spec_release(&spec->loss);
    node_spec_release(&spec->optimizer);
    for (int i = 0; i < spec->n_parameters; i++)
        tensor_spec_release(&spec->parameters[i]);
    lab_free(spec->parameters);
    release_debugging(spec);
    lab_network_spec_init(spec);
}

enum lab_status lab_network_fail(const struct lab_network_spec *spec,
                                 struct lab_place place, enum lab_status st,
                                 const char *fmt, ...)
{
    char text[768];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    const char *file = spec->file ? spec->file : "lesson";
    if (place.line == 0)
        return lab_fail(st, "%s: %s", file, text);
    return lab_fail(st, "%s:%d:%d: %s", file, place.line, place.column, text);
}

struct lab_node_spec lab_network_optimizer(const struct lab_network_spec *spec)
{
    struct lab_node_spec n = spec->optimizer;
    if (n.op)
        return n;
    n.op = lab_op_find("sgd", LAB_KIND_OPTIMIZER);
    lab_op_defaults(n.op, n.attr);
    return n;
}

double lab_network_lr(const struct lab_network_spec *spec)
{
    struct lab_node_spec n = lab_network_optimizer(spec);
    return n.attr[lab_op_key(n.op, "lr")].f;
}

void lab_network_set_lr(struct lab_network_spec *spec, double lr)
{
    spec->optimizer = lab_network_optimizer(spec);
    spec->optimizer.attr[lab_op_key(spec->optimizer.op, "lr")].f = lr;
}

enum lab_status lab_lr_read(const char *text, double *out)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !(v <= LAB_LR_MOST) || !((float)v > 0))
        return lab_fail(LAB_E_PARSE,
                        "\"%s\" is no learning rate: a number above 0, up to "
                        "%d, is needed",
                        text, LAB_LR_MOST);
    *out = v;
    return LAB_OK;
}

enum lab_precision lab_precision_find(const char *name)
{
    for (int p = 0; p < LAB_FP64; p++) {
        if (strcmp(name, lab_precision_name((enum lab_precision)p)) == 0)
            return (enum lab_precision)p;
    }
    return LAB_PRECISION_COUNT;
}

const char *lab_data_source_more(enum lab_data_source s)
{
    return s == LAB_DATA_REVERSE ? "decoder" : NULL;
}

const char *lab_data_source_name(enum lab_data_source s)
{
    return (unsigned)s < LAB_DATA_SOURCE_COUNT ? source_names[s] : "?";
}
