/* exec.h -- what the parts of the simulator share: a lowered kernel, a warp, a
 * block, and the one way to memory.
 *
 * A kernel is lowered once: its PTX becomes an array of struct sim_instr with
 * operands resolved to slots of a register file. A warp keeps 32 lanes side by
 * side: a register of up to 32 bits is uint32_t[32], one of 64 bits uint64_t[32],
 * a predicate one uint32_t with a bit a lane. An instruction runs for the lanes of
 * a mask. Loops over lanes are what the compiler vectorises. */
#pragma once
#include "sim/argument.h"
#include "sim/sim.h"

enum { SIM_LANES = 32 };

/* Loops over 32 lanes are compiled for three generations of processors, and one
 * is chosen when the program starts. Neither clang nor a sanitizer's start-up
 * takes part in it. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&         \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SIM_CLONES                                                             \
    __attribute__((                                                            \
        target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SIM_CLONES
#endif

/* A call between the clones of a loop and its parts would be of the oldest. */
#define SIM_INLINE static inline __attribute__((always_inline))

struct sim_warp;
struct sim_block;
struct sim_grid;
struct sim_instr;

/* Does an instruction for the lanes in `mask` (never 0). */
typedef void sim_run_fn(struct sim_warp *w, const struct sim_instr *i,
                        uint32_t mask);

enum sim_source {
    SIM_SLOT,
    SIM_IMMEDIATE,
    SIM_PREDICATE,
    SIM_SPECIAL,
    SIM_NONE
};

struct sim_operand {
    uint8_t source; /* enum sim_source */
    uint8_t bytes;  /* of a slot: 4 or 8 */
    bool negated;   /* of a predicate */
    int32_t slot;   /* in units of 128 bytes; of a predicate: its number */
    uint64_t value; /* immediate; of an address: what is added */
};

/* The lanes that are counted: all; none, the FLOPs are part of another instruction;
 * those that were chosen (struct sim_tally). */
enum sim_flop { SIM_FLOP_ALL, SIM_FLOP_NONE, SIM_FLOP_CHOSEN };

enum { SIM_NOT_WIDE = 255 };

struct sim_instr {
    sim_run_fn *run;
    uint16_t code; /* for the interpreter's own switch; 0: call `run` */
    uint8_t type;  /* enum lab_ptx_type */
    uint8_t from;  /* second type, of cvt and the like */
    uint8_t space; /* enum lab_ptx_space */
    uint8_t count; /* elements of a vector load or store: 1, 2, 4 */
    uint8_t bytes; /* of an element in memory */
    uint8_t flags; /* of the code */
    bool copies;   /* a load of what is only stored elsewhere */
    uint8_t flop;  /* enum sim_flop */
    /* Of an access to shared memory: the bytes that a lane reads at once where the
     * machine has one load for several of PTX, from `back` bytes before its address
     * on; 0: its own; SIM_NOT_WIDE: another instruction has them, or it does not go
     * this way. */
    uint8_t wide;
    uint8_t back;
    uint8_t kept;  /* of struct sim_fused */
    int32_t guard; /* predicate number, -1: none */
    bool guard_negated;
    struct sim_operand d;
    struct sim_operand a;
    struct sim_operand b;
    struct sim_operand c;
    const struct sim_operand *more; /* more_count of them: vectors, fragments */
    int32_t more_count;
    /* Of an access to shared memory: its variable, where the address comes from one
     * alone, its number in the kernel from 1; 0: not known, or dynamic memory. */
    int32_t variable;
    int32_t target;    /* of a branch: instruction */
    int32_t join;      /* of a branch: where its sides meet; -1: at the end */
    const void *extra; /* of `run` */
    sim_run_fn *then;  /* what sim_run_on_sums() and its kind run */
    sim_run_fn *after; /* what runs after a function that counts */
    const struct sim_instr *source[2]; /* of sim_run_choice(); NULL */
    const struct sim_instr
        *with; /* its FLOP are of these lanes; NULL: its own */
    const struct lab_ptx_instr *ptx;
};

/* ---- the one way to memory (memory.c, check.c, count.c) ---- */

enum sim_access_kind { SIM_LOAD, SIM_STORE, SIM_ATOMIC };

