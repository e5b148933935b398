/* sim/variable.h -- the variables of a kernel's source while it is walked.
 *
 * PTX has no names of variables: nvcc and clang give lines and columns, and no more,
 * for code that is optimised. So the name of a register is derived: the statement that
 * gives `sum` its value has a place in the text, and an instruction of that place
 * computes it. A name is given only where every way to the next instruction has the
 * value in the same register; a variable that the compiler took apart has none.
 * Threads: any. */
#pragma once
#include "sim/debug.h"

/* ---- as the text has them ---- */

struct lab_sim_declared {
    char name[48];
    char type[48]; /* "int64_t", "const float *" */
    int32_t first; /* lines where it can be seen */
    int32_t last;
    int32_t body;   /* the function's first line, to tell functions apart */
    bool parameter; /* of the function */
    bool elsewhere; /* it may change where no assignment is read: through &, a
                     * reference or asm, or within an expression */
};

struct lab_sim_assigned {
    int32_t variable; /* into declared; -1: what `call` returns, a function that
                       * does no more than that, of a thread's position alone */
    int32_t line[2];  /* of its text: from .. to, with columns, from 1 */
    int32_t column[2];
    char sign;       /* '=', or '+' of +=, ++ */
    char top;        /* what its value is: + - * / % & | ^ < > (shifts) ? ! (a
                    * comparison) f (a call) [ (an element) # (a number) n (a name); 0 */
    char number[24]; /* a number alone, or 1 of ++; "threadIdx.x" alone */
    int terms;       /* signs of + and - outside of brackets */
    bool constant;   /* one of these terms is a number */
    bool factor;     /* there is a number outside of brackets */
    bool head;       /* the first part of a for */
    bool step;       /* the last part of a for */
    int32_t loop[2]; /* lines of the outermost loop around; 0: none */
    int32_t
        wide; /* alone behind a for on its line: where that begins. nvcc gives
                      * the place of the line's first statement; 0: not so */
    int32_t
        side[2]; /* the variables of "i / M", "i % M"; -1: another expression */
    char call[48]; /* the function of "v = f()" */
};

struct lab_sim_statements {
    struct lab_sim_declared *declared;
    size_t declared_count;
    size_t declared_room;
    struct lab_sim_assigned *assigned;
    size_t assigned_count;
    size_t assigned_room;
};

/* ---- as the walk has them ---- */

enum lab_sim_held {
    LAB_SIM_HELD_NOT,      /* in no register here */
    LAB_SIM_HELD_REGISTER, /* lab_ptx_function.regs[reg] */
    LAB_SIM_HELD_KNOWN     /* a parameter, or the same everywhere */
};

struct lab_sim_variable {
    char name[48];
    char type[48];
    enum lab_sim_held held;
    int32_t reg;
    enum lab_ptx_type as; /* how its bits are read */
    bool pointer;
    uint32_t lanes; /* that have a value, bit a lane */
    uint64_t value[32];
};

/* The text of a file of lab_ptx.files; false: it cannot be read. */
typedef bool lab_sim_text_fn(void *user, int32_t file, const char **text,
                             size_t *bytes);

LAB_C_BEGIN
/* Declarations and assignments of plain variables in the bodies of functions. */
enum lab_status lab_sim_statements_read(const char *text, size_t bytes,
                                        struct lab_sim_statements *out);
void lab_sim_statements_release(struct lab_sim_statements *s);

/* The variables that can be seen where the warp is, those of an inlined function
 * before its caller's, at most `most`; then threadIdx and its kind. */
enum lab_status lab_sim_variables(const struct lab_sim_debug *d, int warp,
                                  lab_sim_text_fn *text, void *user,
                                  struct lab_sim_variable *out, int most,
                                  int *count);
LAB_C_END
