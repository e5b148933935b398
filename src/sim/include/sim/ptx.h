/* sim/ptx.h -- PTX text, taken apart and not yet understood: NVIDIA's "Parallel
 * Thread Execution ISA", the text that nvcc and clang make of a kernel.
 *
 * The reader knows the grammar and no opcode: it splits `fma.rn.f32 %f1, %f2,
 * %f3, %f4;` into a name, its modifiers and operands. What an opcode means, and
 * whether the simulator has it, decides the lowering, one kernel at a time, so
 * that an unknown opcode refuses that kernel and no other.
 *
 * A module owns everything in it, and is not changed after it was read: any
 * number of threads may use it. Texts are NUL-terminated and live as long. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"

/* A type of a register, a variable or a parameter: `.b32`, `.f64`, `.pred`. */
enum lab_ptx_type {
    LAB_PTX_NO_TYPE,
    LAB_PTX_PRED,
    LAB_PTX_B8,
    LAB_PTX_B16,
    LAB_PTX_B32,
    LAB_PTX_B64,
    LAB_PTX_B128,
    LAB_PTX_U8,
    LAB_PTX_U16,
    LAB_PTX_U32,
    LAB_PTX_U64,
    LAB_PTX_S8,
    LAB_PTX_S16,
    LAB_PTX_S32,
    LAB_PTX_S64,
    LAB_PTX_U16X2,
    LAB_PTX_S16X2,
    LAB_PTX_F16,
    LAB_PTX_F16X2,
    LAB_PTX_BF16,
    LAB_PTX_BF16X2,
    LAB_PTX_TF32,
    LAB_PTX_E4M3,
    LAB_PTX_E5M2,
    LAB_PTX_F32,
    LAB_PTX_F64,
    LAB_PTX_TYPE_COUNT
};

enum lab_ptx_space {
    LAB_PTX_GENERIC,
    LAB_PTX_REG,
    LAB_PTX_PARAM,
    LAB_PTX_CONST,
    LAB_PTX_GLOBAL,
    LAB_PTX_SHARED,
    LAB_PTX_LOCAL
};

/* Where an instruction comes from; `inlined_at` is the place of the call that
 * was inlined (an index into lab_ptx.places), -1: none. */
struct lab_ptx_place {
    int32_t file; /* into lab_ptx.files; -1: not known */
    int32_t line; /* from 1 */
    int32_t column;
    int32_t inlined_at;
    const char
        *function; /* of the inlined function, as the PTX has it, or NULL */
};

enum lab_ptx_operand_kind {
    LAB_PTX_OPERAND_REG, /* `reg`; `negated` for !%p */
    LAB_PTX_OPERAND_INT, /* `value`: 17, -1, 0x1F, 5U */
    LAB_PTX_OPERAND_F32, /* 0f3F800000: the 32 bits in `value` */
    LAB_PTX_OPERAND_F64, /* 0d3FF0..., 1.5: the 64 bits in `value`, also where
                          * the instruction wants an f32 */
    LAB_PTX_OPERAND_SYMBOL, /* `name`: a variable, parameter or function; + value.
                             * `variable` unless it is a function or a prototype */
    LAB_PTX_OPERAND_LABEL, /* `target`: index of the instruction that it names;
                            * the list of brx.idx is a vector of these */
    LAB_PTX_OPERAND_SPECIAL, /* `name` with its part: "%tid.x", "%laneid" */
    LAB_PTX_OPERAND_ADDRESS, /* [part 0 + value] of one part; more parts for
                              * [%rd1, {%r1, %r2}], an address of a tensor */
    LAB_PTX_OPERAND_VECTOR, /* {a, b}, and the list in (a, b) of a call: parts */
    LAB_PTX_OPERAND_PAIR,   /* %p1|%p2: two parts */
    LAB_PTX_OPERAND_SINK    /* _ */
};

struct lab_ptx_operand {
    enum lab_ptx_operand_kind kind;
    bool negated;
    int32_t reg;    /* into lab_ptx_function.regs */
    int32_t target; /* into lab_ptx_function.instrs; may be instr_count */
    uint64_t value; /* an integer, two's complement, or the bits of a float */
    const char *name;
    /* Of a symbol: into variables of the module or of the function, params or
     * results. Two scopes may both have a `param0`: go by this, not by name. */
    const struct lab_ptx_variable *variable;
    const struct lab_ptx_operand *parts;
    int32_t part_count;
};

