/* The diagram of every lesson's network, as it is on a wide terminal and on a narrow
 * one: each edge of the plan can be followed from box to box, and no other. */
#include <inttypes.h>

#include "test.h"

#include "engine/backend.h"
#include "engine/data.h"
#include "engine/plan.h"
#include "lesson/catalog.h"
#include "stepper/stepper_priv.h"

enum { BOX_H = 4, BOXES = 128 };

struct opened {
    struct lab_data *data;
    struct lab_plan *plan;
    struct lab_backend *be;
    struct lab_schedule *schedule;
    struct lab_network network;
};

/* False: a lab, or the data are not here. */
static bool open_network(struct opened *o, const struct lab_lesson *l)
{
    struct lab_data_shapes shapes;
    memset(o, 0, sizeof(*o));
    if (l->spec.n_nodes == 0)
        return false;
    const bool is_inline = l->spec.data.n_tensors > 0;
    enum lab_status st =
        lab_data_open(&o->data, &l->spec, NULL, is_inline ? 0 : 4, NULL);
    if (st == LAB_E_NOTFOUND || st == LAB_E_IO)
        return false;
    assert_ok(st);
    lab_data_get_shapes(o->data, &shapes);
    assert_ok(lab_plan_build(&o->plan, &l->spec, &shapes, LAB_F32));
    assert_ok(lab_backend_open(&o->be, "cpu", 0));
    assert_ok(lab_schedule_make(&o->schedule, o->plan, o->be, NULL, 0, NULL));
    assert_ok(lab_network_build(&o->network, o->plan, o->schedule));
    return true;
}

static void close_network(struct opened *o)
{
    lab_network_release(&o->network);
    lab_schedule_release(o->schedule);
    lab_backend_close(o->be);
    lab_plan_free(o->plan);
    lab_data_free(o->data);
}

/* ---- what the plan has ---- */

/* The last box with a node, 0 for the data. */
static int box_with(const struct lab_network *n, int node)
{
    int box = 0;
    for (int i = 1; i < n->picture.n && node >= 0; i++)
        if (node >= n->items[i].first && node < n->items[i].end)
            box = i;
    return box;
}

/* Whether a node in box `to` reads a tensor of box `from`, or is the next step in
 * time of an opened recurrence. */
static bool has_edge(const struct opened *o, int from, int to)
{
    const struct lab_network_item *item = &o->network.items[to];
    if (item->at > 0)
        return from == to - 1;
    for (int node = item->first; node >= 0 && node < item->end; node++)
        for (int k = 0; k < o->plan->nodes[node].n_in; k++) {
            const int t = o->plan->nodes[node].in[k];
            const int owner = t < 0 ? -1 : o->plan->tensors[t].node;
            if (t >= 0 && (owner < item->first || owner >= item->end) &&
                box_with(&o->network, owner) == from)
                return true;
        }
    return false;
}

/* ---- what the picture has ---- */

static bool shows(const struct lab_canvas *c, int y, int x, const char *any)
{
    const char *text = y < c->h && x < c->w ? c->cells[y * c->w + x].text : "";
    return text[0] && strstr(any, text);
}

/* The boxes that the line from `from` leads to, by following its characters. */
static void follow(const struct lab_canvas *c, const struct lab_diagram *d,
                   int from, bool found[BOXES])
{
    const struct lab_rect *at = &d->box[from].at;
    int y = BOX_H;
    int x = at->x + at->w - 2;
    while (shows(c, y, x, "│┼"))
        y++;
    if (!shows(c, y, x, "└"))
        return;
    for (x++; shows(c, y, x, "─┼┴┘"); x++) {
        if (!shows(c, y, x, "┴┘"))
            continue;
        int up = y - 1;
        while (shows(c, up, x, "│┼"))
            up--;
        const int box = lab_diagram_hit(d, up, x);
        if (box >= 0 && (d->backward || shows(c, up, x, "▴")))
            found[box] = true;
        if (shows(c, y, x, "┘"))
            return;
    }
}

static bool in_sight(const struct lab_diagram *d, int box)
{
    return d->box[box].at.w > 0;
}