/* What the lanes in `mask` do: each `bytes` at its address. */
struct sim_access {
    enum sim_access_kind kind;
    enum lab_ptx_space space; /* LAB_PTX_GENERIC: by the address */
    uint32_t mask;
    int bytes; /* a lane, all elements of a vector together; of an async one any
                * number, the run of a copy */
    int align; /* that the instruction needs; as `bytes` for ld and st */
    bool synchronises; /* volatile, atomic, relaxed, acquire or release */
    bool is_volatile;  /* and that as .volatile */
    bool narrow;       /* and that within the block alone: .cta */
    bool async;        /* by cp.async, TMA or wgmma: not this thread's own */
    bool proxy;        /* async, by the asynchronous proxy: TMA or wgmma */
    bool issued;       /* async, and begins now: it is counted and checked here,
                        * and a store's bytes count as not written until the same
                        * access comes again with `issued` false: it has arrived,
                        * is checked and not counted */
    uint64_t addr[SIM_LANES]; /* of `space`: shared, local and param from 0 */
    /* Out, of a store: call sim_same(). Lanes meet in one byte, or an earlier store
     * must have stored the same. */
    bool overlap;
    /* Out: the lanes of `mask`, the first ones, lie in a row from at[0] on. */
    bool row;
};

/* Checks an access, counts it, and returns where it is: at[lane] for each lane of the
 * mask that is returned, valid for `bytes`. Lanes that are left out have a finding
 * and must not touch memory; they end (w->faulted). For a store the bytes count as
 * written. */
uint32_t sim_check_access(struct sim_warp *w, const struct sim_instr *i,
                          struct sim_access *a, unsigned char *at[SIM_LANES]);
/* For a store with `overlap`, before or after it stores: data[lane] is what a lane
 * of a->mask writes, `bytes` of it. Different values are a race. */
void sim_same(struct sim_warp *w, const struct sim_instr *i,
              const struct sim_access *a,
              const unsigned char *const data[SIM_LANES]);

/* What `i` just stored in shared memory was itself what nothing wrote: its bytes count
 * as not written, and who reads them is shown the line of `i`. */
void sim_shared_unset(struct sim_warp *w, const struct sim_instr *i,
                      uint64_t addr, int bytes);
/* The same of a lane's local memory. */
void sim_local_unset(struct sim_warp *w, int lane, uint64_t addr, int bytes);

/* A finding of the warp's current instruction, for the first lane of `lanes`.
 * `f` may be NULL; else its address, name and index are taken. */
void sim_find(struct sim_warp *w, const struct sim_instr *i, uint32_t lanes,
              enum lab_sim_check check, const struct lab_sim_finding *f,
              const char *format, ...) LAB_PRINTF(6, 7);
/* One after which the lanes cannot go on: they end. */
void sim_end(struct sim_warp *w, const struct sim_instr *i, uint32_t lanes,
             enum lab_sim_check check, const struct lab_sim_finding *f,
             const char *format, ...) LAB_PRINTF(6, 7);

/* `f` of a finding with advice of its own. */
#define SIM_HINT(text)                                                         \
    (&(const struct lab_sim_finding){.argument = -1, .hint = (text)})

/* Whether this fault of a thread is one that was found before, in a thread that comes
 * no later: it is counted, and there is nothing to put into words. */
bool sim_repeats(struct sim_warp *w, const struct sim_instr *i, int lane,
                 enum lab_sim_check check, enum lab_ptx_space space,
                 uint64_t addr);
/* A finding of block `block`, which may have ended, in one thread. No block runs.
 * `last`: the launch ends there. How many of the blocks behind it have run depends on the
 * number of host threads, unless blocks run in one order: their findings are dropped. */
void sim_find_late(struct sim_grid *g, uint64_t block, uint32_t thread,
                   const struct sim_instr *i, enum lab_sim_check check,
                   bool last, const char *format, ...) LAB_PRINTF(7, 8);

/* ---- what happened before what (race.c) ----
 *
 * A clock has up to which access each warp of a block is known. A barrier has
 * one: zeroed when the barrier is made. A warp that arrives releases, one that was
 * let through acquires. */
enum { SIM_WARPS = 32 };
struct sim_clock {
    uint32_t known[SIM_WARPS];
    uint32_t proxied[SIM_WARPS]; /* and up to which to the asynchronous proxy */
};
void sim_release(struct sim_warp *w, struct sim_clock *object);
void sim_acquire(struct sim_warp *w, const struct sim_clock *object);
/* A barrier that each of `warps` (bit a warp) arrived at and is let through. */
void sim_block_synchronised(struct sim_block *b, uint32_t warps);
/* These lanes waited for each other: bar.warp.sync, shfl, vote, match, redux. */
void sim_warp_synchronised(struct sim_warp *w, uint32_t lanes);
/* membar and fence (not .proxy), also before an atomic with .release, and after one
 * or a load with .acquire. `narrow`: of scope .cta, which orders nothing between
 * blocks. */
