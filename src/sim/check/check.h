/* check.h -- what check.c, finding.c, race.c and count.c share: the state of the
 * checks of a launch and of a block that runs. */
#pragma once
#include <pthread.h>
#include "check/memory.h"
#include "exec.h"

#define SIM_FULL 0xffffffffu

/* A finding with what it is sorted and counted by. */
struct sim_found {
    struct lab_sim_finding f;
    int32_t file;
    int32_t line;
    uint64_t block;
    uint32_t thread;
    bool late;     /* it may come of a thread that another finding ended */
    int64_t array; /* from where on it lies in shared memory; -1: not known */
};

/* Of race.c. */
struct sim_pairs;
struct sim_race;
struct sim_flag;
struct sim_flags { /* by address, open addressing */
    struct sim_flag *at;
    size_t count;
    size_t room;
};

struct sim_launch_check;

/* How the addresses of an access lie. */
enum sim_pattern {
    SIM_ANY,
    SIM_SAME, /* all lanes' are one */
    SIM_ROW   /* those of lanes 0 .. n-1 follow each other without a gap */
};

/* A fault that was found, by what is known before it is put into words: a thread that
 * repeats it costs a look-up. */
struct sim_repeat {
    const void *what; /* the label, the allocation or the space */
    int32_t place;    /* of the instruction */
    int check;        /* enum lab_sim_check; -1: none */
    size_t found;     /* into sim_check.found */
};
enum { SIM_REPEATS = 64 };

/* Where an instruction touched global memory, and all around it that it may touch. */
struct sim_around {
    struct sim_alloc *alloc; /* NULL: nowhere yet */
    uint64_t from;
    size_t bytes;
    bool fixed; /* of struct sim_named */
    bool whole;
};
enum { SIM_AROUNDS = 32 };

/* Of one block that runs; used again for the next block of a host thread. */
struct sim_check {
    struct sim_check *next; /* all of the launch */
    struct sim_check *free; /* those that no block uses */
    struct sim_launch_check *launch;
    struct sim_block *block;               /* NULL: it has ended */
    struct sim_around around[SIM_AROUNDS]; /* by instruction */
    enum sim_pattern pattern;              /* of the access */

    /* Found by this one, one a source line; merged at the end. */
    struct sim_found *found;
    size_t found_count;
    size_t found_room;
    struct sim_repeat repeats[SIM_REPEATS];
    struct sim_repeat *pending; /* is filled in by the next finding; NULL */

    /* The number of the access: it never falls, so what an earlier block left in
     * the shadows is not newer than `start`. */
    uint32_t now;
    uint32_t start;
    struct sim_clock known[SIM_WARPS];  /* to each warp */
    struct sim_clock fenced[SIM_WARPS]; /* as it was at the warp's last fence */
    uint32_t fence_when[SIM_WARPS];     /* the last fence that a warp knows */
    uint32_t wide_when[SIM_WARPS];      /* the last one beyond the block */
    struct sim_pairs *pairs;   /* of a warp: lanes that waited in part; NULL */
    uint32_t floor[SIM_WARPS]; /* up to here a warp knows every access */
    uint32_t *shared;          /* several fields a granule */
    size_t shared_cells;
    uint32_t granule; /* bytes: 4, 2 or 1 */
    bool copies;      /* beside the threads: some may not have arrived */
    struct sim_flags flags;
    uint32_t *learned; /* of each other block, up to when it is known; NULL */
    /* Lanes of the store that comes now, with an earlier one that must have
     * stored the same: by whom, and which bytes of the lane's were what. */
    bool meet; /* lanes of it store to one place */
    uint32_t same;
    uint32_t same_who[SIM_LANES];
    uint64_t same_block[SIM_LANES];
    int same_byte[SIM_LANES]; /* from, to before same_end */
    int same_end[SIM_LANES];
    unsigned char same_old[SIM_LANES][32];
    /* Lanes with values that are kept, to compare them with those of other blocks. */
    uint32_t valued;
    struct sim_alloc *valued_in[SIM_LANES];

    /* Races within blocks on global memory, to be reported at the end. */
    struct sim_race *later;
    size_t later_count;
    size_t later_room;
    uint32_t *later_at; /* by hash: number in `later` + 1; 0: none */
    size_t later_slots;

    unsigned char *local; /* of local memory, a byte a byte: written */
    size_t local_room;
};

struct sim_launch_check {
    struct sim_grid *grid;
    const struct lab_ptx *ptx;
    unsigned checks;
    bool shadow; /* races or uninitialised reads are looked for */
    bool races;
    bool ordered;     /* blocks run one after the other */
    uint32_t granule; /* of global memory: the kernel's narrowest access */
    uint64_t blocks;
    uint64_t last;        /* findings of blocks behind it are not kept */
    uint64_t base;        /* blocks of the launches before */
    pthread_mutex_t lock; /* of what follows */
    struct sim_check *all;
    struct sim_check *idle;
    struct sim_flags flags; /* between blocks */
    bool apart;             /* too much to keep: not between blocks any more */
    bool no_memory;         /* for findings or shadows: the launch fails */
    unsigned char
        *broken; /* a bit a block: a finding ended a thread of it; or NULL */
};

