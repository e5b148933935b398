/* front_lab.c -- the front matter of a lab: a ladder, its sizes and rungs. */
#include <string.h>

#include "engine/ladder.h"
#include "front.h"
#include "lesson/lesson.h"

bool lab_front_is_lab(const struct lab_ynode *root)
{
    const struct lab_ynode *kind = lab_y_get(root, "kind");
    return kind && kind->kind == LAB_Y_SCALAR && strcmp(kind->text, "lab") == 0;
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
    enum lab_status st = lab_y_choice(f->r, node, "lab", names, n, &which);
    if (st)
        return st;
    *ladder = lab_ladder_at((int)which);
    out->ladder = (*ladder)->name;
    return LAB_OK;
}

/* A scalar as the command line writes it; a size is checked. */
static enum lab_status read_item(struct lab_front *f,
                                 const struct lab_ynode *node,
                                 const struct lab_operation *sizes_of)
{
    struct lab_ladder_size size;
    enum lab_status st =
        lab_y_want(f->r, node, LAB_Y_SCALAR, sizes_of ? "a size" : "a name");
    if (!st && strchr(node->text, ','))
        st = lab_y_fail(f->r, node, LAB_E_PARSE,
                        "'%s' holds a comma: make two of it", node->text);
    if (!st && sizes_of &&
        lab_ladder_size(sizes_of, node->text, node->len, &size))
        st = lab_y_fail(f->r, node, LAB_E_RANGE, "%s", lab_error());
    return st;
}

/* A list as one text with commas. `sizes_of` NULL: names of variants. */
static enum lab_status read_list(struct lab_front *f,
                                 const struct lab_ynode *node,
                                 const struct lab_operation *sizes_of,
                                 const char **out)
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
        st = read_item(f, n, sizes_of);
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

enum lab_status lab_front_lab(struct lab_front *f, const struct lab_ynode *root,
                              struct lab_lesson_lab *out)
{
    const struct lab_operation *ladder = NULL;
    const struct lab_ynode *lab = lab_y_get(root, "lab");
    const struct lab_ynode *repeat = lab_y_get(root, "repeat");
    enum lab_status st = LAB_OK;
    if (lab)
        st = lab_front_pass(read_ladder(f, lab, out, &ladder));
    if (!st && ladder)
        st = read_list(f, lab_y_get(root, "sizes"), ladder, &out->sizes);
    if (!st && ladder)
        st =
            read_list(f, lab_y_get(root, "cpu_sizes"), ladder, &out->cpu_sizes);
    if (!st)
        st = read_list(f, lab_y_get(root, "variants"), NULL, &out->variants);
    if (!st && repeat)
        st = lab_front_pass(lab_y_int(f->r, repeat, LAB_LADDER_REPEATS_MIN,
                                      LAB_LADDER_REPEATS_MAX, &out->repeat));
    return st;
}