void sim_fence(struct sim_warp *w, uint32_t lanes, bool narrow);
/* fence.proxy.async: what the warp knows, copies by TMA and products of wgmma that
 * come after it see, too. */
void sim_fence_proxy(struct sim_warp *w);
/* mbarriers: what `lanes` did before they arrived at the one at `offset` of shared
 * memory happened before what those do that saw its phase end. An asynchronous
 * copy arrives in the name of the lane that issued it. */
void sim_mbarrier_arrived(struct sim_warp *w, uint32_t lanes, uint32_t offset);
void sim_mbarrier_passed(struct sim_warp *w, uint32_t lanes, uint32_t offset);

/* Windows of generic addresses: global memory has the process's addresses; those
 * of shared and local memory of the running block lie in ranges of no process
 * (bit 62, bit 61 and up). */
#define SIM_SHARED_WINDOW ((uint64_t)1 << 62)
#define SIM_LOCAL_WINDOW ((uint64_t)1 << 61)
#define SIM_PARAM_WINDOW ((uint64_t)3 << 60)

/* ---- a warp ---- */

enum sim_state {
    SIM_READY,
    SIM_AT_BARRIER, /* named barrier w->barrier */
    SIM_WAITING,    /* an mbarrier's phase is not over: goes on at the next
                     * instruction (a loop that asks again) when the others,
                     * and the warp's own other lanes, have run */
    SIM_DONE
};

/* A register that may hold what nothing wrote: the lanes in which it does, and the
 * instruction that first computed with it; -1: none has. */
struct sim_unwritten {
    uint32_t lanes;
    int32_t origin;
};

struct sim_warp {
    struct sim_block *block;
    int index; /* in the block */
    enum sim_state state;
    uint32_t lanes;   /* that exist */
    uint32_t alive;   /* that have not returned */
    uint32_t active;  /* that run now */
    uint32_t faulted; /* ended by a finding */
    bool held;  /* watched, and at the instruction at which lanes end: they
                       * do so when it goes on */
    int32_t pc; /* of the next instruction; a handler may change it */
    int barrier;
    int64_t steps; /* instructions that it executed, with the one at hand */
    unsigned char *regs; /* slots of 128 bytes, 64-byte aligned */
    uint32_t *preds;
    unsigned char *local; /* lane after lane, the kernel's local_bytes each */
    struct lab_sim_counts counts;
    struct sim_stack *stack; /* of divergence; flow's own */
    struct sim_async *async; /* of tensor.c: pending copies; NULL: none */
    struct sim_unwritten *unwritten; /* the kernel's tracked_count */
    int32_t unwritten_count;         /* of them, with any lane */
    void *check;                     /* of check.c */
};

static inline uint32_t *sim_r32(const struct sim_warp *w, int32_t slot)
{
    return (uint32_t *)(void *)(w->regs + (size_t)slot * 128);
}

static inline uint64_t *sim_r64(const struct sim_warp *w, int32_t slot)
{
    return (uint64_t *)(void *)(w->regs + (size_t)slot * 128);
}

/* The value of an operand in each lane, widened to 64 bits. */
void sim_values(const struct sim_warp *w, const struct sim_operand *o,
                uint64_t out[SIM_LANES]);
/* Address operand: register + what is added, in each lane. */
void sim_addresses(const struct sim_warp *w, const struct sim_operand *o,
                   uint64_t out[SIM_LANES]);
/* Writes a register in the lanes of `mask`. */
void sim_set(struct sim_warp *w, const struct sim_operand *o, uint32_t mask,
             const uint64_t values[SIM_LANES]);

/* For an instruction that all of `lanes` must execute together: false when some
 * of those that are alive are elsewhere. The warp then goes on with them and
 * comes back, or has a finding of `check`: return at once, having done nothing. */
bool sim_gather(struct sim_warp *w, const struct sim_instr *i, uint32_t lanes,
                enum lab_sim_check check);
/* `lanes` of the active ones execute this instruction alone, the others after them or
 * before; all meet behind it. Return at once, having done nothing. */
