/* sim/debug.h -- a launch that one walks: one block of a grid, an instruction or a
 * source line at a time, forward and back, with a look at warps, lanes, registers
 * and shared memory in between.
 *
 * The warp in focus is the one that is walked; the others run as the scheduler has
 * it, with the same seed in the same order. Back is exact: memory is put back and
 * the block runs again up to the stop before, which may be in another block. Only the
 * block in focus runs, but for lab_sim_debug_writer(), which runs all before it.
 *
 * Threads: one, the memory's. No other launch on the memory meanwhile. What the
 * block writes stays when it is closed. */
#pragma once
#include "sim/sim.h"

struct lab_sim_debug;

/* How far to go. */
enum lab_sim_move {
    LAB_SIM_INSTRUCTION,  /* one of the warp in focus */
    LAB_SIM_LINE,         /* until the warp is at another source line */
    LAB_SIM_BARRIER_NEXT, /* until it has passed its next barrier */
    /* Until it has left the inlined function whose line it is at, or the function that
     * the kernel calls; in the kernel's own code, until it has ended. PTX of clang has
     * no chain of inlined calls: there a function is left only for another file. */
    LAB_SIM_FINISH,
    LAB_SIM_CONTINUE /* until a breakpoint, a finding, or the block's end */
};

/* Why it stopped. */
enum lab_sim_stop_reason {
    LAB_SIM_STOPPED_MOVED,   /* there, as asked */
    LAB_SIM_STOPPED_LINE,    /* a breakpoint's line */
    LAB_SIM_STOPPED_ACCESS,  /* the element was touched: `warp`'s last access */
    LAB_SIM_STOPPED_FINDING, /* see lab_sim_debug_findings() */
    LAB_SIM_STOPPED_WARP_DONE, /* the warp in focus has ended */
    LAB_SIM_STOPPED_END        /* all warps have */
};

struct lab_sim_stop {
    enum lab_sim_stop_reason reason;
    int warp;         /* in focus now; of a breakpoint: that which hit it */
    int64_t executed; /* instructions of the block since its start */
};

/* A warp as it is now. */
struct lab_sim_warp_view {
    int index;
    uint32_t lanes; /* that exist, bit a lane */
    uint32_t alive;
    uint32_t active; /* that run the next instruction */
    bool at_barrier;
    bool waiting; /* for an asynchronous copy, or another warp */
    bool done;
    int32_t place;     /* of the next instruction, into lab_ptx.places; -1 */
    int32_t text_line; /* in the PTX; 0: none */
    int64_t executed;
};

/* What the warp's last load, store or atomic touched; count 0 lanes: none yet. */
struct lab_sim_access_view {
    bool write;
    bool atomic;
    enum lab_ptx_space space; /* GENERIC: the lanes' are of several */
    int bytes;                /* a lane */
    uint32_t lanes;
    uint32_t outside;     /* of them, those that must not: a finding */
    uint64_t address[32]; /* shared and local: from 0; generic: as they are */
    int variable; /* of shared memory, that the instruction names, from 1; 0: none */
    int32_t place;
    int32_t text_line;
};

/* An element of global memory that a thread reads, or writes. */
struct lab_sim_touch {
    bool write;
    bool atomic;
    uint64_t address;
    int bytes;
    int32_t place;
    int64_t times;
};

/* A register that holds a value, and where that was computed: by the instruction before
 * the next one in the text, or, round a loop, the last one behind it. */
struct lab_sim_value {
    const char *name; /* in the PTX */
    enum lab_ptx_type type;
    uint64_t bits;
    int32_t place;     /* -1: not known */
    int32_t parameter; /* that has this value, or this address; -1: none */
};

/* A tensor that the walk has written to, and who wrote each element of it last. */
struct lab_sim_written {
    struct lab_sim_label label;
    uint32_t grid[3]; /* of the launch */
    uint32_t block[3];
    int64_t count; /* elements */
    /* Number of the thread in the grid, block by block; -1: none that was walked. */
    const int64_t *thread;
};

LAB_C_BEGIN
/* Is before the first instruction of a block. `launch` and what it names must
 * outlive it. Errors as lab_sim_run(); LAB_E_RANGE: no such block. */
