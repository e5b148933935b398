/* memory.h -- allocations of simulated global memory, for memory.c, check.c and
 * count.c.
 *
 * Allocations do not come or go during a launch, so any number of host threads
 * may search them; what the launch changes in them is atomic. */
#pragma once
#include <stdatomic.h>
#include "sim/sim.h"

/* A label and the bytes it names. */
struct sim_named {
    size_t from;
    size_t bytes;
    struct lab_sim_label label;
    /* No launch can write there: it is only read, and no label that may be written
     * shares bytes with it, or with one that does. */
    bool fixed;
    bool whole; /* it is fixed, and every byte was written before the launch */
};

/* Per word of 4 bytes: bit b is set once byte b was written. */
typedef _Atomic unsigned char sim_set_t;
enum { SIM_ALL_SET = 15 };

struct sim_races; /* of race.c */

/* What an allocation had at one moment, and which of its bytes were written. */
struct sim_copy {
    unsigned char *bytes; /* owned; NULL: there is no copy */
    unsigned char *set;   /* owned; NULL: all were written */
};

struct sim_alloc {
    unsigned char *base; /* aligned to 256 bytes */
    size_t bytes;
    unsigned char *block; /* owned: with the guards before and after */
    size_t block_bytes;
    bool freed;
    uint64_t freed_when; /* order of the frees */
    bool read_only;      /* by a label, of some of it */
    bool bounded;        /* by a label: used by labels alone */
    bool whole;          /* every byte was written; `set` is NULL then */
    sim_set_t *set;
    struct sim_named *names; /* the newest last */
    size_t name_count;
    size_t name_room;
    atomic_bool stored; /* by the launch that runs */
    /* What it had before that, where the launch may be taken back; else an older copy, for
     * the next one. */
    struct sim_copy before;
    struct sim_races *_Atomic races;         /* their shadow; owned, NULL */
    void (*races_free)(struct sim_races *r); /* race.c's, set with it */
};

struct lab_sim_memory {
    struct sim_alloc **allocs; /* by address; freed ones among them */
    size_t count;
    size_t room;
    size_t freed;       /* of them */
    size_t freed_bytes; /* that they hold */
    size_t bytes;       /* that all hold */
    int region; /* of addresses, from 0; -1: addresses are the system's */
    uint64_t frees;
    uint64_t blocks; /* of all launches, as race.c counts them */
    bool keeps;      /* what the launch that runs overwrites is kept */
};

/* The last allocation that begins at or before `addr`; NULL: none. */
struct sim_alloc *sim_memory_before(const struct lab_sim_memory *m,
                                    uint64_t addr);
/* The allocation that has `addr` in its memory or guard zone; NULL: none. */
struct sim_alloc *sim_memory_near(const struct lab_sim_memory *m,
                                  uint64_t addr);
/* The newest name of a byte; NULL: none. */
const struct sim_named *sim_memory_name(const struct sim_alloc *a,
                                        size_t offset);
/* The label whose bytes an access may touch: the newest one that holds it, or, of an
 * allocation that is not bounded, the only one; NULL: it may touch all, or none where
 * the allocation is bounded. */
const struct sim_named *sim_memory_bounds(const struct sim_alloc *a,
                                          size_t offset, size_t bytes);
/* Before a launch: which labels are fixed, and which of these are whole. */
void sim_memory_begin(struct lab_sim_memory *m);
/* Notes that bytes were written, as lab_sim_written() does. */
void sim_memory_set(struct sim_alloc *a, size_t offset, size_t bytes);
/* The first byte of these that was not; `bytes`: all were. */
size_t sim_memory_unset(const struct sim_alloc *a, size_t offset, size_t bytes);
/* A copy of an allocation, which `out` may have an older one of; false: no memory. Put it
 * back as often as you like, also where all was written meanwhile; release it in any
 * case. */
bool sim_copy_take(struct sim_copy *out, const struct sim_alloc *a);
void sim_copy_put_back(const struct sim_copy *c, struct sim_alloc *a);
void sim_copy_release(struct sim_copy *c);
/* Before a launch that may have to be taken back: what it overwrites is kept. false: this
 * machine has no room for it. */
bool sim_memory_keep(struct lab_sim_memory *m);
/* The launch is about to write to an allocation for the first time; by one thread of the
 * host, before any other writes there. false: no memory. */
bool sim_memory_first_store(const struct lab_sim_memory *m,
                            struct sim_alloc *a);
/* Takes back what the launch wrote. */
void sim_memory_restore(struct lab_sim_memory *m);
/* After a launch: where all was written by now, no more bits are kept. */
void sim_memory_settle(struct lab_sim_memory *m);
/* Which space a generic address is of, and where in it. */
enum lab_ptx_space sim_generic(uint64_t *addr);

static inline bool sim_holds(const struct sim_alloc *a, uint64_t addr,
                             size_t bytes)
{
    uint64_t at = addr - (uint64_t)(uintptr_t)a->base;
    return at <= a->bytes && bytes <= a->bytes - at;
}