void sim_warp_part(struct sim_warp *w, const struct sim_instr *i,
                   uint32_t lanes);

/* ---- a block, a grid ---- */

/* How often an instruction ran: what the interpreter itself counts. */
struct sim_tally {
    int64_t warps;
    int64_t lanes;     /* with a true guard */
    int64_t divergent; /* branches that split the warp */
    int64_t chosen;    /* lanes that are counted where SIM_FLOP_CHOSEN */
};

struct sim_block {
    struct sim_grid *grid;
    uint32_t index[3];
    uint64_t number; /* row-major: x fastest */
    int warp_count;
    struct sim_warp *warps;
    unsigned char *shared; /* static, then dynamic */
    int64_t shared_bytes;
    void *barriers;                  /* of block.c: named barriers 0 to 15 */
    struct sim_mbarriers *mbarriers; /* of tensor.c; NULL: none yet */
    void *check;                     /* of check.c */
    bool stopped;                    /* a finding ended it */
    /* By instruction of the kernel, summed over the blocks of a host thread; the
     * index is sim_index(). `counts` is what sim_check_access() adds to. */
    struct sim_tally *tally;
    struct lab_sim_counts *counts;
};

/* Gets each access, with the lanes that sim_check_access() lets do it, and each finding.
 * Either may be NULL. With `finding` a warp stays at an instruction that ends lanes of
 * it, to be looked at: sim_warp.held. */
struct sim_watch {
    void *arg;
    void (*access)(void *arg, struct sim_warp *w, const struct sim_instr *i,
                   const struct sim_access *a, uint32_t lanes);
    void (*finding)(void *arg, const struct lab_sim_finding *f);
};

struct sim_grid {
    struct lab_sim_memory *memory;
    const struct lab_sim_launch *launch;
    const struct lab_sim_options *options;
    const struct lab_sim_kernel *kernel;
    unsigned char *params; /* parameter space */
    int64_t params_bytes;
    void *check;                   /* of check.c */
    const struct sim_watch *watch; /* NULL: not called */
};

/* ---- modules and kernels (module.c, module_kernels.c, lower.c) ---- */

/* The code of a kernel: instruction i of its PTX is instrs[i]; behind them come
 * those of the functions that it calls. */
/* A variable in static shared memory. */
struct sim_variable {
    char name[LAB_SIM_NAME]; /* as the source has it */
    const char *symbol;      /* in the PTX; NULL: it has none */
    int64_t from;
    int64_t end;
    int type;          /* of a number of it, enum lab_sim_type; -1: not known */
    int element_bytes; /* 0: its elements are not known */
    int rank;
    int64_t dim[LAB_SIM_MAX_RANK];
};

struct lab_sim_kernel {
    struct lab_sim_module *module;
    const struct lab_ptx *ptx; /* of the module */
    char name[LAB_SIM_NAME];   /* as a person calls it */
    const struct lab_ptx_function *function;
    const struct sim_instr *instrs;
    int32_t instr_count;
    int32_t slots; /* of a warp's registers, 128 bytes each */
    int32_t preds;
    int64_t shared_bytes;           /* static: the end of the last variable */
    int64_t dynamic_at;             /* where dynamic shared memory begins */
    struct sim_variable *variables; /* of static shared memory */
    int32_t variable_count;
    /* What dynamic shared memory is called; "": nothing, or several names. */
    struct sim_variable dynamic_array;
    int64_t local_bytes; /* of a lane */
    int64_t params_bytes;
    const int64_t *param_offsets; /* of each parameter */
    bool dynamic;                 /* it names dynamic shared memory */
    bool in_order; /* blocks must run in one order for the same bits */
    const struct sim_home *homes; /* of the function's registers */
    /* Of each register: 0, or its number among those that what nothing wrote may
     * come to, from 1. NULL: there is none. */
    const int32_t *tracked;
    int32_t tracked_count;
};

/* Of a block with `dynamic` bytes of dynamic shared memory. */
static inline int64_t sim_shared_bytes(const struct lab_sim_kernel *k,
                                       int64_t dynamic)
{
    return dynamic > 0 ? k->dynamic_at + dynamic : k->shared_bytes;
}

/* Where a register of the PTX is kept: slot (of a predicate its number), while the
 * next instruction is one of from .. to; outside of these its slot may hold
 * another. slot -1: never used. */