struct lab_ptx_instr {
    const char *opcode; /* "fma" */
    const char *const
        *modifiers; /* "rn", "f32", in order; "shared::cta" is one */
    int32_t modifier_count;
    int32_t operand_count;
    const struct lab_ptx_operand *operands; /* the destination first */
    int32_t guard; /* the predicate register of @%p, -1: none */
    bool guard_negated;
    int32_t place; /* into lab_ptx.places, -1: none */
    int32_t near; /* the same, or that of the last one before it that has one */
    int32_t text_line; /* of the PTX, from 1 */
};

struct lab_ptx_reg {
    const char *name; /* "%f12" */
    enum lab_ptx_type type;
};

/* An initialiser that is an address: that of `symbol`, a variable of the module or
 * a function, plus `add`, shifted right by `shift`, stored in `bytes` bytes. */
struct lab_ptx_address {
    int64_t at; /* in the variable */
    const char *symbol;
    uint64_t add;
    bool generic; /* generic(symbol): not the address in its own space */
    int32_t bytes;
    int32_t shift;
};

/* A variable of the module or of a function, or a parameter. `space` of a
 * parameter is LAB_PTX_PARAM, or LAB_PTX_REG: the register of the same name. */
struct lab_ptx_variable {
    const char *name;
    enum lab_ptx_space space;
    enum lab_ptx_type type;
    int32_t align;             /* bytes, at least that of the type */
    int64_t elements;          /* 1 for a scalar; 0: [] of an extern array */
    bool external;             /* .extern: dynamic shared memory */
    const unsigned char *init; /* its first bytes, or NULL; the rest is 0 */
    int64_t init_bytes;
    const struct lab_ptx_address *addresses; /* in the initialiser */
    int32_t address_count;
};

struct lab_ptx_function {
    const char *name;
    bool entry;    /* .entry; else .func */
    bool declared; /* without a body */
    const struct lab_ptx_variable *params;
    int32_t param_count;
    const struct lab_ptx_variable *results; /* of a .func */
    int32_t result_count;
    const struct lab_ptx_variable
        *variables; /* .shared, .local, .param of the body */
    int32_t variable_count;
    const struct lab_ptx_reg *regs; /* that are used, not all of %r<12> */
    int32_t reg_count;
    const struct lab_ptx_instr *instrs;
    int32_t instr_count;
    int32_t max_threads[3]; /* .maxntid or .reqntid; 0: not given */
    bool exact_threads;     /* .reqntid: a block has just so many */
    int32_t cluster[3];     /* .reqnctapercluster; 0: not given */
    int32_t max_registers;  /* .maxnreg; 0 */
    int32_t min_blocks;     /* .minnctapersm; 0 */
    int32_t text_line;
};

struct lab_ptx {
    const char *name;         /* of the file, for messages */
    int32_t version;          /* 90 for 9.0 */
    int32_t target;           /* 75, 90 */
    bool target_specific;     /* sm_90a */
    const char *const *files; /* of .file, in the order of their numbers from 1;
                               * NULL where a number is left out */
    int32_t file_count;
    const struct lab_ptx_place *places;
    int32_t place_count;
    const struct lab_ptx_variable *variables; /* .global, .const, .shared */
    int32_t variable_count;
    const struct lab_ptx_function *functions;
    int32_t function_count;
};

LAB_C_BEGIN
/* Reads `bytes` of PTX, which may end without a NUL. LAB_E_PARSE with "NAME:LINE:
 * what is wrong" (of the PTX); nothing is left behind on failure. Sizes that the
 * text claims are bounded by the text's length: hostile text cannot ask for more
 * memory than a multiple of it. */
enum lab_status lab_ptx_read(const char *text, size_t bytes, const char *name,
                             struct lab_ptx **out);
void lab_ptx_free(struct lab_ptx *ptx); /* NULL allowed */
/* NULL: no function of that name. */
const struct lab_ptx_function *lab_ptx_function(const struct lab_ptx *ptx,
                                                const char *name);
/* The innermost place that is in no header of a compiler's (atomicAdd(), the
 * arithmetic of half): the line that a person wrote. `place` itself where there is
 * none. */
int32_t lab_ptx_user_place(const struct lab_ptx *ptx, int32_t place);
/* Of a line in an inlined function, the line that a person wrote of the call; -1: it is
 * in no such function, or the PTX does not record it (clang's). */
int32_t lab_ptx_caller(const struct lab_ptx *ptx, int32_t place);
bool lab_ptx_has_modifier(const struct lab_ptx_instr *in, const char *modifier);
int lab_ptx_type_bytes(enum lab_ptx_type type); /* 0: none, a predicate */
/* ".f32" or "f32"; LAB_PTX_NO_TYPE: it is none. */
enum lab_ptx_type lab_ptx_type_of(const char *text);
LAB_C_END
