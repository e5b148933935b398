/* sim/sim.h -- a GPU inside the program: runs a kernel's PTX thread by thread on
 * the CPU, exactly, with every access checked and counted.
 *
 * It is no model of performance: values and counts are exact, a time is never
 * given. A device address is an address of this process: what lab_sim_alloc()
 * returns, a kernel may use, and the host may read and write between launches.
 *
 * Order: blocks are spread over host threads; the threads of a block run as warps
 * of 32 lanes, in turns; a seed chooses the order of the warps. The same seed gives
 * the same bits, counts and findings for any number of host threads. Blocks that race
 * run a second time for that, in their order: without the check of races their bits
 * depend on the host's threads.
 * Threads: a memory and its launches belong to one thread at a time; modules and
 * kernels may be shared. */
#pragma once
#include "base/stop.h"
#include "sim/ptx.h"
#ifdef __cplusplus
using std::atomic_llong;
#endif

/* ---- memory ---- */

enum { LAB_SIM_MAX_RANK = 6, LAB_SIM_NAME = 64 };

/* What a finding calls an allocation or a part of it: "fc1.W", (784, 16) floats. */
struct lab_sim_label {
    char name[LAB_SIM_NAME];
    int argument; /* of the launch, from 0; -1: none */
    int element_bytes;
    int type; /* 1 + enum lab_sim_type of an element; 0: not known */
    int rank;
    int64_t dim[LAB_SIM_MAX_RANK];
    bool read_only; /* a write to it is a finding */
    bool
        bounded; /* an access to its allocation outside of every label is one */
};

struct lab_sim_memory;

/* ---- modules ---- */

struct lab_sim_module; /* one PTX text and its variables in memory */
struct lab_sim_kernel;

/* ---- what is checked ---- */

/* id: the "check" of JSON; the rest a title */
#define LAB_SIM_CHECK_LIST(X)                                                  \
    X(MEMORY, "memory", "access outside of memory, or misaligned")             \
    X(RACE, "race", "two threads, one word, no barrier between them")          \
    X(UNINITIALISED, "uninitialised", "read of what nothing wrote")            \
    X(BARRIER, "barrier", "barrier that not all threads reach")                \
    X(SHUFFLE, "shuffle", "mask names lanes that are not there")               \
    X(BUDGET, "budget", "more instructions than allowed")
enum lab_sim_check {
#define X(code, id, title) LAB_SIM_##code,
    LAB_SIM_CHECK_LIST(X)
#undef X
        LAB_SIM_CHECK_COUNT
};

/* The thread and the source line of one access. */
struct lab_sim_where {
    int32_t place; /* into the module's lab_ptx.places; -1: not known */
    uint32_t block[3];
    uint32_t thread[3];
};

struct lab_sim_finding {
    enum lab_sim_check check;
    struct lab_sim_where at;
    bool has_other; /* a race: the access before it */
    struct lab_sim_where other;
    uint64_t address;
    int bytes;
    bool write;
    /* What was touched: -1 where it is neither an argument nor labelled. */
    int argument;
    char name[LAB_SIM_NAME]; /* "fc1.W", "shared memory", "" */
    int rank;                /* of index; 0: none */
    int64_t index[LAB_SIM_MAX_RANK];
    char message[256]; /* one sentence */
    const char *hint;  /* what to look at; NULL: see lab_sim_finding_hint() */
    int64_t times;     /* as often on this line; the first is kept */
};

/* ---- what is counted ---- */

/* Names as ncu's where the definition is the same. key, title, unit */
#define LAB_SIM_COUNT_LIST(X)                                                  \
    X(warp_instructions, "instructions of warps")                              \
    X(lane_instructions, "instructions of lanes")                              \
    X(divergent_branches, "branches that split a warp")                        \
    X(flops, "FLOP in fp32, a fused multiply-add is two")                      \
    X(flops_f64, "FLOP in fp64")                                               \
    X(flops_f16, "FLOP in fp16 and bf16")                                      \
    X(flops_tensor, "FLOP of tensor cores")                                    \
    X(global_requests, "requests to global memory, one a warp")                \
    X(global_sectors, "sectors of 32 bytes moved for them")                    \
    X(global_bytes, "bytes that lanes asked for")                              \
    X(shared_requests, "requests to shared memory")                            \
    X(shared_wavefronts, "passes through shared memory that they took")        \
    X(bank_conflicts, "wavefronts beyond the least that were needed")          \
    X(atomics, "atomic operations of lanes")                                   \
    X(barriers, "barriers that warps arrived at")
