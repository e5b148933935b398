/* compare_label.c -- labels of a comparison, cut to the room of a line and
 * still different, and the notes on its wall time. */
#include "report/compare_label.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/mem.h"

const char *lab_compare_name(const struct lab_time_sum *s)
{
    const char *name = NULL;
    switch (s->level) {
    case LAB_SUM_KERNEL:
        name = s->kernel_short ? s->kernel_short : s->kernel;
        break;
    case LAB_SUM_STEP:
        name = lab_time_sum_step(s);
        break;
    case LAB_SUM_NODE:
        name = s->node;
        break;
    case LAB_SUM_PHASE:
        name = s->phase;
        break;
    default:
        break;
    }
    return name ? name : "";
}

void lab_compare_label(const struct lab_time_sum *s,
                       char out[LAB_COMPARE_LABEL])
{
    static const char *const phases[] = {"fwd ", "loss", "bwd ", "upd "};
    bool known = s->phase_id >= 0 && s->phase_id < 4;
    const char *phase = known ? phases[s->phase_id] : "    ";
    const char *step = lab_time_sum_step(s);
    const char *name = lab_compare_name(s);
    if (s->level == LAB_SUM_ITERATION)
        snprintf(out, LAB_COMPARE_LABEL, "all steps");
    else if (s->level == LAB_SUM_PHASE)
        snprintf(out, LAB_COMPARE_LABEL, "%s", s->phase ? s->phase : LAB_NA);
    else if (s->level == LAB_SUM_KERNEL && s->bench_name)
        snprintf(out, LAB_COMPARE_LABEL, "%s: %s", step, name);
    else if (s->level == LAB_SUM_KERNEL && step)
        snprintf(out, LAB_COMPARE_LABEL, "%s %s: %s", phase, step, name);
    else if (s->level == LAB_SUM_KERNEL ||
             s->bench_name) /* a lab has no phases */
        snprintf(out, LAB_COMPARE_LABEL, "%s", name);
    else
        snprintf(out, LAB_COMPARE_LABEL, "%s %s", phase, name);
}

/* ---- cutting ---- */

enum {
    LEAST_HEAD = 6, /* "fwd  a": the phase stays */
    LEAST_ROOM = 16
};

static bool inside_character(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

static size_t characters(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += !inside_character(*text);
    return n;
}

/* Past `n` characters. */
static const char *skip(const char *text, size_t n)
{
    while (*text && (n > 0 || inside_character(*text)))
        n -= !inside_character(*text++);
    return text;
}

/* The first `head` characters, dots, and as many of the last as there is room
 * for. */
static void cut(struct lab_compare_label *label, size_t room, size_t head)
{
    const char *whole = label->whole;
    size_t n = characters(whole);
    if (n <= room) {
        snprintf(label->text, sizeof(label->text), "%s", whole);
        return;
    }
    snprintf(label->text, sizeof(label->text), "%.*s..%s",
             (int)(skip(whole, head) - whole), whole,
             skip(whole, n - (room - head - 2)));
}

/* ---- telling them apart ---- */

static int by_text(const void *a, const void *b)
{
    const struct lab_compare_label *x =
        *(const struct lab_compare_label *const *)a;
    const struct lab_compare_label *y =
        *(const struct lab_compare_label *const *)b;
    int order = strcmp(x->text, y->text);
    return order ? order : strcmp(x->whole, y->whole);
}

static bool clash(const struct lab_compare_label *a,
                  const struct lab_compare_label *b)
{
    return strcmp(a->text, b->text) == 0 && strcmp(a->whole, b->whole) != 0;
}

/* How many from the first on were cut to the same text; *differ where they are
 * not all the same name. */
static size_t group_of(struct lab_compare_label **labels, size_t n,
                       bool *differ)
{
    size_t count = 1;
    *differ = false;
    while (count < n && strcmp(labels[count]->text, labels[0]->text) == 0) {
        *differ = *differ || clash(labels[count], labels[0]);
        count++;
    }
    return count;
}

/* Cuts a group elsewhere, so that its names differ. */
static bool cut_at(struct lab_compare_label **group, size_t n, size_t room,
                   size_t head)
{
    if (head < LEAST_HEAD || head + 2 > room)
        return false;
    for (size_t i = 0; i < n; i++)
        cut(group[i], room, head);
    qsort(group, n, sizeof(*group), by_text);
    for (size_t i = 1; i < n; i++)
        if (clash(group[i], group[i - 1]))
            return false;
    return true;
}

static void cut_group(struct lab_compare_label **group, size_t n, size_t room)
{
    size_t middle = room / 2 - 2;
    for (size_t off = 1; off < room; off++)
        if (cut_at(group, n, room, middle + off) ||
            (off < middle && cut_at(group, n, room, middle - off)))
            return;
    for (size_t i = 0; i < n; i++)
        cut(group[i], room, middle);
    qsort(group, n, sizeof(*group), by_text);
}

/* Names that no cut tells apart end in a number of their own, "~7". */
static void number_group(struct lab_compare_label **group, size_t n,
                         size_t room, int *number)
{
    char suffix[16];
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(group[i]->whole, group[i - 1]->whole) != 0)
            ++*number;
        int bytes = snprintf(suffix, sizeof(suffix), "~%d", *number);
        char *end = (char *)skip(group[i]->text, room - (size_t)bytes);
        snprintf(end, (size_t)(group[i]->text + sizeof(group[i]->text) - end),
                 "%s", suffix);
    }
}

