/* cupti_window.c -- the launches of the last steps by correlation id, to find
 * the step of a record that CUPTI hands over late. */
#include "cupti_window.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CHANGES = 1 << 18, DEEPEST = 16, AHEAD = 8 };
/* Numbers begin here, so that one before the first mark is none below 0. */
static const uint64_t FIRST = UINT64_C(1) << 32;

/* From `since` on numbers belong to `exec`; 0: to nothing. */
struct change {
    atomic_uint_fast64_t since;
    atomic_int_fast64_t exec;
};

/* One for the process, as CUPTI is; its pages are taken when they are written.
 * Places only grow, and their low bits name a slot. A slot is written
 * over only after `end` was published for the place before, so that a reader
 * who finds the new content also finds that it came too late (kept()). */
static struct {
    struct change slots[CHANGES];
    atomic_uint_fast64_t end; /* one more than the newest */
    atomic_uint_fast32_t thread;
    /* The pushing thread's own: */
    uint64_t newest;
    int64_t stack[DEEPEST];
    int depth;
} window;

static struct change *at(uint64_t place)
{
    return &window.slots[place & (CHANGES - 1)];
}

void lab_cupti_window_reset(void)
{
    atomic_store(&window.end, 0);
    atomic_store(&window.thread, 0);
    window.depth = 0;
}

/* A forked child does not trace, so that an id once asked for stays right. */
static uint32_t this_thread(void)
{
    static _Thread_local uint32_t id;
    if (id == 0)
        id = (uint32_t)syscall(SYS_gettid);
    return id;
}

void lab_cupti_window_push(int64_t exec)
{
    uint32_t thread = this_thread();
    if (atomic_load_explicit(&window.thread, memory_order_relaxed) != thread)
        atomic_store_explicit(&window.thread, thread, memory_order_release);
    if (window.depth < DEEPEST)
        window.stack[window.depth] = exec;
    window.depth++;
}

void lab_cupti_window_pop(void)
{
    if (window.depth > 0)
        window.depth--;
}

static int64_t pushed(void)
{
    int depth = window.depth < DEEPEST ? window.depth : DEEPEST;
    return depth > 0 ? window.stack[depth - 1] : 0;
}

/* Numbers only go up: a smaller one has come round. */
void lab_cupti_window_note(uint32_t correlation_id)
{
    uint64_t end = atomic_load_explicit(&window.end, memory_order_relaxed);
    struct change *c = at(end);
    if (end == 0)
        window.newest = FIRST + correlation_id;
    else
        window.newest += correlation_id - (uint32_t)window.newest;
    atomic_store_explicit(&c->since, window.newest, memory_order_release);
    atomic_store_explicit(&c->exec, pushed(), memory_order_release);
    atomic_store_explicit(&window.end, end + 1, memory_order_release);
}

static uint64_t since(uint64_t place)
{
    return atomic_load_explicit(&at(place)->since, memory_order_acquire);
}

/* What was read at this place was not written over meanwhile. */
static bool kept(uint64_t place)
{
    uint64_t end = atomic_load_explicit(&window.end, memory_order_acquire);
    return place + CHANGES > end;
}

void lab_cupti_window_view(struct lab_cupti_view *out)
{
    uint64_t end = atomic_load_explicit(&window.end, memory_order_acquire);
    *out = (struct lab_cupti_view){.end = end,
                                   .thread = (uint32_t)atomic_load_explicit(
                                       &window.thread, memory_order_acquire)};
    if (end > 0) {
        out->newest = since(end - 1);
        /* The pushes and pops of a whole window in between: there is nothing
         * to be found any more. */
        if (!kept(end - 1))
            out->end = 0;
    }
}

/* true: the number is of the change at `place`, which is the answer now. */
static bool answer(struct lab_cupti_view *v, uint64_t place, uint64_t number)
{
    bool last = place + 1 == v->end;
    uint64_t from = since(place);
    uint64_t until = last ? UINT64_MAX : since(place + 1);
    int64_t exec = atomic_load_explicit(&at(place)->exec, memory_order_acquire);
    if (number < from || number >= until || !kept(place))
        return false;
    v->place = place;
    v->since = from;
    v->until = until;
    v->exec = exec;
    return true;
}

/* The last change that is no later. Slots that are written over while it looks
 * hold larger numbers, which leads it to an earlier place: answer() then finds
 * that this one is gone. */
static int64_t search(struct lab_cupti_view *v, uint64_t number)
{
    uint64_t end = atomic_load_explicit(&window.end, memory_order_acquire);
    uint64_t low = end >= CHANGES ? end - CHANGES + 1 : 0;
    uint64_t high = v->end;
    uint64_t first = low;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (since(middle) <= number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == first || !answer(v, low - 1, number))
        return 0;
    return v->exec;
}

int64_t lab_cupti_window_find(struct lab_cupti_view *v, uint32_t correlation_id)
{
    if (v->end == 0)
        return 0;
    int32_t later = (int32_t)(correlation_id - (uint32_t)v->newest);
    uint64_t number = v->newest + (uint64_t)(int64_t)later;
    if (v->since <= number && number < v->until)
        return v->exec;
    /* Records come nearly in the order of their calls. */
    for (uint64_t i = v->place; i < v->end && i < v->place + AHEAD; i++) {
        if (answer(v, i, number))
            return v->exec;
    }
    return search(v, number);
}
