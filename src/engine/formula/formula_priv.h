/* formula_priv.h -- what formula.c and walk/explain.c share. */
#pragma once
#include "engine/formula.h"

enum {
    F_NUMBER,
    F_TENSOR,
    F_LETTER,
    F_KEY,
    F_NEGATE,
    F_ADD,
    F_SUBTRACT,
    F_MULTIPLY,
    F_DIVIDE,
    F_POWER,
    F_CALL,
    F_EQUAL,
    F_SUM,
    F_MEAN
};

/* One element of a statement, while it is computed. */
struct formula_element {
    const struct lab_formula *f;
    int slot;
    int64_t flat;
    int64_t at[LAB_FORMULA_LETTERS]; /* of the letters that have a value */
    lab_formula_read_fn *read;
    void *user;
    bool outside; /* the term reads outside a tensor */
    struct {      /* the last element of an output, computed on the way */
        bool known;
        int64_t index;
        double value;
    } last[LAB_STEP_OUT];
};

void lab_formula_at(struct formula_element *e, const struct lab_formula *f,
                    int statement, int64_t index);
double lab_formula_eval(struct formula_element *e, int node);
/* The flat index of a tensor's element. */
int64_t lab_formula_index(struct formula_element *e,
                          const struct lab_formula_ref *r);
/* The first combination of these letters, all 0; then the next, the last letter
 * fastest. false: that was the last. */
void lab_formula_first(struct formula_element *e, unsigned letters);
bool lab_formula_next(struct formula_element *e, unsigned letters);
/* No tensor and no letter is in it. */
bool lab_formula_constant(const struct lab_formula *f, int node);
/* Of the values of these letters. */
double lab_formula_combinations(const struct lab_formula *f, unsigned letters);
const char *lab_formula_function(int id);
