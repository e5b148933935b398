/* The variants that this process offers no more, and which backends have been
 * checked. */
#include <pthread.h>
#include <string.h>

#include "variant_check.h"

enum { MAX_WITHDRAWN = 256, MAX_CHECKED = 8, MAX_CHOOSY = 256 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct lab_variant *withdrawn[MAX_WITHDRAWN];
static int n_withdrawn;
static const struct lab_backend_ops *checked[MAX_CHECKED];
static int n_checked;
/* Variants that may refuse a shape, and whether one was served. */
static struct {
    const struct lab_variant *variant;
    bool served;
} choosy[MAX_CHOOSY];
static int n_choosy;

bool lab_variant_withdrawn(const struct lab_variant *v)
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

bool lab_variant_first_time(const struct lab_backend_ops *ops)
{
    bool first = true;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n_checked; i++)
        first = first && checked[i] != ops;
    if (first && n_checked < MAX_CHECKED)
        checked[n_checked++] = ops;
    pthread_mutex_unlock(&lock);
    return first;
}

void lab_variant_forget(const struct lab_backend_ops *ops)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n_checked; i++) {
        if (checked[i] == ops)
            checked[i] = checked[--n_checked];
    }
    pthread_mutex_unlock(&lock);
}

void lab_variant_tally(const struct lab_variant *v, bool served)
{
    int at = 0;
    pthread_mutex_lock(&lock);
    while (at < n_choosy && choosy[at].variant != v)
        at++;
    if (at == n_choosy && n_choosy < MAX_CHOOSY)
        choosy[n_choosy++].variant = v;
    if (at < n_choosy)
        choosy[at].served = choosy[at].served || served;
    pthread_mutex_unlock(&lock);
}

void lab_variant_withdraw_unserved(void)
{
    for (int i = 0; i < n_choosy; i++) {
        if (!choosy[i].served && !lab_variant_withdrawn(choosy[i].variant))
            lab_variant_withdraw(choosy[i].variant);
    }
    pthread_mutex_lock(&lock);
    memset(choosy, 0, sizeof(choosy));
    n_choosy = 0;
    pthread_mutex_unlock(&lock);
}
