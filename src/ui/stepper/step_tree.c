/* step_tree.c -- the steps of a plan as a tree of groups: what is open, and
 * which row shows what. */
#include "step_tree.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { DEEPEST = 8 };

void lab_step_tree_release(struct lab_step_tree *t)
{
    lab_free(t->items);
    lab_free(t->rows);
    lab_free(t->of_step);
    memset(t, 0, sizeof(*t));
}

static void list_rows(struct lab_step_tree *t)
{
    t->n_rows = 0;
    for (int i = 0; i < t->count;) {
        t->rows[t->n_rows++] = i;
        i = t->items[i].folded ? t->items[i].next : i + 1;
    }
}

/* ---- building ---- */

struct making {
    struct lab_step_tree *tree;
    int open[DEEPEST]; /* headers that are open: phase, then node parts */
    int depth;
    const char *node; /* id that open[1..] spell */
    bool failed;
};

static struct lab_tree_item *add_item(struct making *m, const char *name,
                                      size_t n, int step)
{
    struct lab_step_tree *t = m->tree;
    if (lab_grow(&t->items, (size_t)t->count, &t->cap, sizeof(*t->items),
                 "the steps")) {
        m->failed = true;
        return NULL;
    }
    struct lab_tree_item *item = &t->items[t->count++];
    *item = (struct lab_tree_item){
        .step = -1, .parent = m->depth ? m->open[m->depth - 1] : -1};
    item->depth = m->depth;
    item->first = step;
    if (n < sizeof(item->name))
        snprintf(item->name, sizeof(item->name), "%.*s", (int)n, name);
    else
        snprintf(item->name, sizeof(item->name), "%.60s...", name);
    return item;
}

/* Closes headers down to `depth`; what they hold ends before step `end`. */
static void close_to(struct making *m, int depth, int end)
{
    while (m->depth > depth) {
        struct lab_tree_item *item = &m->tree->items[m->open[--m->depth]];
        item->next = m->tree->count;
        item->end = end;
    }
}

static void open_header(struct making *m, const char *name, size_t n, int step)
{
    if (m->depth < DEEPEST && add_item(m, name, n, step))
        m->open[m->depth++] = m->tree->count - 1;
}

/* How many dotted parts two node ids have in common. */
static int common_parts(const char *a, const char *b)
{
    int parts = 0;
    for (size_t i = 0; a && b; i++) {
        bool end_a = a[i] == '\0' || a[i] == '.';
        bool end_b = b[i] == '\0' || b[i] == '.';
        if (end_a && end_b)
            parts++;
        if (a[i] != b[i] || a[i] == '\0')
            break;
    }
    return parts;
}

/* Opens the headers of a node, from the part that differs on. */
static void open_node(struct making *m, const char *id, int step)
{
    int same = common_parts(m->node, id);
    close_to(m, 1 + same, step);
    const char *part = id;
    for (int i = 0; part && *part; i++) {
        const char *dot = strchr(part, '.');
        size_t n = dot ? (size_t)(dot - part) : strlen(part);
        if (i >= m->depth - 1)
            open_header(m, part, n, step);
        part = dot ? dot + 1 : NULL;
    }
    m->node = id;
}

static const char *leaf_name(const char *step, const char *node)
{
    size_t n = strlen(node);
    if (strncmp(step, node, n) == 0 && step[n] == '.' && step[n + 1])
        return step + n + 1;
    return step;
}

/* Whether step i is the only one of its node in its phase; the last of a
 * block's inner nodes has the block's id, and is not alone among them. */
static bool stands_alone(const struct lab_plan *plan,
                         const struct lab_schedule *s, int i)
{
    const struct lab_schedule_step *a = &s->steps[i];
    const char *id = plan->nodes[a->depth_node].id;
    for (int k = -1; k <= 1; k += 2) {
        if (i + k < 0 || i + k >= s->n_steps)
            continue;
        const struct lab_schedule_step *b = &s->steps[i + k];
        if (b->step->phase == a->step->phase &&
            common_parts(plan->nodes[b->depth_node].id, id) > 0)
            return false;
    }
    return true;
}

