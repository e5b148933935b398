/* network.c -- what a lesson asks for, before it is built: memory and errors of
 * the specification. */
#include "engine/network.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
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

void lab_network_spec_release(struct lab_network_spec *spec)
{
    lab_vocabulary_free(spec->data.words);
    lab_arena_release(&spec->memory);
    lab_network_spec_init(spec);
}

enum lab_status lab_network_fail_at(const struct lab_network_spec *spec,
                                    struct lab_place place, enum lab_status st)
{
    const char *file = spec->file ? spec->file : "lesson";
    if (place.line == 0)
        return lab_fail_context(st, "%s", file);
    return lab_fail_context(st, "%s:%d:%d", file, place.line, place.column);
}

enum lab_status lab_network_fail(const struct lab_network_spec *spec,
                                 struct lab_place place, enum lab_status st,
                                 const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    lab_failv(st, fmt, args);
    va_end(args);
    return lab_network_fail_at(spec, place, st);
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
                        "[network.rate] \"%s\" is no learning rate: a number "
                        "above 0, up to %d, is needed",
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