enum lab_status lab_sim_debug_open(struct lab_sim_memory *m,
                                   const struct lab_sim_launch *launch,
                                   const struct lab_sim_options *options,
                                   const uint32_t block[3],
                                   struct lab_sim_debug **out);
void lab_sim_debug_close(struct lab_sim_debug *d); /* NULL allowed */

/* Called now and then in whatever runs; false stops it, as options.stop does. NULL:
 * not called. */
void lab_sim_debug_poll(struct lab_sim_debug *d, bool (*go_on)(void *user),
                        void *user);
/* The walk is given up: what runs ends soon, wherever it is; only closing is left. Any
 * thread. */
void lab_sim_debug_leave(struct lab_sim_debug *d);
/* options.stop ends a move: LAB_E_CANCELLED, and it stays where it came to. */
enum lab_status lab_sim_debug_move(struct lab_sim_debug *d,
                                   enum lab_sim_move move,
                                   struct lab_sim_stop *out);
/* To the stop before this one; LAB_E_STATE at the first. LAB_E_CANCELLED: it is on
 * the way there. */
enum lab_status lab_sim_debug_back(struct lab_sim_debug *d,
                                   struct lab_sim_stop *out);
/* Another block, from its start; memory is as before the launch. Back returns. */
enum lab_status lab_sim_debug_block(struct lab_sim_debug *d,
                                    const uint32_t block[3]);
/* LAB_E_RANGE: the block has no such warp, or thread. */
enum lab_status lab_sim_debug_focus(struct lab_sim_debug *d, int warp);
enum lab_status lab_sim_debug_thread(struct lab_sim_debug *d,
                                     const uint32_t thread[3], int *lane);
/* Goes to the thread that writes these bytes first: runs the blocks in turn until
 * one does, which is in focus then. Back returns. LAB_E_NOTFOUND: none does; then,
 * and with LAB_E_CANCELLED, it is where it was. */
enum lab_status lab_sim_debug_writer(struct lab_sim_debug *d, const void *p,
                                     size_t bytes, struct lab_sim_stop *out,
                                     int *lane);

/* The different elements of global memory that a thread of the block touches from
 * its start to its end, in order, `most` at most. Runs the block, and comes back to
 * where it was. */
enum lab_status lab_sim_debug_thread_accesses(struct lab_sim_debug *d, int warp,
                                              int lane,
                                              struct lab_sim_touch *out,
                                              int most, int *count);

/* A line of any of the module's files that ends in `file`; file NULL: the file of
 * the kernel. LAB_E_NOTFOUND: no code there, with the next line that has some. */
enum lab_status lab_sim_debug_break(struct lab_sim_debug *d, const char *file,
                                    int32_t line);
/* At each line that this thread of the block comes to. LAB_E_RANGE. */
enum lab_status lab_sim_debug_break_thread(struct lab_sim_debug *d,
                                           const uint32_t thread[3]);
/* Is there a breakpoint at a line, and no more of them. */
bool lab_sim_debug_breaks(const struct lab_sim_debug *d, int32_t file,
                          int32_t line);
void lab_sim_debug_unbreak(struct lab_sim_debug *d, int32_t file, int32_t line);
/* At any access of these bytes; bytes 0: none any more. */
void lab_sim_debug_watch(struct lab_sim_debug *d, const void *p, size_t bytes);
void lab_sim_debug_clear(struct lab_sim_debug *d); /* all breakpoints */

const struct lab_ptx_function *
lab_sim_debug_function(const struct lab_sim_debug *d);
const struct lab_ptx *lab_sim_debug_ptx(const struct lab_sim_debug *d);
/* Of the launch. */
void lab_sim_debug_shape(const struct lab_sim_debug *d, uint32_t grid[3],
                         uint32_t block[3]);
/* The bits of a parameter that has at most 8 bytes; false: it has more, or there is
 * none. */
bool lab_sim_debug_parameter(const struct lab_sim_debug *d, int number,
                             uint64_t *out);
void lab_sim_debug_where(const struct lab_sim_debug *d, uint32_t block[3],
                         int *warp, int *warps);
void lab_sim_debug_warp(const struct lab_sim_debug *d, int warp,
                        struct lab_sim_warp_view *out);
