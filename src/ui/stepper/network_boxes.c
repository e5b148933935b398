/* network_boxes.c -- from a plan's nodes to the boxes of its diagram. Nodes that
 * a lesson names as one (a transformer's block) have one box, and so have the
 * steps in time of a recurrence, until they are opened. */
#include "network_boxes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/mem.h"

void lab_network_release(struct lab_network *n)
{
    lab_diagram_release(&n->picture);
    lab_free(n->items);
    lab_free(n->of_step);
    lab_free(n->open);
    memset(n, 0, sizeof(*n));
}

/* ---- what belongs together ---- */

static int last_node(const struct lab_plan *plan)
{
    return plan->loss_node >= 0 && plan->loss_node < plan->n_nodes
               ? plan->loss_node
               : plan->n_nodes - 1;
}

/* Behind the last inner node of the block that begins at `node`. */
static int block_end(const struct lab_plan *plan, int node)
{
    const struct lab_node *first = &plan->nodes[node];
    size_t n = strcspn(first->id, ".");
    int end = node + 1;
    while (first->outer && end < plan->n_nodes && plan->nodes[end].outer &&
           strncmp(plan->nodes[end].id, first->id, n) == 0 &&
           strchr(".", plan->nodes[end].id[n]))
        end++;
    return end;
}

/* The number that ends the name of a step, "gates.3"; -1: none. */
static int number_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    if (!dot || dot[1] < '0' || dot[1] > '9')
        return -1;
    return atoi(dot + 1);
}

/* Steps in time of a node's forward phase; 0: it has none. */
static int times_of(const struct lab_schedule *s, int node)
{
    int most = 0;
    for (int i = 0; i < s->phase_first[LAB_FORWARD + 1]; i++) {
        int k = s->steps[i].depth_node == node
                    ? number_of(s->steps[i].step->name)
                    : -1;
        most = k + 1 > most ? k + 1 : most;
    }
    return most;
}

/* ---- texts ---- */

static double parameters_of(const struct lab_plan *plan, int first, int end)
{
    double sum = 0;
    for (int i = 0; i < plan->n_tensors; i++)
        if (plan->tensors[i].role == LAB_TENSOR_PARAM &&
            plan->tensors[i].node >= first && plan->tensors[i].node < end)
            sum += (double)plan->tensors[i].count;
    return sum;
}

static void put_shape(struct lab_diagram_box *b, const struct lab_shape *s)
{
    size_t cap = sizeof(b->text[0]);
    size_t used = 0;
    for (int i = 0; i < s->rank && used < cap; i++)
        used += (size_t)snprintf(b->text[0] + used, cap - used, "%s%lld",
                                 i ? "x" : "", (long long)s->dim[i]);
}

static bool add_box(struct lab_network *n, const struct lab_plan *plan,
                    const char *name, struct lab_network_item item)
{
    size_t at = (size_t)n->picture.n;
    struct lab_network_item *more =
        lab_realloc_array(n->items, at + 1, sizeof(*more));
    if (!more)
        return false;
    n->items = more;
    n->items[at] = item;
    struct lab_diagram_box *b = lab_diagram_add(&n->picture, name);
    if (!b)
        return false;
    int out = item.first < 0 ? plan->x : plan->nodes[item.end - 1].out;
    if (out >= 0 && item.at < 0)
        put_shape(b, &plan->tensors[out].shape);
    if (item.times > 0)
        snprintf(b->name, sizeof(b->name), "%.30s x%d", name, item.times);
    b->folded = item.times > 0 || item.end - item.first > 1;
    return true;
}

/* ---- boxes ---- */

static bool add_times(struct lab_network *n, const struct lab_plan *plan,
                      int node, int times)
{
    for (int t = 0; t < times; t++) {
        char name[40];
        snprintf(name, sizeof(name), "%.28s[%d]", plan->nodes[node].id, t);
        if (!add_box(n, plan, name,
                     (struct lab_network_item){node, node + 1, t, 0, node}))
            return false;
    }
    return true;
}

static bool add_node(struct lab_network *n, const struct lab_plan *plan,
                     const struct lab_schedule *s, int node, const char *name,
                     int part_of)
{
    int times = times_of(s, node);
    if (times > 1 && n->open[node] && part_of < 0)
        return add_times(n, plan, node, times);
    return add_box(
        n, plan, name,
        (struct lab_network_item){
            node, node + 1, -1, times > 1 && part_of < 0 ? times : 0, part_of});
}

static bool add_nodes(struct lab_network *n, const struct lab_plan *plan,
                      const struct lab_schedule *s)
{
    const char *data = plan->x >= 0 ? plan->tensors[plan->x].name : "data";
    if (!add_box(n, plan, data, (struct lab_network_item){-1, -1, -1, 0, -1}))
        return false;
    for (int i = 0; i <= last_node(plan);) {
        int end = block_end(plan, i);
        char name[40];
        snprintf(name, sizeof(name), "%s", plan->nodes[i].id);
        if (end == i + 1) {
            if (!add_node(n, plan, s, i, name, -1))
                return false;
        } else if (n->open[i]) {
            for (int k = i; k < end; k++)
                if (!add_node(n, plan, s, k, plan->nodes[k].id, i))
                    return false;
        } else {
            name[strcspn(name, ".")] = '\0';
            if (!add_box(n, plan, name,
                         (struct lab_network_item){i, end, -1, 0, -1}))
                return false;
        }
        i = end;
    }
    return true;
}