struct sim_home {
    int32_t slot;
    int32_t from;
    int32_t to;
    bool
        unwritten; /* some way leads from the start to a read without a write */
    bool
        early; /* the same, of wgmma's sums, too: alive before it has a value */
};

static inline int32_t sim_index(const struct sim_warp *w,
                                const struct sim_instr *i)
{
    return (int32_t)(i - w->block->grid->kernel->instrs);
}

/* ---- what check.c and count.c do around a launch ---- */

/* Makes g->check and g->count. Once, before any block. */
enum lab_status sim_check_begin(struct sim_grid *g);
/* Before the first block: several threads of the host will run them, and what they
 * overwrite is kept. false: there is no room for it. */
bool sim_check_keep(struct sim_grid *g);
/* After the last block: whether blocks raced, so that what they wrote depends on which
 * thread of the host came first. */
bool sim_check_raced(const struct sim_grid *g);
/* Takes back what the blocks wrote, and begins again. */
enum lab_status sim_check_again(struct sim_grid *g);
/* Before the first instruction of a block (its warps and memory are ready, and
 * a struct sim_block is used for many blocks, one after the other) and after its
 * last. Blocks of different host threads come at the same time. */
enum lab_status sim_check_block_begin(struct sim_block *b);
void sim_check_block_end(struct sim_block *b);
/* After the last block: findings, counts and lines of `out`. Both arrays have a
 * row an instruction of the kernel, summed over all blocks. What begin made is
 * given back, also when `out` is NULL (the launch failed). */
enum lab_status sim_check_end(struct sim_grid *g, const struct sim_tally *tally,
                              const struct lab_sim_counts *counts,
                              struct lab_sim_result *out);

/* ---- lowering ---- */

struct sim_lowering; /* lower.c */

/* The operand of a register, an immediate or a special register. `bytes` is what
 * an immediate means. LAB_E_UNSUPPORTED when it is none of them. */
enum lab_status sim_lower_operand(struct sim_lowering *l,
                                  const struct lab_ptx_operand *in,
                                  struct sim_operand *out);
/* [address]: a register with what is added, or a variable. */
enum lab_status sim_lower_address(struct sim_lowering *l,
                                  const struct lab_ptx_operand *in,
                                  struct sim_operand *out);
/* Memory that lives as long as the kernel. */
void *sim_lower_take(struct sim_lowering *l, size_t bytes);
/* LAB_E_UNSUPPORTED with the opcode in full and the source line. */
enum lab_status sim_lower_refuse(struct sim_lowering *l,
                                 const struct lab_ptx_instr *in,
                                 const char *why);

/* tensor.c: ldmatrix, stmatrix, movmatrix, mma, wmma, wgmma, cp.async*, mbarrier,
 * fence, setmaxnreg, elect, griddepcontrol. *known false: not one of these. */
enum lab_status sim_lower_tensor(struct sim_lowering *l,
                                 const struct lab_ptx_instr *in,
                                 struct sim_instr *out, bool *known);
/* An instruction that touches a register in which a product of wgmma, or a copy of its
 * sum, may be: a finding where it reads one that is still being computed. */
void sim_run_on_sums(struct sim_warp *w, const struct sim_instr *i,
                     uint32_t mask);
/* unwritten.c: an instruction on registers that are tracked; whether what nothing
 * wrote passes from its sources to its result; a warp before its first. */
void sim_run_on_unwritten(struct sim_warp *w, const struct sim_instr *i,
                          uint32_t mask);
/* After a shuffle among such registers: lane k has read lane from[k]. */
void sim_unwritten_shuffled(struct sim_warp *w, const struct sim_instr *i,
                            uint32_t mask, const int from[SIM_LANES]);
bool sim_unwritten_passes(const struct lab_ptx_instr *in);
void sim_unwritten_start(struct sim_warp *w);
/* Whether operand 0 is a result. */
bool sim_has_result(const struct lab_ptx_instr *in);
/* Whether the opcode is one of `list`, which a NULL ends. */
bool sim_is_one_of(const struct lab_ptx_instr *in, const char *const *list);
/* Before a warp or a block ends, and to give back what it kept. */
void sim_tensor_warp_end(struct sim_warp *w);
void sim_tensor_block_end(struct sim_block *b);
/* A warp in SIM_WAITING was chosen by the scheduler though nothing else can run:
 * copies that are under way arrive now. true: something arrived. */
bool sim_tensor_arrive(struct sim_block *b);