static void check_boxes(struct lab_canvas *c, struct opened *o, const char *id)
{
    struct lab_diagram *d = &o->network.picture;
    lab_canvas_clear(c);
    lab_diagram_draw(c, (struct lab_rect){0, 0, c->h, c->w}, d, LAB_ROLE_TITLE);
    assert_true(in_sight(d, d->lit));
    for (int from = 0; from < d->n; from++) {
        bool found[BOXES] = {false};
        if (!in_sight(d, from))
            continue;
        follow(c, d, from, found);
        for (int to = from + 1; to < d->n; to++) {
            if (!in_sight(d, to))
                continue;
            const struct lab_rect *b = &d->box[to].at;
            const bool drawn = to == from + 1 ? shows(c, 1, b->x - 1, "▸─") &&
                                                    shows(c, 1, b->x - 2, "─")
                                              : found[to];
            if (drawn != has_edge(o, from, to)) {
                char *all = lab_canvas_dump(c);
                fputs(all, stderr);
                free(all);
                fail_msg("%s, %d columns: %s to %s is %s", id, c->w,
                         d->box[from].name, d->box[to].name,
                         drawn ? "drawn, and is no edge" : "not drawn");
            }
        }
    }
}

/* "a, b" has "b". */
static bool is_listed(const char *list, const char *name)
{
    const size_t n = strlen(name);
    while (*list) {
        const size_t each = strcspn(list, ",");
        if (each == n && strncmp(list, name, n) == 0)
            return true;
        list += each;
        list += strspn(list, ", ");
    }
    return false;
}

/* In one row: an arrow from the box before, and names of the others. */
static void check_line(struct lab_canvas *c, struct opened *o, const char *id)
{
    struct lab_diagram *d = &o->network.picture;
    lab_canvas_clear(c);
    lab_diagram_line(c, (struct lab_rect){0, 0, 1, c->w}, d, LAB_ROLE_TITLE);
    char *row = lab_canvas_dump(c);
    const int to = d->lit;
    char name[64];
    snprintf(name, sizeof(name), "[%s%s]", d->box[to].folded ? "+" : "",
             d->box[to].name);
    char *at = row ? strstr(row, name) : NULL;
    if (!at)
        fail_msg("%s: %s is not in sight: %s", id, name, row);
    char list[512] = "";
    if (sscanf(at + strlen(name), " (%500[^)])", list) < 1)
        list[0] = '\0';
    for (int from = 0; from < to; from++) {
        const bool edge = has_edge(o, from, to);
        if (from < to - 1 && edge != is_listed(list, d->box[from].name))
            fail_msg("%s: %s reads %s: %s", id, name, d->box[from].name, at);
        if (from == to - 1 && in_sight(d, from) &&
            edge != shows(c, 0, d->box[to].at.x - 1, "▸◂"))
            fail_msg("%s: the arrow to %s: %s", id, name, row);
    }
    free(row);
}

static void check_network(struct opened *o, const char *id, int w)
{
    struct lab_canvas c;
    struct lab_diagram *d = &o->network.picture;
    assert_in_range(d->n, 1, BOXES);
    assert_ok(lab_canvas_init(&c, lab_diagram_rows(d), w, false));
    for (d->lit = 0; d->lit < d->n; d->lit++)
        for (int back = 0; back < 2; back++) {
            d->backward = back;
            check_boxes(&c, o, id);
            check_line(&c, o, id);
        }
    lab_canvas_release(&c);
}

/* All of a network in one row, and what a terminal of 200 and one of 80 columns show
 * around each box; folded, and with everything open. */
TEST_CASE(every_edge_of_every_lesson_is_drawn)
{
    static const int widths[] = {2000, 200, 80};
    struct lab_catalog *all;
    int networks = 0;
    assert_ok(lab_catalog_load(&all, LAB_SOURCE_DIR "/lessons"));
    for (size_t i = 0; i < all->count; i++) {
        struct opened o;
        const struct lab_lesson *l = all->items[i].lesson;
        assert_non_null(l);
        if (open_network(&o, l)) {
            for (int k = 0; k < 6; k++) {
                for (int n = 0; k == 3 && n < o.network.n_nodes; n++)
                    o.network.open[n] = true;
                if (k == 3)
                    assert_ok(
                        lab_network_build(&o.network, o.plan, o.schedule));
                check_network(&o, all->items[i].id, widths[k % 3]);
            }
            networks++;
        }
        close_network(&o);
    }
    lab_catalog_free(all);
    assert_true(networks > 40);
}

RUN_TESTS()
