/* timeline_priv.h -- a timeline while it is being put together. */
#pragma once
#include "store/timeline.h"
#include "db/store_priv.h"

/* Something the device did: what the sums are made of. */
struct lab_device_time {
    int64_t start_ns;
    int64_t end_ns;
    int64_t correlation;
    int64_t process;
    int64_t device;
    int64_t exec;
    uint32_t name;
    enum lab_cover cover;
    bool own; /* a kernel of the iteration's */
};

/* Some time of a kind. */
struct lab_interval {
    int64_t start_ns;
    int64_t end_ns;
    enum lab_cover of;
};

/* A call's start by its correlation id: launches need it though their span be
 * one of those that are left out. */
struct lab_call_time {
    int64_t correlation;
    int64_t process;
    int64_t start_ns;
    int32_t span; /* in spans[], -1: left out */
};

/* A step, whether its span stays or not. */
struct lab_step_time {
    int64_t exec;
    int64_t row;
    int64_t start_ns; /* LAB_UNKNOWN: without moments */
    int64_t end_ns;
    int64_t phase;
    uint32_t name;
    int32_t span; /* in spans[], -1: left out */
};

struct lab_growing {
    void *items;
    int32_t count;
    size_t room;
};

struct lab_timeline_build {
    struct lab_timeline *t;
    struct lab_growing spans[LAB_SPAN_KIND_COUNT]; /* struct lab_span */
    struct lab_growing device;                     /* lab_device_time */
    struct lab_growing steps;                      /* lab_step_time */
    struct lab_growing calls;                      /* lab_call_time */
    struct lab_growing launched; /* int64_t: correlation ids of kernels */
    int32_t most;
};

/* A new zeroed place at the end; NULL: no memory. */
void *lab_timeline_grow(struct lab_growing *list, size_t each);
/* Counts the span and keeps it, if it is not among the shortest of too many.
 * LAB_E_NOMEM. */
enum lab_status lab_timeline_add(struct lab_timeline_build *b,
                                 const struct lab_span *s);
/* Keeps the moment of a call, and not its span. */
enum lab_status lab_timeline_add_call(struct lab_timeline_build *b,
                                      const struct lab_span *s);
/* Lanes, order, gaps, latencies, sums. LAB_E_NOMEM. */
enum lab_status lab_timeline_finish(struct lab_timeline_build *b);
/* out[i]: how much of [from, to) intervals of kind i cover and those of the
 * kinds before it do not; the last: what is left. Sorts the list. */
void lab_cover_sum(struct lab_interval *list, size_t n, int64_t from,
                   int64_t to, int64_t out[LAB_COVER_COUNT]);
/* The same of all that was collected: sums.cover_ns, busy_ns and called, after
 * the calls have been sorted. LAB_E_NOMEM. */
void lab_timeline_build_release(struct lab_timeline_build *b);

/* Whether what belongs to step `exec` is the pass's: all is, where the run has
 * no steps. */
bool lab_pass_owns(const struct lab_iteration_row *of, int64_t exec);
