/* code.h -- what the files of the executor share: the table of arithmetic, how an
 * instruction is lowered family by family, and lanes as arrays. */
#pragma once
#include "exec.h"

/* ---- modifiers ---- */

#define SIM_MODIFIER_LIST(X)                                                   \
    X(RN, "rn")                                                                \
    X(RZ, "rz")                                                                \
    X(RM, "rm")                                                                \
    X(RP, "rp")                                                                \
    X(RNA, "rna")                                                              \
    X(RNI, "rni")                                                              \
    X(RZI, "rzi")                                                              \
    X(RMI, "rmi")                                                              \
    X(RPI, "rpi")                                                              \
    X(FTZ, "ftz")                                                              \
    X(SAT, "sat")                                                              \
    X(SATFINITE, "satfinite")                                                  \
    X(RELU, "relu")                                                            \
    X(APPROX, "approx")                                                        \
    X(FULL, "full")                                                            \
    X(LO, "lo")                                                                \
    X(HI, "hi")                                                                \
    X(WIDE, "wide")                                                            \
    X(NAN, "NaN")                                                              \
    X(ABS, "abs")                                                              \
    X(XORSIGN, "xorsign")                                                      \
    X(CC, "cc")                                                                \
    X(LEFT, "l")                                                               \
    X(RIGHT, "r")                                                              \
    X(CLAMP, "clamp")                                                          \
    X(WRAP, "wrap")                                                            \
    X(SHIFTAMT, "shiftamt")                                                    \
    X(FINITE, "finite")                                                        \
    X(INFINITE, "infinite")                                                    \
    X(NUMBER, "number")                                                        \
    X(NOTANUMBER, "notanumber")                                                \
    X(NORMAL, "normal")                                                        \
    X(SUBNORMAL, "subnormal")                                                  \
    X(F4E, "f4e")                                                              \
    X(B4E, "b4e")                                                              \
    X(RC8, "rc8")                                                              \
    X(ECL, "ecl")                                                              \
    X(ECR, "ecr")                                                              \
    X(RC16, "rc16")

enum {
#define X(name, text) SIM_BIT_##name,
    SIM_MODIFIER_LIST(X)
#undef X
        SIM_MODIFIER_COUNT
};
#define SIM_M(name) ((uint64_t)1 << SIM_BIT_##name)

/* An opcode's modifiers, sorted. */
struct sim_mods {
    uint64_t bits;
    int type_count;
    uint8_t types[4];  /* enum lab_ptx_type, in order */
    const char *other; /* the first that is neither, or NULL */
};
void sim_mods_of(const struct lab_ptx_instr *in, struct sim_mods *out);

/* i->flags of arithmetic */
enum {
    SIM_F_FTZ = 1,
    SIM_F_SAT = 2,
    SIM_F_ROUND = 12, /* 0 nearest, 4 zero, 8 down, 12 up */
    SIM_F_RZ = 4,
    SIM_F_RM = 8,
    SIM_F_RP = 12,
    SIM_F_RELU = 16,
    SIM_F_NAN = 32,
    SIM_F_XORSIGN = 64,
    SIM_F_CC = 128
};

/* One row of arithmetic. `shape` names the operands: T of `type`, W twice as
 * wide, I 32 bits, P a predicate; the destination first. */
struct sim_row {
    const char *opcode;
    uint8_t type;
    uint64_t need;
    uint64_t allow;
    const char *shape;
    sim_run_fn *run;
    sim_run_fn *flagged; /* with flags that `run` leaves out; NULL: run */
    uint8_t from;        /* second type, or 0 */
};
/* NULL: no such form. */
const struct sim_row *sim_math_row(const char *opcode,
                                   const struct sim_mods *mods);

/* ---- families; *known false: not one of these ---- */

typedef enum lab_status sim_lower_fn(struct sim_lowering *l,
                                     const struct lab_ptx_instr *in,
                                     struct sim_instr *out, bool *known);
sim_lower_fn sim_lower_compare; /* compare.c: setp set selp slct testp */
sim_lower_fn sim_lower_convert; /* convert.c: cvt */
sim_lower_fn sim_lower_move;    /* move.c: mov ld st atom red cvta ... */
sim_lower_fn sim_lower_warp;    /* together.c: shfl vote match redux bar ... */
sim_lower_fn sim_lower_flow;    /* warp.c: bra brx ret exit trap call */

/* A selp that executes a source of its own under its predicate counts the FLOP of its
 * lanes (compare.c). */
sim_run_fn sim_run_choice;
/* So do a root, which takes another way for 0, and what does near the ends of the range,
 * as a division. NULL: `i` is none of them (math.c). */
sim_run_fn *sim_math_counts(struct sim_instr *i);
/* Nothing to do: a break for a debugger; a fence, a prefetch where everything is done
 * in order. */
void sim_run_nothing(struct sim_warp *w, const struct sim_instr *i,
                     uint32_t mask);

/* An operand of a type: a register of its size or an immediate, converted. */
enum lab_status sim_lower_typed(struct sim_lowering *l,
                                const struct lab_ptx_instr *in, int operand,
                                int type, struct sim_operand *out);
enum lab_status sim_lower_typed_part(struct sim_lowering *l,
                                     const struct lab_ptx_instr *in,
                                     const struct lab_ptx_operand *o, int type,
                                     bool wider, struct sim_operand *out);