static void for_groups(struct lab_compare_label **labels, size_t n, size_t room,
                       int *number)
{
    bool differ;
    qsort(labels, n, sizeof(*labels), by_text);
    for (size_t i = 0, count; i < n; i += count) {
        count = group_of(labels + i, n - i, &differ);
        if (differ && number)
            number_group(labels + i, count, room, number);
        else if (differ)
            cut_group(labels + i, count, room);
    }
}

/* ---- a step of several variants ---- */

static int by_whole(const void *a, const void *b)
{
    const struct lab_compare_label *x =
        *(const struct lab_compare_label *const *)a;
    const struct lab_compare_label *y =
        *(const struct lab_compare_label *const *)b;
    return strcmp(x->whole, y->whole);
}

/* "fwd  fc1.matmul" becomes "fwd  fc1.matmul (blas)", or "(naive, blas)" where
 * the runs' variants differ. */
static void add_variant(struct lab_compare_label *label,
                        const struct lab_compare_row *row)
{
    const struct lab_time_sum *s = lab_compare_either(row);
    const struct lab_time_sum *other = row->side[LAB_SIDE_B];
    size_t used = strlen(label->whole);
    bool differ = s->variant && other && other->variant &&
                  strcmp(s->variant, other->variant) != 0;
    if (s->variant)
        snprintf(label->whole + used, sizeof(label->whole) - used, " (%s%s%s)",
                 s->variant, differ ? ", " : "", differ ? other->variant : "");
}

/* Rows of one name get their variants: a step that ran with several has a row
 * for each. `order` holds the labels' addresses. */
static void tell_variants(struct lab_labels *labels,
                          struct lab_compare_label **order,
                          const struct lab_compare_row *rows,
                          const size_t *list)
{
    qsort(order, labels->count, sizeof(*order), by_whole);
    for (size_t i = 0, end; i < labels->count; i = end) {
        for (end = i + 1; end < labels->count; end++)
            if (strcmp(order[end]->whole, order[i]->whole) != 0)
                break;
        for (size_t k = i; end > i + 1 && k < end; k++)
            add_variant(order[k], &rows[list[order[k] - labels->items]]);
    }
}

enum lab_status lab_labels_make(struct lab_labels *out, size_t room,
                                const struct lab_compare_row *rows,
                                const size_t *list, size_t n)
{
    int number = 0;
    size_t width = room == 0           ? LAB_COMPARE_LABEL
                   : room < LEAST_ROOM ? LEAST_ROOM
                                       : room;
    struct lab_compare_label **order = lab_alloc_array(n + 1, sizeof(*order));
    *out = (struct lab_labels){lab_alloc_array(n + 1, sizeof(*out->items)), n};
    if (!out->items || !order) {
        lab_free(order);
        lab_labels_release(out);
        return lab_no_memory("the names of a table");
    }
    for (size_t i = 0; i < n; i++) {
        lab_compare_label(lab_compare_either(&rows[list[i]]),
                          out->items[i].whole);
        order[i] = &out->items[i];
    }
    tell_variants(out, order, rows, list);
    for (size_t i = 0; i < n; i++)
        cut(&out->items[i], width, width / 2 - 2);
    for_groups(order, n, width, NULL);
    for_groups(order, n, width, &number); /* what still clashes */
    lab_free(order);
    return LAB_OK;
}

