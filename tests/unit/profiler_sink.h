/* tests/unit/profiler_sink.h -- a sink that keeps what it is given. Records may
 * come from any thread; reading does not wait. */
#pragma once
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "trace/intern.h"
#include "trace/record.h"

enum { KEPT_RECORDS = 400000 };

struct kept {
    struct lab_record *records;
    size_t n;
    size_t room; /* records beyond are refused */
    pthread_mutex_t lock;
};

static inline int kept_push(void *user, const struct lab_record *record)
{
    struct kept *k = user;
    pthread_mutex_lock(&k->lock);
    int room = k->n < k->room;
    if (room)
        k->records[k->n++] = *record;
    pthread_mutex_unlock(&k->lock);
    return room;
}

static inline struct lab_sink kept_sink(struct kept *k)
{
    return (struct lab_sink){.user = k, .push = kept_push};
}

static inline struct kept *kept_new(void)
{
    struct kept *k = calloc(1, sizeof(*k));
    k->records = calloc(KEPT_RECORDS, sizeof(*k->records));
    k->room = KEPT_RECORDS;
    pthread_mutex_init(&k->lock, NULL);
    return k;
}

static inline void kept_free(struct kept *k)
{
    free(k->records);
    pthread_mutex_destroy(&k->lock);
    free(k);
}

/* The nth record of a kind, or NULL. */
static inline const struct lab_record *kept_get(const struct kept *k, int kind,
                                                int nth)
{
    for (size_t i = 0; i < k->n; i++) {
        if ((int)k->records[i].kind == kind && nth-- == 0)
            return &k->records[i];
    }
    return NULL;
}

static inline int kept_count(const struct kept *k, int kind)
{
    int n = 0;
    for (size_t i = 0; i < k->n; i++)
        n += (int)k->records[i].kind == kind;
    return n;
}
