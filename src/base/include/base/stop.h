/* base/stop.h -- how long work learns that it is no longer wanted.
 *
 * A caller hands a struct lab_stop to work that may take long: reading data,
 * an iteration, an evaluation. The work calls lab_stop_asked() every few
 * milliseconds and returns LAB_E_CANCELLED when the answer is true. `asked` is
 * called on the thread that works. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#ifdef __cplusplus /* a flag that another thread sets */
#include <atomic>
using std::atomic_bool;
#else
#include <stdatomic.h>
#endif

struct lab_stop {
    bool (*asked)(void *user); /* NULL: the work is never stopped */
    void *user;
};

static inline bool lab_stop_asked(const struct lab_stop *s)
{
    return s != NULL && s->asked != NULL && s->asked(s->user);
}