enum lab_status sim_lower_pred(struct sim_lowering *l,
                               const struct lab_ptx_instr *in,
                               const struct lab_ptx_operand *o,
                               struct sim_operand *out);
/* A failure of an operand gets the instruction's opcode and place. */
enum lab_status sim_lower_because(struct sim_lowering *l,
                                  const struct lab_ptx_instr *in,
                                  enum lab_status st);
/* Of a register; 0: the operand is none. */
int sim_lower_register_bytes(const struct sim_lowering *l,
                             const struct lab_ptx_operand *o);

/* A row of a lowering: `opcode`, and the modifiers that it begins with. */
struct sim_form {
    const char *opcode;
    const char *first[3];
    enum lab_status (*lower)(struct sim_lowering *l,
                             const struct lab_ptx_instr *in,
                             struct sim_instr *out);
};
/* The row that fits; NULL: none. */
const struct sim_form *sim_form_find(const struct sim_form *forms, size_t count,
                                     const struct lab_ptx_instr *in);

/* Shared memory, where a modifier names it; else generic. */
enum lab_ptx_space sim_space_of(const struct lab_ptx_instr *in);

/* ---- a kernel while it is lowered ---- */

/* A function of the kernel: itself, and what it calls. */
struct sim_part {
    const struct lab_ptx_function *function; /* as it was read */
    struct lab_ptx_function code;            /* as the machine has it: fuse.c */
    struct sim_fused *fused;
    int32_t base; /* its first instruction in the kernel */
    struct sim_home *homes;
    struct sim_part *next;
    bool open; /* its calls are being followed: a recursion if met again */
};

/* Where a variable is: an address in its space. */
struct sim_symbol {
    const struct lab_ptx_variable *variable;
    uint64_t address;
    enum lab_ptx_space space; /* LOCAL for parameters of calls */
};

struct sim_lowering {
    struct lab_sim_module *module;
    struct lab_sim_kernel *kernel;
    struct lab_arena *arena;
    struct sim_part *parts; /* the kernel first */
    struct sim_part *part;  /* that is being lowered */
    struct sim_symbol *symbols;
    size_t symbol_count;
    size_t symbol_room;
    bool refused; /* the error has the place already */
};

/* The address of a symbol operand; NULL: not known. */
const struct sim_symbol *sim_lower_symbol(const struct sim_lowering *l,
                                          const struct lab_ptx_operand *o);
/* The part of a function; NULL: not called. */
struct sim_part *sim_lower_part(const struct sim_lowering *l,
                                const struct lab_ptx_function *f);
/* The register of an operand, that another part of the program names. */
enum lab_status sim_lower_reg(const struct sim_lowering *l, int32_t reg,
                              struct sim_operand *out);

/* ---- FLOP of a lane ---- */

/* Additions, products and fused ones, in fp32 or fp64. */
struct sim_work {
    int adds;
    int muls;
    int fmas;
    bool f64;
    int wide_muls; /* products in fp64 beside them */
};
void sim_add_work(struct lab_sim_counts *n, struct sim_work w);
/* Of a function of mathematics, by its arguments; as floats are, for a float's. */
typedef struct sim_work sim_work_fn(double a, double b);
/* By its name in C; NULL: not known (function_flop.c). */
sim_work_fn *sim_function_work(const char *name);

/* ---- calls ---- */

/* Bytes that move from the caller's local memory to the function's, or back. */
struct sim_copied {
    int64_t from;
    int64_t to;
    int64_t bytes;
};

struct sim_library;

/* i->extra of a call; `library` is call.c's. */
struct sim_called {
    struct sim_copied *params;
    int param_count;
    struct sim_copied *results;
    int result_count;
    const struct sim_library *library;
    sim_work_fn *work; /* of the library's function; NULL: not known */
};

/* A call of a function that is in no PTX; refuses one that is not known (call.c). */
enum lab_status sim_lower_outside(struct sim_lowering *l,
                                  const struct lab_ptx_instr *in,
                                  const char *name, struct sim_called *c,
                                  struct sim_instr *out);

/* ---- running (warp.c) ---- */

/* Where lanes that parted meet again: those of `expected` that still come. A call
 * is one, too: its lanes meet at the return. */
struct sim_join {
    int32_t pc;
    uint32_t expected;
    uint32_t arrived;
    int parent;                   /* -1: none */
    const struct sim_instr *call; /* NULL: a branch */
};

/* Lanes that run when the active ones have met, ended or wait. */
struct sim_side {
    int32_t pc;
    uint32_t mask;
    int join;
    bool parked; /* waits for other lanes of its warp */
};

enum { SIM_JOINS = 96 };

struct sim_stack {
    struct sim_join joins[SIM_JOINS];
    uint8_t free[SIM_JOINS];
    int free_count;
    struct sim_side sides[SIM_LANES];
    int side_count;
    int join;        /* of the active lanes, -1: none */
    int32_t join_pc; /* where they stop, -1 */
    int spins;       /* looks at memory that others change, since its turn */
    bool turn_over;
};

/* At the first instruction, all lanes active. */
void sim_warp_start(struct sim_warp *w, uint32_t lanes);
/* Executes up to `most` instructions, until it waits or its turn is over. */
void sim_warp_run(struct sim_warp *w, int64_t most);
/* Lanes that are where others join them have done so: the next instruction is that
 * at w->pc, in the active lanes. */
void sim_warp_settle(struct sim_warp *w);
/* The instruction looks at memory that others may change: they get a turn. */
void sim_spins(struct sim_warp *w);
