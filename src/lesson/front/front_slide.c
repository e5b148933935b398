/* front_slide.c -- figures of a lab that course material prints: `slide`. */
#include <math.h>
#include <string.h>

#include "engine/ladder.h"
#include "front.h"
#include "lesson/lesson.h"

enum { SHOWN_BYTES = 40, LABEL_BYTES = 80 };

/* Rates of arithmetic and of memory, times of one call, and its workspace. */
static const char *const units[] = {
    "GFLOP/s", "TFLOP/s", "GB/s", "TB/s", "ns", "us", "ms", "s", "MB", "MiB"};

struct taking {
    struct lab_front *f;
    const struct lab_operation *ladder;
    struct lab_lesson_slide *out;
};

static enum lab_status take_label(struct lab_reader *r,
                                  const struct lab_ynode *node, void *user)
{
    struct taking *t = user;
    return lab_y_text(r, node, LABEL_BYTES, &t->out->label);
}

static enum lab_status take_size(struct lab_reader *r,
                                 const struct lab_ynode *node, void *user)
{
    struct taking *t = user;
    struct lab_ladder_size size;
    enum lab_status st = lab_y_text(r, node, LABEL_BYTES, &t->out->size);
    if (!st && t->ladder &&
        lab_ladder_size(t->ladder, node->text, node->len, &size))
        st = lab_y_fail(r, node, LAB_E_RANGE, "%s", lab_error());
    return st;
}

static enum lab_status take_value(struct lab_reader *r,
                                  const struct lab_ynode *node, void *user)
{
    struct taking *t = user;
    enum lab_status st = lab_y_number(r, node, &t->out->value, NULL);
    if (!st && t->out->value < 0)
        st = lab_y_fail(r, node, LAB_E_RANGE, "value: %.*s is below 0",
                        SHOWN_BYTES, node->text);
    return st;
}

static enum lab_status take_unit(struct lab_reader *r,
                                 const struct lab_ynode *node, void *user)
{
    struct taking *t = user;
    size_t which = 0;
    enum lab_status st = lab_y_choice(r, node, "unit", units,
                                      sizeof(units) / sizeof(*units), &which);
    if (!st)
        t->out->unit = units[which];
    return st;
}

static enum lab_status take_machine(struct lab_reader *r,
                                    const struct lab_ynode *node, void *user)
{
    struct taking *t = user;
    return lab_y_text(r, node, LABEL_BYTES, &t->out->machine);
}

static enum lab_status take_source(struct lab_reader *r,
                                   const struct lab_ynode *node, void *user)
{
    struct taking *t = user;
    return lab_y_text(r, node, LAB_FRONT_TEXT_BYTES, &t->out->source);
}

static enum lab_status take_rung(struct lab_reader *r,
                                 const struct lab_ynode *node, void *user)
{
    struct taking *t = user;
    return lab_y_text(r, node, LAB_FRONT_NAME_BYTES, &t->out->rung);
}

static enum lab_status take_slide_precision(struct lab_reader *r,
                                            const struct lab_ynode *node,
                                            void *user)
{
    struct taking *t = user;
    const char *names[LAB_PRECISION_COUNT];
    size_t which = 0;
    for (int i = 0; i < LAB_PRECISION_COUNT; i++)
        names[i] = lab_precision_name((enum lab_precision)i);
    enum lab_status st =
        lab_y_choice(r, node, "precision", names, LAB_PRECISION_COUNT, &which);
    if (!st)
        t->out->precision = lab_precision_name((enum lab_precision)which);
    return st;
}

static enum lab_status read_row(struct lab_front *f,
                                const struct lab_ynode *node,
                                const struct lab_operation *ladder,
                                struct lab_lesson_slide *out)
{
    static const struct lab_ykey keys[] = {
        {"label", take_label},     {"size", take_size},
        {"value", take_value},     {"unit", take_unit},
        {"machine", take_machine}, {"source", take_source},
        {"rung", take_rung},       {"precision", take_slide_precision}};
    enum { MUST = 6 }; /* all but the last two */
    struct taking t = {.f = f, .ladder = ladder, .out = out};
    out->place = lab_front_place(node);
    enum lab_status st =
        lab_y_want(f->r, node, LAB_Y_MAP,
                   "a mapping with label, size, value, unit, machine, source");
    if (!st)
        st = lab_y_keys(f->r, node, keys, sizeof(keys) / sizeof(*keys), &t);
    for (size_t i = 0; i < MUST && st != LAB_E_NOMEM; i++) {
        if (node->kind == LAB_Y_MAP && !lab_y_get(node, keys[i].name))
            st = lab_y_fail(f->r, node, LAB_E_PARSE,
                            "a row of slide has no %s: add it", keys[i].name);
    }
    return st;
}

enum lab_status lab_front_slides(struct lab_front *f,
                                 const struct lab_ynode *node,
                                 const struct lab_operation *ladder,
                                 struct lab_lesson_lab *out)
{
    enum lab_status st = lab_y_want(f->r, node, LAB_Y_LIST, "a list of rows");
    if (!st && node->count == 0)
        st = lab_y_fail(f->r, node, LAB_E_PARSE,
                        "slide: an empty list: leave it out, or add a row");
    if (st)
        return lab_front_pass(st);
    struct lab_lesson_slide *rows =
        lab_arena_array(f->r->arena, (size_t)node->count, sizeof(*rows));
    if (!rows)
        return lab_y_nomem(f->r);
    out->slides = rows;
    for (const struct lab_ynode *n = node->first; n; n = n->next) {
        struct lab_lesson_slide *row = &rows[out->n_slides];
        *row = (struct lab_lesson_slide){.value = NAN};
        st = read_row(f, n, ladder, row);
        if (st == LAB_E_NOMEM)
            return st;
        out->n_slides++;
    }
    return LAB_OK;
}
