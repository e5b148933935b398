/* The variants that this process offers no more, and which ops of which backends
 * have been checked. */
#include <pthread.h>
#include <string.h>

#include "variant_disabled.h"

enum { MAX_WITHDRAWN = 256, MAX_CHECKED = 8, MAX_SELECTIVE = 256 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct lab_variant *withdrawn[MAX_WITHDRAWN];
static int n_withdrawn;
static struct {
    const struct lab_backend_ops *backend;
    uint64_t ops;
} checked[MAX_CHECKED];
static int n_checked;
/* One check at a time; whoever opens the backend meanwhile waits for its end. */
static pthread_cond_t check_ended = PTHREAD_COND_INITIALIZER;
static bool checking;
/* Variants that may refuse a shape, and whether one was served. */
static struct {
    const struct lab_variant *variant;
    bool served;
} selective[MAX_SELECTIVE];
static int n_selective;

bool lab_variant_disabled(const struct lab_variant *v)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n_withdrawn && !found; i++)
        found = withdrawn[i] == v;
    pthread_mutex_unlock(&lock);
    return found;
}

void lab_variant_withdraw(const struct lab_variant *v)
{
    pthread_mutex_lock(&lock);
    if (!v)
        n_withdrawn = n_checked = 0;
    else if (n_withdrawn < MAX_WITHDRAWN)
        withdrawn[n_withdrawn++] = v;
    pthread_mutex_unlock(&lock);
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

/* Those that served none of the check's shapes; under the lock. */
static void withdraw_unserved(void)
{
    for (int i = 0; i < n_selective; i++) {
        bool known = selective[i].served;
        for (int k = 0; k < n_withdrawn && !known; k++)
            known = withdrawn[k] == selective[i].variant;
        if (!known && n_withdrawn < MAX_WITHDRAWN)
            withdrawn[n_withdrawn++] = selective[i].variant;
    }
}

void lab_variant_check_end(const struct lab_backend_ops *be, uint64_t whole)
{
    int at = 0;
    pthread_mutex_lock(&lock);
    while (at < n_checked && checked[at].backend != be)
        at++;
    if (whole && at == n_checked && n_checked < MAX_CHECKED) {
        checked[n_checked].backend = be;
        checked[n_checked++].ops = 0;
    }
    if (at < n_checked)
        checked[at].ops |= whole;
    if (whole)
        withdraw_unserved();
    /* The shapes that a failed check did not reach may be served. */
    memset(selective, 0, sizeof(selective));
    n_selective = 0;
    checking = false;
    pthread_cond_broadcast(&check_ended);
    pthread_mutex_unlock(&lock);
}

void lab_variant_tally(const struct lab_variant *v, bool served)
{
    int at = 0;
    pthread_mutex_lock(&lock);
    while (at < n_selective && selective[at].variant != v)
        at++;
    if (at == n_selective && n_selective < MAX_SELECTIVE)
        selective[n_selective++].variant = v;
    if (at < n_selective)
        selective[at].served = selective[at].served || served;
    pthread_mutex_unlock(&lock);
}
