/* front_lab.c -- the front matter of a lab: a ladder, its sizes and rungs. */
#include <stdlib.h>
#include <string.h>

#include "engine/ladder.h"
#include "front.h"
#include "labs/cpu_rungs.h"
#include "lesson/lesson.h"

bool lab_front_is_lab(const struct lab_ynode *root)
{
    const struct lab_ynode *kind = lab_y_get(root, "kind");
    return kind && kind->kind == LAB_Y_SCALAR && strcmp(kind->text, "lab") == 0;
}

static const char *const measures[LAB_MEASURES] = {
    [LAB_MEASURE_LADDER] = "ladder",        [LAB_MEASURE_TUNE] = "tune",
    [LAB_MEASURE_CALLS] = "calls",          [LAB_MEASURE_BATCH] = "batch-size",
    [LAB_MEASURE_NETWORK] = "network-size", [LAB_MEASURE_PRODUCTS] = "products",
    [LAB_MEASURE_BACKWARD] = "backward",
};

const char *lab_measure_name(enum lab_measure m)
{
    return (unsigned)m < LAB_MEASURES ? measures[m] : "?";
}

bool lab_front_is_sweep(const struct lab_ynode *root)
{
    const struct lab_ynode *node = lab_y_get(root, "measures");
    if (!node || node->kind != LAB_Y_SCALAR)
        return false;
    for (int m = LAB_MEASURE_BATCH; m < LAB_MEASURES; m++) {
        if (strcmp(node->text, measures[m]) == 0)
            return true;
    }
    return false;
}

/* `measures`, and the lesson that it is about. */
static enum lab_status read_measure(struct lab_front *f,
                                    const struct lab_ynode *root,
                                    struct lab_lesson_lab *out)
{
    const struct lab_ynode *node = lab_y_get(root, "measures");
    const struct lab_ynode *of = lab_y_get(root, "of");
    const struct lab_ynode *lab = lab_y_get(root, "lab");
    size_t which = LAB_MEASURE_LADDER;
    enum lab_status st = LAB_OK;
    if (node)
        st = lab_y_choice(f->r, node, "measures", measures, LAB_MEASURES,
                          &which);
    out->measures = (enum lab_measure)which;
    bool network = which >= LAB_MEASURE_BATCH;
    if (!st && network && !of)
        st = lab_y_fail(f->r, node, LAB_E_PARSE,
                        "%s is of a lesson: name it with of:", measures[which]);
    if (!st && network && lab)
        st = lab_y_fail(f->r, lab, LAB_E_PARSE,
                        "%s is of a lesson, not of a ladder: leave lab out",
                        measures[which]);
    if (!st && !network && of)
        st = lab_y_fail(f->r, of, LAB_E_PARSE,
                        "of: belongs to measures: batch-size, network-size, "
                        "products or backward");
    if (!st && of)
        st = lab_y_want(f->r, of, LAB_Y_SCALAR, "the id of a lesson");
    if (!st && of) {
        out->of = lab_arena_text(f->r->arena, of->text, of->len);
        out->of_place = lab_front_place(of);
        st = out->of ? LAB_OK : lab_y_nomem(f->r);
    }
    return lab_front_pass(st);
}

static enum lab_status read_ladder(struct lab_front *f,
                                   const struct lab_ynode *node,
                                   struct lab_lesson_lab *out,
                                   const struct lab_operation **ladder)
{
    enum { MOST = 64 };
    const char *names[MOST];
    size_t n = 0;
    size_t which = 0;
    for (; n < MOST && lab_ladder_at((int)n); n++)
        names[n] = lab_ladder_at((int)n)->name;
    size_t ladders = n;
    const struct lab_variant *first;
    for (int i = 0; n < MOST && (first = lab_cpu_rung("first", i)); i++)
        names[n++] = first->name;
    enum lab_status st = lab_y_choice(f->r, node, "lab", names, n, &which);
    if (st)
        return st;
    *ladder = which < ladders ? lab_ladder_at((int)which) : NULL;
    out->ladder = names[which];
    return LAB_OK;
}

/* One of the first kernels (labs/first/first.h) has no ladder to climb. */
static enum lab_status refuse_ladder_keys(struct lab_front *f,
                                          const struct lab_ynode *root,
                                          const char *name)
{
    static const char *const keys[] = {"sizes", "cpu_sizes", "variants",
                                       "repeat"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct lab_ynode *node = lab_y_get(root, keys[i]);
        if (node)
            return lab_front_pass(
                lab_y_fail(f->r, node, LAB_E_PARSE,
                           "%s is one kernel, not a ladder: leave `%s` out",
                           name, keys[i]));
    }
    return LAB_OK;
}

/* A batch or a width. */
static bool is_count(const char *text)
{
    return text[0] >= '1' && text[0] <= '9' &&
           strspn(text, "0123456789") == strlen(text) && strlen(text) < 11 &&
           strtoll(text, NULL, 10) <= LAB_COUNT_MAX;
}