static void add_step(struct making *m, const struct lab_plan *plan,
                     const struct lab_schedule *s, int i)
{
    const struct lab_step *step = s->steps[i].step;
    const char *id = plan->nodes[s->steps[i].depth_node].id;
    if (i == 0 || s->steps[i - 1].step->phase != step->phase) {
        close_to(m, 0, i);
        const char *phase = lab_phase_name(step->phase);
        open_header(m, phase, strlen(phase), i);
        m->node = NULL;
    }
    const char *name = step->name;
    const char *dot = strrchr(id, '.');
    bool same = strcmp(id, lab_phase_name(step->phase)) == 0;
    if (same || (stands_alone(plan, s, i) && !dot)) {
        close_to(m, 1, i);
        m->node = NULL;
    } else if (!m->node || strcmp(m->node, id) != 0) {
        open_node(m, id, i);
    }
    if (m->node || same) /* the header above has the node's name */
        name = leaf_name(step->name, id);
    struct lab_tree_item *item = add_item(m, name, strlen(name), i);
    if (!item)
        return;
    item->step = i;
    item->end = i + 1;
    item->next = m->tree->count;
    m->tree->of_step[i] = m->tree->count - 1;
}

static bool same_header(const struct lab_step_tree *a, int i,
                        const struct lab_step_tree *b, int k)
{
    while (i >= 0 && k >= 0) {
        if (strcmp(a->items[i].name, b->items[k].name) != 0)
            return false;
        i = a->items[i].parent;
        k = b->items[k].parent;
    }
    return i < 0 && k < 0;
}

/* Folds in `t` what is folded in `old`. Headers of both are in the same
 * order unless the schedule changed, so the search goes on where it ended. */
static void keep_folds(struct lab_step_tree *t, const struct lab_step_tree *old)
{
    int at = 0;
    for (int i = 0; i < old->count; i++) {
        if (!old->items[i].folded)
            continue;
        for (int k = at; k < t->count; k++) {
            if (t->items[k].step < 0 && same_header(old, i, t, k)) {
                t->items[k].folded = true;
                at = k + 1;
                break;
            }
        }
    }
}

enum lab_status lab_step_tree_build(struct lab_step_tree *t,
                                    const struct lab_plan *plan,
                                    const struct lab_schedule *schedule)
{
    struct lab_step_tree next = {0};
    struct making m = {.tree = &next};
    next.of_step =
        lab_alloc_array((size_t)schedule->n_steps + 1, sizeof(*next.of_step));
    m.failed = !next.of_step;
    for (int i = 0; i < schedule->n_steps && !m.failed; i++)
        add_step(&m, plan, schedule, i);
    if (!m.failed) {
        close_to(&m, 0, schedule->n_steps);
        next.rows = lab_alloc_array((size_t)next.count + 1, sizeof(*next.rows));
        m.failed = !next.rows;
    }
    if (m.failed) {
        lab_step_tree_release(&next);
        return lab_no_memory("the list of steps");
    }
    keep_folds(&next, t);
    list_rows(&next);
    lab_step_tree_release(t);
    *t = next;
    return LAB_OK;
}

/* ---- folding ---- */

int lab_step_tree_row(const struct lab_step_tree *t, int item)
{
    int low = 0;
    int high = t->n_rows - 1;
    if (item < 0 || item >= t->count)
        return -1;
    /* Rows ascend; the last one that is not after the item shows or hides it.
     */
    while (low < high) {
        int mid = low + (high - low + 1) / 2;
        if (t->rows[mid] <= item)
            low = mid;
        else
            high = mid - 1;
    }
    return t->n_rows > 0 ? low : -1;
}

void lab_step_tree_fold(struct lab_step_tree *t, int item, bool folded)
{
    if (item < 0 || item >= t->count || t->items[item].step >= 0)
        return;
    t->items[item].folded = folded;
    list_rows(t);
}

void lab_step_tree_fold_all(struct lab_step_tree *t, bool folded)
{
    if (!t->rows)
        return;
    for (int i = 0; i < t->count; i++)
        if (t->items[i].step < 0 && t->items[i].depth > 0)
            t->items[i].folded = folded;
    list_rows(t);
}

void lab_step_tree_reveal(struct lab_step_tree *t, int item)
{
    bool changed = false;
    if (item < 0 || item >= t->count)
        return;
    for (int i = t->items[item].parent; i >= 0; i = t->items[i].parent) {
        changed = changed || t->items[i].folded;
        t->items[i].folded = false;
    }
    if (changed)
        list_rows(t);
}
