/* Which schedule held where: a replay runs what ran then, and steps back are
 * counted as they ran. */
#include <string.h>

#include "base/mem.h"
#include "walk_priv.h"

int lab_walk_position_of(const struct lab_schedule *s, int at)
{
    int low = 0;
    int high = s->n_steps;
    while (low < high) {
        int mid = low + (high - low) / 2;
        if (s->steps[mid].hides_from + s->steps[mid].hides_count > at)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

int lab_walk_plan_step(const struct lab_walk *w, const struct lab_schedule *s,
                       int position)
{
    return position < s->n_steps ? s->steps[position].hides_from
                                 : w->plan->n_steps;
}

struct lab_walk_place lab_walk_place(const struct lab_walk *w)
{
    return (struct lab_walk_place){
        w->iteration, lab_walk_plan_step(w, w->schedule, w->position)};
}

/* ---- the history ---- */

static bool is_before(struct lab_walk_place a, struct lab_walk_place b)
{
    return a.iteration != b.iteration ? a.iteration < b.iteration : a.at < b.at;
}

/* Index of the switch that holds at a place. */
static int switch_at(const struct lab_walk *w, struct lab_walk_place place)
{
    int i = w->n_switches - 1;
    while (i > 0 && is_before(place, w->switches[i].from))
        i--;
    return i;
}

struct lab_schedule *lab_walk_schedule_at(const struct lab_walk *w,
                                          struct lab_walk_place place)
{
    return w->switches[switch_at(w, place)].schedule;
}

static bool same_schedule(const struct lab_schedule *a,
                          const struct lab_schedule *b)
{
    if (a->n_steps != b->n_steps)
        return false;
    for (int i = 0; i < a->n_steps; i++) {
        const struct lab_schedule_step *x = &a->steps[i];
        const struct lab_schedule_step *y = &b->steps[i];
        if (x->variant != y->variant || x->hides_from != y->hides_from ||
            x->hides_count != y->hides_count)
            return false;
    }
    return true;
}

struct lab_schedule *lab_walk_share_schedule(const struct lab_walk *w,
                                             struct lab_schedule *s)
{
    for (int i = 0; i < w->n_switches; i++) {
        struct lab_schedule *known = w->switches[i].schedule;
        if (!same_schedule(known, s))
            continue;
        lab_schedule_release(s);
        return lab_schedule_retain(known);
    }
    return s;
}

enum lab_status lab_walk_reserve_switch(struct lab_walk *w)
{
    if (w->n_switches < w->switch_room)
        return LAB_OK;
    int room = w->switch_room ? 2 * w->switch_room : 4;
    struct lab_walk_switch *list = lab_alloc_array((size_t)room, sizeof(*list));
    if (!list)
        return lab_fail(LAB_E_NOMEM, "no memory to remember the variants");
    if (w->n_switches)
        memcpy(list, w->switches, (size_t)w->n_switches * sizeof(*list));
    lab_free(w->switches);
    w->switches = list;
    w->switch_room = room;
    return LAB_OK;
}

/* The room is there: either a place was reserved, or one is given up first,
 * because the newest switch always has the schedule that holds now. */
void lab_walk_note_schedule(struct lab_walk *w)
{
    struct lab_walk_place now = lab_walk_place(w);
    while (w->n_switches > 0 &&
           !is_before(w->switches[w->n_switches - 1].from, now))
        lab_schedule_release(w->switches[--w->n_switches].schedule);
    if (w->n_switches > 0 &&
        w->switches[w->n_switches - 1].schedule == w->schedule)
        return;
    w->switches[w->n_switches++] =
        (struct lab_walk_switch){now, lab_schedule_retain(w->schedule)};
}

void lab_walk_forget_switches(struct lab_walk *w)
{
    for (int i = 0; i < w->n_switches; i++)
        lab_schedule_release(w->switches[i].schedule);
    w->n_switches = 0;
}

/* ---- counting back ---- */

/* First plan step of the step of `s` that holds plan step `at`. */
static int start_of(const struct lab_schedule *s, int at)
{
    return s->steps[lab_walk_position_of(s, at)].hides_from;
}

/* A place inside an iteration where a step begins, in what ran then as in what
 * would run now: nothing can stand in the middle of a group. */
static int settle(const struct lab_walk *w, struct lab_walk_place p)
{
    for (;;) {
        int ran = start_of(lab_walk_schedule_at(w, p), p.at);
        int now = start_of(w->schedule, ran);
        if (now == p.at)
            return now;
        p.at = now;
    }
}

/* Are all steps from the start of `iteration` to its end those of now? */
static bool ran_as_now(const struct lab_walk *w, int64_t iteration)
{
    int first = switch_at(w, (struct lab_walk_place){iteration, 0});
    int last =
        switch_at(w, (struct lab_walk_place){iteration, w->plan->n_steps - 1});
    return first == last && w->switches[first].schedule == w->schedule;
}

struct lab_walk_place lab_walk_place_before(const struct lab_walk *w, int64_t n)
{
    struct lab_walk_place p = lab_walk_place(w);
    while (n > 0) {
        if (p.at > 0) {
            p.at--;
            p.at = settle(w, p);
            n--;
        } else if (p.iteration == 0) {
            break;
        } else {
            p.iteration--;
            if (n >= w->schedule->n_steps && ran_as_now(w, p.iteration))
                n -= w->schedule->n_steps;
            else
                p.at = w->plan->n_steps;
        }
    }
    return p;
}
