/* The variants that this process offers no more, and which backends have been
 * checked. */
#include <pthread.h>

#include "variant_check.h"

enum { MAX_WITHDRAWN = 256, MAX_CHECKED = 8 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct lab_variant *withdrawn[MAX_WITHDRAWN];
static int n_withdrawn;
static const struct lab_backend_ops *checked[MAX_CHECKED];
static int n_checked;

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