void lab_labels_release(struct lab_labels *labels)
{
    lab_free(labels->items);
    *labels = (struct lab_labels){0};
}

/* ---- notes on the wall time ---- */

static bool all_unknown(const struct lab_time_breakdown *w)
{
    for (int i = 0; i < LAB_WALL_PARTS; i++)
        if (w->why[i] != w->why[0])
            return false;
    return w->why[0] != NULL;
}

static void add_parts(const struct lab_time_breakdown *w, const char *why,
                      struct lab_str *out)
{
    const char *between = "";
    for (int i = 0; i < LAB_WALL_PARTS; i++) {
        if (w->why[i] != why)
            continue;
        lab_str_addf(out, "%s\"%s\"", between,
                     lab_time_part_name((enum lab_time_part)i));
        between = ", ";
    }
}

static void add_notes(const struct lab_time_breakdown *w, const char *owner,
                      struct lab_str *out)
{
    for (int i = 0; i < LAB_WALL_PARTS; i++) {
        bool noted = w->why[i] == NULL;
        for (int k = 0; k < i && !noted; k++)
            noted = w->why[k] == w->why[i];
        if (noted)
            continue;
        int parts = 0;
        for (int k = i; k < LAB_WALL_PARTS; k++)
            parts += w->why[k] == w->why[i];
        lab_str_add(out, "- ");
        if (all_unknown(w))
            lab_str_add(out, "no part");
        else
            add_parts(w, w->why[i], out);
        lab_str_addf(out, " %s known in %s (%s)\n",
                     all_unknown(w) ? "is"
                     : parts == 1   ? "is not"
                                    : "are not",
                     owner, w->why[i]);
    }
}

/* "Iteration 5 of run 3, in the middle of 20" */
static void add_iteration(const struct lab_comparison *c, int side,
                          struct lab_str *out)
{
    const struct lab_time_breakdown *w = &c->wall[side];
    if (w->iteration == LAB_UNKNOWN)
        return;
    lab_str_addf(out, "Iteration %lld of run %lld", (long long)w->iteration,
                 (long long)c->run[side].run);
    if (w->recorded > 1)
        lab_str_addf(out, ", the median of %lld recorded",
                     (long long)w->recorded);
    int64_t all = c->run[side].iteration_median_ns;
    int64_t off = all != LAB_UNKNOWN && w->wall_ns != LAB_UNKNOWN
                      ? llabs(w->wall_ns - all)
                      : 0;
    if (w->iteration > 0 && off > 0 && off > all / 50)
        lab_str_addf(out, ": %s, where the median of all %lld is %s",
                     LAB_NS_TEXT((double)w->wall_ns),
                     (long long)c->run[side].iterations,
                     LAB_NS_TEXT((double)all));
    if (w->iteration == 0)
        lab_str_add(
            out,
            ", the warm-up iteration: kernels and libraries are loaded in it");
    lab_str_add(out, ".\n");
}

void lab_compare_wall_notes(const struct lab_comparison *c, struct lab_str *out)
{
    const struct lab_time_breakdown *w = c->wall;
    bool same = true;
    char owner[32];
    for (int i = 0; i < LAB_WALL_PARTS; i++)
        same = same && w[LAB_SIDE_A].why[i] == w[LAB_SIDE_B].why[i];
    for (int side = 0; side < LAB_SIDES; side++)
        add_iteration(c, side, out);
    for (int side = 0; side < (same ? 1 : LAB_SIDES); side++) {
        snprintf(owner, sizeof(owner), "run %lld", (long long)c->run[side].run);
        add_notes(&w[side], same ? "either run" : owner, out);
    }
}