/* Parts of these, for the hardware counters that tell them apart. Loads are those of
 * ld and cp.async, stores those of st: no atomics, no copies by TMA. */
#define LAB_SIM_PART_LIST(X)                                                   \
    X(load_requests, "requests of loads from global memory")                   \
    X(load_sectors, "sectors of 32 bytes moved for them")                      \
    X(store_requests, "requests of stores to global memory")                   \
    X(store_sectors, "sectors of 32 bytes moved for them")                     \
    X(f32_adds, "additions in fp32, of lanes")                                 \
    X(f32_muls, "multiplications in fp32")                                     \
    X(f32_fmas, "fused multiply-adds in fp32")                                 \
    X(f64_adds, "additions in fp64")                                           \
    X(f64_muls, "multiplications in fp64")                                     \
    X(f64_fmas, "fused multiply-adds in fp64")                                 \
    X(f16_adds, "additions in fp16 and bf16")                                  \
    X(f16_muls, "multiplications in fp16 and bf16")                            \
    X(f16_fmas, "fused multiply-adds in fp16 and bf16")                        \
    X(tensor_tf32, "FLOP of tensor cores with tf32")                           \
    X(tensor_bf16, "FLOP of tensor cores with bf16")                           \
    X(tensor_f16, "FLOP of tensor cores with fp16")                            \
    X(tensor_f64, "FLOP of tensor cores with fp64")
struct lab_sim_counts {
#define X(key, title) int64_t key;
    LAB_SIM_COUNT_LIST(X)
    LAB_SIM_PART_LIST(X)
#undef X
};

/* One source line. */
struct lab_sim_line {
    int32_t file; /* into lab_ptx.files */
    int32_t line;
    struct lab_sim_counts counts;
};

/* ---- a launch ---- */

/* Limits of the device that is simulated: "NVIDIA H200". */
struct lab_sim_device {
    const char *name;
    int major; /* compute capability */
    int minor;
    int sm_count;
    int warps_per_sm;
    int blocks_per_sm;
    int64_t registers_per_sm;
    int64_t shared_per_sm;
    int64_t shared_per_block; /* with opt-in */
    int max_threads;          /* of a block */
};

struct lab_sim_options {
    unsigned checks;         /* bit 1u << enum lab_sim_check */
    bool lines;              /* count per source line */
    uint64_t seed;           /* order of the warps */
    int64_t budget;          /* instructions of warps; 0: without end */
    int threads;             /* of the host; 0: lab_threads() */
    const atomic_bool *stop; /* NULL, or a flag that ends it: LAB_E_CANCELLED */
    struct lab_stop when;    /* asked besides, on any thread of the host */
    bool stop_found;         /* where it was stopped is a finding: budget */
    /* NULL, or the instructions of warps so far are added to it as they run. */
    atomic_llong *executed;
    const struct lab_sim_device *device; /* NULL: the newest known */
    int max_findings; /* 0: 100; later ones are counted and not kept */
    /* printf of a kernel, NULL: dropped. One call a text, in order of blocks. */
    void (*print)(void *arg, const char *text);
    void *print_arg;
};

struct lab_sim_launch {
    const struct lab_sim_kernel *kernel;
    uint32_t grid[3];
    uint32_t block[3];
    int64_t shared_bytes;    /* dynamic */
    const void *const *args; /* the address of each parameter's value */
    int arg_count;
};

struct lab_sim_result {
    struct lab_sim_counts counts;
    struct lab_sim_line *lines; /* by file, then line; owned */
    int32_t line_count;
    struct lab_sim_finding *findings; /* by block, thread, then line; owned */
    int32_t finding_count;
    int64_t findings_left_out;
    bool counted; /* it was filled in */
    bool stopped; /* the launch was stopped: of a part of it */
};