/* A scalar as the command line writes it; a size is checked. */
static enum lab_status read_item(struct lab_front *f,
                                 const struct lab_ynode *node,
                                 const struct lab_operation *sizes_of,
                                 bool counts)
{
    struct lab_ladder_size size;
    enum lab_status st =
        lab_y_want(f->r, node, LAB_Y_SCALAR, sizes_of ? "a size" : "a name");
    if (!st && strchr(node->text, ','))
        st = lab_y_fail(f->r, node, LAB_E_PARSE,
                        "'%s' holds a comma: make two of it", node->text);
    if (!st && counts && !is_count(node->text))
        st = lab_y_fail(f->r, node, LAB_E_RANGE,
                        "'%s' is no whole number from 1 to %d", node->text,
                        LAB_COUNT_MAX);
    if (!st && sizes_of &&
        lab_ladder_size(sizes_of, node->text, node->len, &size))
        st = lab_y_fail(f->r, node, LAB_E_RANGE, "%s", lab_error());
    return st;
}

/* A list as one text with commas. `sizes_of` NULL: names of variants, or with
 * `counts` whole numbers. */
static enum lab_status read_list(struct lab_front *f,
                                 const struct lab_ynode *node,
                                 const struct lab_operation *sizes_of,
                                 bool counts, const char **out)
{
    struct lab_str text;
    enum lab_status st = LAB_OK;
    if (!node)
        return LAB_OK;
    st = lab_y_want(f->r, node, LAB_Y_LIST, "a list");
    if (!st && node->count == 0)
        st = lab_y_fail(f->r, node, LAB_E_PARSE,
                        "an empty list: leave it out, or name one");
    if (st)
        return lab_front_pass(st);
    lab_str_init(&text);
    for (const struct lab_ynode *n = node->first; n && !st; n = n->next) {
        st = read_item(f, n, sizes_of, counts);
        if (!st && text.len)
            lab_str_add_char(&text, ',');
        if (!st)
            lab_str_add(&text, n->text);
    }
    if (!st && text.failed)
        st = lab_y_nomem(f->r);
    if (!st)
        *out = lab_arena_text(f->r->arena, text.data, text.len);
    if (!st && !*out)
        st = lab_y_nomem(f->r);
    lab_str_release(&text);
    return lab_front_pass(st);
}

static enum lab_status read_precisions(struct lab_front *f,
                                       const struct lab_ynode *node,
                                       unsigned *out)
{
    const char *names[LAB_PRECISION_COUNT];
    enum lab_status st = LAB_OK;
    if (!node)
        return LAB_OK;
    for (int i = 0; i < LAB_PRECISION_COUNT; i++)
        names[i] = lab_precision_name((enum lab_precision)i);
    st = lab_y_want(f->r, node, LAB_Y_LIST, "a list");
    if (!st && node->count == 0)
        st = lab_y_fail(f->r, node, LAB_E_PARSE,
                        "an empty list: leave it out, or name one");
    for (const struct lab_ynode *n = node->first; n && !st; n = n->next) {
        size_t which = 0;
        st = lab_y_choice(f->r, n, "precision", names, LAB_PRECISION_COUNT,
                          &which);
        if (!st)
            *out |= 1u << which;
    }
    return lab_front_pass(st);
}

enum lab_status lab_front_lab(struct lab_front *f, const struct lab_ynode *root,
                              struct lab_lesson_lab *out)
{
    const struct lab_operation *ladder = NULL;
    const struct lab_ynode *lab = lab_y_get(root, "lab");
    const struct lab_ynode *repeat = lab_y_get(root, "repeat");
    const struct lab_ynode *variants = lab_y_get(root, "variants");
    enum lab_status st = read_measure(f, root, out);
    if (!st && lab)
        st = lab_front_pass(read_ladder(f, lab, out, &ladder));
    if (!st && out->ladder && !ladder)
        return refuse_ladder_keys(f, root, out->ladder);
    bool counts = out->measures >= LAB_MEASURE_BATCH;
    if (!st && (ladder || counts))
        st =
            read_list(f, lab_y_get(root, "sizes"), ladder, counts, &out->sizes);
    if (!st && (ladder || counts))
        st = read_list(f, lab_y_get(root, "cpu_sizes"), ladder, counts,
                       &out->cpu_sizes);
    if (!st)
        st = read_list(f, variants, NULL, false, &out->variants);
    if (!st && variants)
        out->variants_place = lab_front_place(variants);
    if (!st)
        st =
            read_precisions(f, lab_y_get(root, "precisions"), &out->precisions);
    if (!st && repeat)
        st = lab_front_pass(lab_y_int(f->r, repeat, LAB_LADDER_REPEATS_MIN,
                                      LAB_LADDER_REPEATS_MAX, &out->repeat));
    if (!st && lab_y_get(root, "slide"))
        st = lab_front_slides(f, lab_y_get(root, "slide"), ladder, out);
    return st;
}
