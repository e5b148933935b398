/* engine/formula.h -- the formula of a step: one text gives what is displayed,
 * the value of any element, its terms and their sources, and the FLOPs.
 *
 *     "$o0[n,m] = sum_k $i0[n,k] * $i1[k,m] + $i2[m]"
 *
 * Grammar:
 *
 *     formula   = [ statement { ";" statement } ] [ ";" ] [ "!" words ]
 *     statement = tensor "=" sum [ '"' note '"' ] [ "," remark ]
 *     sum       = product { ("+" | "-") product }
 *     product   = power { ("*" | "/" | "~" | "") power }
 *     power     = [ "-" ] value [ "^" digits ]
 *     value     = number | tensor | letter | key | "(" sum ")"
 *               | "[" sum "=" sum "]" | function "(" sum { "," sum } ")"
 *               | ("sum" | "mean") [ "_" letter { "," letter } ] product
 *     tensor    = "$" ("i" | "o") slot [ "[" index { "," index } "]" ]
 *     index     = [ "-" ] part { ("+" | "-") part }
 *     part      = digits | letter | digits "*" letter
 *
 * Tensors are slots of the step. A statement of an unwanted output is left
 * out. What begins with "!", or with anything but an output, is words for
 * people, to the end: the step's explain function explains the outputs that no
 * statement gives. A key is one of the op's (eps). "~" is a product that is
 * displayed as a blank and explained as "*". A note follows an explanation, a
 * remark is displayed.
 *
 * Another output of the step is computed, too; the statement's own is what it
 * was before the step.
 *
 * Letters on the left are free, those under a sum are bound; each runs over its
 * axis. A tensor with more axes than indices has batch axes in front, which all
 * tensors share; where the result has none, the sum runs over them too. A
 * tensor with fewer axes leaves out its first indices. A tensor without
 * brackets is read at the same place as the result or, when the step lists
 * `axes`, has those; a sum without letters runs over those that no bracket
 * names. A term that reads outside a tensor, as padding does, is left out.
 *
 * FLOPs: an operation counts once for each combination of the letters that it
 * depends on; constants are free. A sum costs an addition a term (the first is
 * added to what is on its left), a mean the same; a factor without bound
 * letters is multiplied once, after the sum. x^n is n - 1 multiplications, a
 * comparison is free, a function costs what the table in formula.c gives.
 *
 * Threads: any; a parsed formula does not change. */
#pragma once
#include "engine/op.h"

/* The note of a gradient that is a copy. */
#define LAB_PASSED "\"unchanged: a sum passes its gradient on\""

/* The step that a formula belongs to. */
struct lab_formula_step {
    const struct lab_shape *in[LAB_STEP_IN];   /* NULL: there is none */
    const struct lab_shape *out[LAB_STEP_OUT]; /* NULL: not wanted */
    const char *axes;                          /* as in lab_step_def */
    const struct lab_key_def *keys;
    int n_keys;
    const struct lab_attr *attr;
};

enum {
    LAB_FORMULA_NODES = 96,
    LAB_FORMULA_REFS = 32,
    LAB_FORMULA_LETTERS = 24
};

struct lab_formula_node {
    unsigned char kind;
    bool paren;   /* written in parentheses */
    bool spaced;  /* a division with blanks around it */
    char spelled; /* a product: '*', '~' or ' ' */
    short a;      /* operands: nodes, or -1 */
    short b;
    int id; /* a ref, letter, key or function; bound letters */
    double number;
};

/* A tensor and an index for each of its axes: constant + sum of coef *
 * letter */
struct lab_formula_ref {
    bool out;
    bool flat; /* read at the same place as the result */
    int slot;
    int n;
    struct {
        int64_t dim;
        int64_t constant;
        int64_t coef[3];
        int letter[3];
        int n;
    } index[LAB_MAX_RANK];
};

struct lab_formula {
    const char *text; /* the caller's */
    struct lab_formula_node nodes[LAB_FORMULA_NODES];
    int n_nodes;
    struct lab_formula_ref refs[LAB_FORMULA_REFS];
    int n_refs;
    struct { /* the first LAB_MAX_RANK are batch axes, the last of them last */
        char name[8];
        int64_t extent; /* 0: no tensor has it */
    } letters[LAB_FORMULA_LETTERS];
    int n_letters;
    struct {
        int slot;
        int left; /* ref */
        int root; /* node */
        const char *note;
    } statements[LAB_STEP_OUT];
    int n_statements;
    const struct lab_attr *attr;
};

/* Element `index` of input `slot`; old: of output `slot` before the step. */
typedef double lab_formula_read_fn(void *user, bool old, int slot,
                                   int64_t index);

struct lab_step;

LAB_C_BEGIN
/* What the names of a step's formula are of. */
void lab_formula_shapes(struct lab_formula_step *out,
                        const struct lab_plan *plan,
                        const struct lab_step *step);
/* The formula of a step of the plan. */
enum lab_status lab_formula_of(struct lab_formula *f,
                               const struct lab_plan *plan,
                               const struct lab_step *step);
/* LAB_E_PARSE: the message has the text, and where it stops making sense.
 * `text` and the step's attr must outlive `f`. */
enum lab_status lab_formula_parse(struct lab_formula *f, const char *text,
                                  const struct lab_formula_step *step);
double lab_formula_flop(const struct lab_formula *f);
/* The statement that gives this output, or -1. */
int lab_formula_statement(const struct lab_formula *f, int out_slot);
/* The letters that sums bind where each tensor of the statement is read: a mask
 * for every ref of the formula, 0 for those of other statements. */
void lab_formula_bound(const struct lab_formula *f, int statement,
                       unsigned bound[LAB_FORMULA_REFS]);
/* That element, in double, from what `read` gives. *outside: an index is not
 * within its axis, in a term that is not of a sum. */
double lab_formula_value(const struct lab_formula *f, int out_slot,
                         int64_t index, lab_formula_read_fn *read, void *user,
                         bool *outside);
/* The statements of the outputs that are wanted, as they are displayed, but for
 * "$i0" and "$o0". lab_free() it; NULL: no memory. */
char *lab_formula_display(const char *text,
                          const struct lab_formula_step *step);
/* Explains an element of an output that the formula of the step gives. */
void lab_explain_formula(struct lab_explainer *ex, int out_slot, int64_t index);
LAB_C_END