/* The last box of a node. */
static int box_of(const struct lab_network *n, int node)
{
    for (int i = n->picture.n - 1; i >= 0; i--)
        if (node >= n->items[i].first && node < n->items[i].end)
            return i;
    return 0; /* data */
}

static void join_boxes(struct lab_network *n, const struct lab_plan *plan)
{
    for (int i = 1; i < n->picture.n; i++) {
        const struct lab_network_item *item = &n->items[i];
        if (item->at > 0) { /* reads the step in time before it */
            lab_diagram_join(&n->picture, i - 1, i);
            continue;
        }
        for (int node = item->first; node < item->end; node++)
            for (int k = 0; k < plan->nodes[node].n_in; k++) {
                int t = plan->nodes[node].in[k];
                int from = t < 0 ? -1 : plan->tensors[t].node;
                if (t >= 0 && (from < item->first || from >= item->end))
                    lab_diagram_join(&n->picture,
                                     from < 0 ? 0 : box_of(n, from), i);
            }
    }
}

static void map_steps(struct lab_network *n, const struct lab_schedule *s)
{
    for (int i = 0; i < s->n_steps; i++) {
        int node = s->steps[i].depth_node;
        int t = number_of(s->steps[i].step->name);
        n->of_step[i] = -1;
        for (int k = 0; k < n->picture.n; k++) {
            const struct lab_network_item *item = &n->items[k];
            if (node >= item->first && node < item->end &&
                (item->at < 0 || item->at == t || n->of_step[i] < 0))
                n->of_step[i] = k;
        }
    }
}

enum lab_status lab_network_build(struct lab_network *n,
                                  const struct lab_plan *plan,
                                  const struct lab_schedule *schedule)
{
    lab_diagram_clear(&n->picture);
    if (n->n_nodes != plan->n_nodes) {
        lab_free(n->open);
        n->n_nodes = 0;
        n->open = lab_alloc_array((size_t)plan->n_nodes + 1, sizeof(*n->open));
        if (!n->open)
            return lab_no_memory("the network's picture");
        n->n_nodes = plan->n_nodes;
    }
    lab_free(n->of_step);
    n->of_step =
        lab_alloc_array((size_t)schedule->n_steps + 1, sizeof(*n->of_step));
    if (!n->of_step || !add_nodes(n, plan, schedule)) {
        lab_diagram_clear(&n->picture);
        return lab_no_memory("the network's picture");
    }
    join_boxes(n, plan);
    map_steps(n, schedule);
    for (int i = 0; i < n->picture.n; i++) {
        double params =
            n->items[i].first < 0 || n->items[i].at > 0
                ? 0
                : parameters_of(plan, n->items[i].first, n->items[i].end);
        const char *text = LAB_AMOUNT_TEXT(params, "");
        int digits = (int)strlen(text);
        digits -= digits > 0 && text[digits - 1] == ' ';
        if (params > 0)
            snprintf(n->picture.box[i].text[1],
                     sizeof(n->picture.box[i].text[1]), "%.*s par", digits,
                     text);
    }
    return LAB_OK;
}

bool lab_network_turn(struct lab_network *n, int box)
{
    const struct lab_network_item *item = &n->items[box];
    if (item->first < 0)
        return false;
    if (n->picture.box[box].folded) {
        n->open[item->first] = true;
        return true;
    }
    if (item->part_of >= 0)
        n->open[item->part_of] = false;
    return item->part_of >= 0;
}

/* ---- what changes while it runs ---- */

void lab_network_update(struct lab_network *n, const struct lab_snapshot *snap,
                        int step)
{
    double all = 0;
    struct lab_diagram *d = &n->picture;
    int steps = snap->schedule->n_steps;
    d->lit = step >= 0 && step < steps && d->n ? n->of_step[step] : -1;
    d->backward = step >= 0 && step < steps &&
                  snap->schedule->steps[step].step->phase == LAB_BACKWARD;
    for (int i = 0; i < d->n; i++)
        d->box[i].share = NAN;
    for (int i = 0; i < steps && d->n; i++) {
        double ns = lab_to_real(snap->steps[i].time_ns);
        int k = n->of_step[i];
        if (k < 0 || snap->steps[i].exec <= 0 || isnan(ns))
            continue;
        all += ns;
        d->box[k].share = (isnan(d->box[k].share) ? 0 : d->box[k].share) + ns;
    }
    for (int i = 0; i < d->n && all > 0; i++)
        d->box[i].share /= all;
}

int lab_network_step(const struct lab_network *n, const struct lab_schedule *s,
                     int box, int phase)
{
    int any = -1;
    for (int i = 0; i < s->n_steps; i++) {
        if (n->of_step[i] != box)
            continue;
        if ((int)s->steps[i].step->phase == phase)
            return i;
        any = any < 0 ? i : any;
    }
    return any;
}