LAB_C_BEGIN
enum lab_status lab_sim_memory_open(struct lab_sim_memory **out);
void lab_sim_memory_close(struct lab_sim_memory *m); /* NULL allowed */
/* Nothing of it is written yet, as far as the checks know. Aligned to 256 bytes;
 * a part of the address space before and after belongs to no allocation. All of them
 * may take three quarters of this machine's memory, with what the checks keep of them:
 * then LAB_E_NOMEM. */
enum lab_status lab_sim_alloc(struct lab_sim_memory *m, size_t bytes,
                              void **out);
enum lab_status lab_sim_free(struct lab_sim_memory *m, void *p);
/* The host wrote here, or is about to. Outside of memory: LAB_E_RANGE. */
enum lab_status lab_sim_written(struct lab_sim_memory *m, void *p,
                                size_t bytes);
/* As far as the checks know, nothing is written here any more; what is there stays. */
enum lab_status lab_sim_unwritten(struct lab_sim_memory *m, void *p,
                                  size_t bytes);
/* How many of the elements have bytes that nothing wrote; *first: the lowest such. */
int64_t lab_sim_count_unwritten(const struct lab_sim_memory *m, const void *p,
                                int64_t count, size_t element_bytes,
                                int64_t *first);
/* Names `bytes` from p on; the newest name of a place wins. label NULL: forget. */
enum lab_status lab_sim_label(struct lab_sim_memory *m, void *p, size_t bytes,
                              const struct lab_sim_label *label);

/* Reads PTX and makes its variables. `text` need not live on. */
enum lab_status lab_sim_module_open(struct lab_sim_memory *m, const char *text,
                                    size_t bytes, const char *name,
                                    struct lab_sim_module **out);
void lab_sim_module_close(struct lab_sim_module *module); /* NULL allowed */
/* The source was compiled with -D of this word, "SIDE=32" or "FAST": the names of
 * elements in shared memory follow it. Before a kernel is found. */
enum lab_status lab_sim_module_define(struct lab_sim_module *module,
                                      const char *word);
const struct lab_ptx *lab_sim_module_ptx(const struct lab_sim_module *module);
/* The address and size of a .global or .const variable. LAB_E_NOTFOUND. */
enum lab_status lab_sim_module_variable(struct lab_sim_module *module,
                                        const char *name, void **out,
                                        size_t *bytes);
/* LAB_E_NOTFOUND with the kernels that there are; LAB_E_UNSUPPORTED with opcode
 * and source line. Kept by the module. */
enum lab_status lab_sim_kernel_find(struct lab_sim_module *module,
                                    const char *name,
                                    const struct lab_sim_kernel **out);
const struct lab_ptx_function *
lab_sim_kernel_function(const struct lab_sim_kernel *k);

/* Runs a grid. LAB_OK with findings or without (*out has them, release it);
 * LAB_E_ARG for a launch that no device takes; LAB_E_CANCELLED, with what was counted
 * and found so far in *out, or with nothing. Where the budget ends it, counts and
 * outputs are of what ran, which depends on the host's threads. A finding of
 * memory, barrier, shuffle or budget ends the block's thread, or the launch. */
enum lab_status lab_sim_run(struct lab_sim_memory *m,
                            const struct lab_sim_launch *launch,
                            const struct lab_sim_options *options,
                            struct lab_sim_result *out);
void lab_sim_result_release(struct lab_sim_result *r);

/* What to look at, in a few words. */
const char *lab_sim_finding_hint(const struct lab_sim_finding *f);
/* "memory" for LAB_SIM_MEMORY. */
const char *lab_sim_check_id(enum lab_sim_check check);
/* By name, "NVIDIA H200" or "h200"; NULL: not known. Device i of the table; NULL
 * past it. */
const struct lab_sim_device *lab_sim_device(const char *name);
const struct lab_sim_device *lab_sim_device_at(int i);
LAB_C_END
