/* variant_disabled.c -- what the check of a backend's variants has found: those that
 * this process does not offer, and which ops of which backends have been checked.
 * verify/verify.c reports here, the lists of variants (backend.c) ask here. */
#include <pthread.h>

#include "base/mem.h"
#include "variant_disabled.h"

enum { MAX_CHECKED = 8 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* SERVED and REFUSED are of variants that may refuse a shape, while a check runs. */
enum finding { WITHDRAWN, REFUSED, SERVED };
static struct entry {
    const struct lab_variant *variant;
    enum finding finding;
} * found;
static size_t n_found;
static size_t room;
static struct {
    const struct lab_backend_ops *backend;
    uint64_t ops;
} checked[MAX_CHECKED];
static int n_checked;
/* One check at a time; whoever opens the backend meanwhile waits for its end. */
static pthread_cond_t check_ended = PTHREAD_COND_INITIALIZER;
static bool checking;

/* NULL: nothing was found of it. Under the lock, as the next one. */
static struct entry *find(const struct lab_variant *v)
{
    for (size_t i = 0; i < n_found; i++)
        if (found[i].variant == v)
            return &found[i];
    return NULL;
}

static enum lab_status add(const struct lab_variant *v, enum finding finding)
{
    enum lab_status st =
        lab_grow(&found, n_found, &room, sizeof(*found), "checked variants");
    if (!st)
        found[n_found++] = (struct entry){v, finding};
    return st;
}

bool lab_variant_disabled(const struct lab_variant *v)
{
    pthread_mutex_lock(&lock);
    const struct entry *e = find(v);
    bool withdrawn = e && e->finding == WITHDRAWN;
    pthread_mutex_unlock(&lock);
    return withdrawn;
}

enum lab_status lab_variant_withdraw(const struct lab_variant *v)
{
    enum lab_status st = LAB_OK;
    pthread_mutex_lock(&lock);
    struct entry *e = find(v);
    if (!v)
        n_found = (size_t)(n_checked = 0);
    else if (e)
        e->finding = WITHDRAWN;
    else
        st = add(v, WITHDRAWN);
    pthread_mutex_unlock(&lock);
    return st;
}

bool lab_variant_check_begin(const struct lab_backend_ops *be, uint64_t *ops)
{
    pthread_mutex_lock(&lock);
    while (checking)
        pthread_cond_wait(&check_ended, &lock);
    for (int i = 0; i < n_checked; i++)
        if (checked[i].backend == be)
            *ops &= ~checked[i].ops;
    checking = *ops != 0;
    pthread_mutex_unlock(&lock);
    return *ops != 0;
}

void lab_variant_check_end(const struct lab_backend_ops *be, uint64_t whole)
{
    int at = 0;
    size_t kept = 0;
    pthread_mutex_lock(&lock);
    while (at < n_checked && checked[at].backend != be)
        at++;
    if (whole && at == n_checked && n_checked < MAX_CHECKED) {
        checked[n_checked].backend = be;
        checked[n_checked++].ops = 0;
    }
    if (at < n_checked)
        checked[at].ops |= whole;
    /* The shapes that a failed check did not reach may be served. */
    for (size_t i = 0; i < n_found; i++)
        if (found[i].finding == WITHDRAWN ||
            (whole && found[i].finding == REFUSED))
            found[kept++] = (struct entry){found[i].variant, WITHDRAWN};
    n_found = kept;
    checking = false;
    pthread_cond_broadcast(&check_ended);
    pthread_mutex_unlock(&lock);
}

enum lab_status lab_variant_tally(const struct lab_variant *v, bool served)
{
    enum lab_status st = LAB_OK;
    pthread_mutex_lock(&lock);
    struct entry *e = find(v);
    if (!e)
        st = add(v, served ? SERVED : REFUSED);
    else if (served && e->finding == REFUSED)
        e->finding = SERVED;
    pthread_mutex_unlock(&lock);
    return st;
}