void lab_sim_debug_access(const struct lab_sim_debug *d, int warp,
                          struct lab_sim_access_view *out);
/* The thread of a lane. */
void lab_sim_debug_thread_of(const struct lab_sim_debug *d, int warp, int lane,
                             uint32_t thread[3]);
/* A register of the kernel by its PTX name in each lane, a predicate as 0 or 1.
 * LAB_E_NOTFOUND: no such register; LAB_E_STATE: it holds nothing at this place. */
enum lab_status lab_sim_debug_register(const struct lab_sim_debug *d, int warp,
                                       const char *name, uint64_t values[32],
                                       enum lab_ptx_type *type);
/* The registers that hold a value for a lane where its warp is, those that were computed
 * last first; `most` at most. Returns how many; 0 also where memory is short. */
int lab_sim_debug_values(const struct lab_sim_debug *d, int warp, int lane,
                         struct lab_sim_value *out, int most);
/* The block's shared memory. */
const unsigned char *lab_sim_debug_shared(const struct lab_sim_debug *d,
                                          int64_t *bytes);
/* Array `number` of static shared memory, its bytes, and the type of its numbers (enum
 * lab_sim_type; -1: not known); behind the last one what is dynamic, as "dynamic". false:
 * there are no more. */
bool lab_sim_debug_shared_array(const struct lab_sim_debug *d, int number,
                                const char **name, int64_t *from, int64_t *end,
                                int *type);
/* Whether "tile", or "tile[3]", is one of those. */
bool lab_sim_debug_is_shared(const struct lab_sim_debug *d,
                             const char *element);
/* The thread that wrote each 4-byte word of it last (of the last word there may be
 * less), as its number in the block; -1: none did. Until the next move. */
const int32_t *lab_sim_debug_shared_writers(const struct lab_sim_debug *d,
                                            int64_t *words);
/* The named tensor that was written to last, by the blocks that were walked, until the
 * next move. A block that is walked again begins with nothing. NULL: none yet, or it
 * has more than a million elements. */
const struct lab_sim_written *
lab_sim_debug_written(const struct lab_sim_debug *d);
/* What a global address belongs to, by the newest label: name, argument, rank and
 * index of *out. false: to no label. */
bool lab_sim_debug_element(const struct lab_sim_debug *d, uint64_t address,
                           struct lab_sim_finding *out);
/* "s[3][17]" at an address in shared memory; false: the source is not there, or does
 * not give the elements. */
bool lab_sim_debug_shared_element(const struct lab_sim_debug *d,
                                  uint64_t address, char *out, size_t cap);
/* What is at a lane's address that is no tensor's: "4 bytes after the end of x". */
void lab_sim_debug_outside(const struct lab_sim_debug *d,
                           const struct lab_sim_access_view *v, int lane,
                           char *out, size_t cap);
/* The memory of "fc1.W[3,17]", or of "0[3,17]" of argument 0; without an index all
 * of it. LAB_E_NOTFOUND: no name of global memory, with the names that there are, or of
 * shared memory; LAB_E_RANGE. */
enum lab_status lab_sim_debug_find(const struct lab_sim_debug *d,
                                   const char *element, void **p,
                                   size_t *bytes);
/* An element, "x[3,17]", of `type`, enum lab_sim_type; `written`: what is there was, as
 * far as the checks know. LAB_E_NOTFOUND, LAB_E_RANGE. */
enum lab_status lab_sim_debug_element_at(const struct lab_sim_debug *d,
                                         const char *element, void **p,
                                         int *type, bool *written);
/* What the instructions of a source line did so far, in this block; line 0: all of
 * the kernel. */
void lab_sim_debug_counts(const struct lab_sim_debug *d, int32_t file,
                          int32_t line, struct lab_sim_counts *out);
/* Lanes that came to a line, on average of a warp's times there: those of the
 * instruction that most executed, for others of the line are of some lanes only
 * (`a ? b : c`). 0: it has not run. */
double lab_sim_debug_lanes(const struct lab_sim_debug *d, int32_t file,
                           int32_t line);
/* Of the block so far; owned by `d`, until the next move. */
const struct lab_sim_finding *
lab_sim_debug_findings(const struct lab_sim_debug *d, int32_t *count);
LAB_C_END