static inline struct sim_check *sim_check_of(const struct sim_warp *w)
{
    return w->block->check;
}

/* __builtin_popcount() is a call where the processor is any x86-64. */
static inline int sim_count_lanes(uint32_t lanes)
{
    return lanes == SIM_FULL ? SIM_LANES : __builtin_popcount(lanes);
}

/* ---- finding.c ---- */

/* Adds a finding of any block, which may have ended: `file` and `line` are filled in. */
void sim_found(struct sim_check *c, const struct sim_found *found);
/* sim_found.array of an access by `i` at an address of shared memory. */
int64_t sim_array_at(const struct lab_sim_kernel *k, const struct sim_instr *i,
                     uint64_t addr);
/* Whether a finding has ended this thread of a block that runs. */
static inline bool sim_is_ended(const struct sim_block *b, uint32_t thread)
{
    return b->warps[thread / SIM_LANES].faulted >> thread % SIM_LANES & 1;
}
/* The block ends: whether one of its threads did by a finding is kept. */
void sim_keep_broken(struct sim_launch_check *l, const struct sim_block *b);
/* Whether a finding has ended a thread of a block that runs, or of another one that
 * has ended. */
bool sim_is_cut(const struct sim_launch_check *l, const struct sim_block *b,
                uint64_t other);
/* Tells the launch's watcher, if there is one. */
void sim_tell(const struct sim_grid *g, const struct lab_sim_finding *f);
/* The place of an address for a finding: name, argument, index; and in words,
 * "fc1.W[3,17]", at least SIM_WORDS long. */
enum { SIM_WORDS = 160 };
/* "s[3][17]", at least SIM_WORDS long; false: the elements of what has the address in
 * shared memory are not known. */
bool sim_shared_element(const struct lab_sim_kernel *k, uint64_t addr,
                        char *words);
/* An address beyond the array of shared memory that the instruction names: "0 bytes
 * after the end of s in shared memory". `variable`: sim_instr.variable. Else `words` stay. */
void sim_describe_beyond(const struct lab_sim_kernel *k, int variable,
                         uint64_t addr, char *words);
void sim_describe(const struct sim_grid *g, const struct sim_check *c,
                  enum lab_ptx_space space, uint64_t addr,
                  struct lab_sim_finding *f, char *words);
/* Puts text behind the first `at` bytes of `out`, cut off at `room`; returns how
 * long it is now. */
size_t sim_append(char *out, size_t room, size_t at, const char *format, ...)
    LAB_PRINTF(4, 5);
/* A read of what was not written. `hint`: what to look at; NULL: as always. */
void sim_find_unset(struct sim_warp *w, const struct sim_instr *i,
                    enum lab_ptx_space space, int lane, uint64_t addr,
                    int bytes, const char *what, const char *hint);
/* Whether what a load found unwritten is a struct's padding. is_set(): of byte `at`. */
typedef bool sim_is_set_fn(const void *arg, size_t at);
bool sim_is_padding(const struct sim_instr *i, sim_is_set_fn *is_set,
                    const void *arg, size_t from);
void sim_check_no_memory(struct sim_launch_check *l);
void sim_where(const struct sim_grid *g, uint64_t block, uint32_t thread,
               int32_t place, struct lab_sim_where *out);
/* All findings of the launch, sorted, and no more than are wanted. LAB_E_NOMEM. */
enum lab_status sim_findings_end(struct sim_launch_check *l,
                                 struct lab_sim_result *out);

/* ---- race.c ---- */

/* Lanes of an access, all within bounds: races, and, of shared memory, reads of
 * what was not written. Sets a->overlap. */
void sim_race_shared(struct sim_check *c, struct sim_warp *w,
                     const struct sim_instr *i, struct sim_access *a,
                     uint32_t lanes);
void sim_race_global(struct sim_check *c, struct sim_warp *w,
                     const struct sim_instr *i, struct sim_access *a,
                     struct sim_alloc *g, uint32_t lanes);
void sim_race_begin(struct sim_launch_check *l);
/* After the last block: whether two blocks raced for a word. */
bool sim_race_between(const struct sim_launch_check *l);
bool sim_race_block_begin(struct sim_check *c); /* false: no memory */
void sim_race_block_end(struct sim_check *c);
void sim_race_release(struct sim_check *c);
/* After the last block: races between blocks, found in the shadows of global
 * memory, which are given back. */
void sim_race_end(struct sim_launch_check *l);
void sim_race_forget(struct sim_launch_check *l);

/* ---- count.c ---- */

void sim_count_global(struct lab_sim_counts *n, const struct sim_access *a,
                      uint32_t lanes, enum sim_pattern pattern);
void sim_count_shared(struct lab_sim_counts *n, const struct sim_instr *i,
                      const struct sim_access *a, uint32_t lanes,
                      enum sim_pattern pattern);
/* What an instruction has computed so far. `tally` is of the kernel's first one. */
void sim_count_flops(struct lab_sim_counts *n, const struct lab_sim_kernel *k,
                     const struct sim_instr *i, const struct sim_tally *tally);
/* Sums of the launch and its lines. */
enum lab_status sim_count_end(const struct sim_grid *g,
                              const struct sim_tally *tally,
                              const struct lab_sim_counts *counts,
                              struct lab_sim_result *out);
