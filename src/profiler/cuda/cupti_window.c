#include "cupti_window.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

enum { CHANGES = 1 << 18, DEEPEST = 16, AHEAD = 8 };

/* From `since` on calls belong to `exec`; 0: to nothing. */
struct change {
    uint64_t since;
    int64_t exec;
};

/* One for the process, as CUPTI is. Places count on and on; their low bits name
 * a slot. */
static struct {
    pthread_mutex_t lock;
    struct change *slots; /* NULL: closed */
    uint64_t end;         /* one more than the newest */
    uint64_t found;       /* where the last question was answered */
    uint32_t thread;      /* that pushes; 0: none yet */
    int64_t stack[DEEPEST];
    int depth;
} window = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct change *at(uint64_t place)
{
    return &window.slots[place & (CHANGES - 1)];
}

enum lab_status lab_cupti_window_open(void)
{
    struct change *slots = lab_alloc_array(CHANGES, sizeof(*slots));
    if (!slots)
        return lab_fail(LAB_E_NOMEM, "no memory to trace");
    pthread_mutex_lock(&window.lock);
    struct change *old = window.slots;
    window.slots = slots;
    window.end = window.found = 0;
    window.thread = 0;
    window.depth = 0;
    pthread_mutex_unlock(&window.lock);
    lab_free(old);
    return LAB_OK;
}

void lab_cupti_window_close(void)
{
    pthread_mutex_lock(&window.lock);
    struct change *old = window.slots;
    window.slots = NULL;
    pthread_mutex_unlock(&window.lock);
    lab_free(old);
}

static uint32_t this_thread(void)
{
    static _Thread_local uint32_t id;
    static _Thread_local pid_t of;
    pid_t pid = getpid();
    if (of != pid) {
        id = (uint32_t)syscall(SYS_gettid);
        of = pid;
    }
    return id;
}

/* The clock may stand still between two changes: the later one counts. */
static void change_to(int64_t exec, uint64_t now)
{
    if (!window.slots)
        return;
    if (window.end > 0 && at(window.end - 1)->since > now)
        now = at(window.end - 1)->since;
    *at(window.end++) = (struct change){now, exec};
}

void lab_cupti_window_push(int64_t exec, uint64_t now)
{
    uint32_t thread = this_thread();
    pthread_mutex_lock(&window.lock);
    window.thread = thread;
    if (window.depth < DEEPEST)
        window.stack[window.depth] = exec;
    window.depth++;
    change_to(exec, now);
    pthread_mutex_unlock(&window.lock);
}

void lab_cupti_window_pop(uint64_t now)
{
    pthread_mutex_lock(&window.lock);
    if (window.depth > 0) {
        window.depth--;
        bool known = window.depth > 0 && window.depth <= DEEPEST;
        change_to(known ? window.stack[window.depth - 1] : 0, now);
    }
    pthread_mutex_unlock(&window.lock);
}

static bool holds(uint64_t place, uint64_t moment)
{
    return at(place)->since <= moment &&
           (place + 1 == window.end || at(place + 1)->since > moment);
}

/* The last change that was no later. Calls come nearly in their order. */
static int64_t search(uint64_t moment)
{
    uint64_t low = window.end > CHANGES ? window.end - CHANGES : 0;
    uint64_t high = window.end;
    uint64_t near = window.found < low ? low : window.found;
    for (uint64_t i = near; i < high && i < near + AHEAD; i++) {
        if (holds(i, moment)) {
            window.found = i;
            return at(i)->exec;
        }
    }
    uint64_t first = low;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (at(middle)->since <= moment)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == first)
        return 0;
    window.found = low - 1;
    return at(low - 1)->exec;
}

int64_t lab_cupti_window_find(uint32_t thread, uint64_t start)
{
    int64_t exec = 0;
    pthread_mutex_lock(&window.lock);
    if (window.slots && thread == window.thread)
        exec = search(start);
    pthread_mutex_unlock(&window.lock);
    return exec;
}
