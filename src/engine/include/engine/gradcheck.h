/* engine/gradcheck.h -- is the gradient on the screen the slope of the loss?
 *
 * * Every element p of a parameter (or an even sample of a large one) is moved
 * by +h and -h, the forward pass and the loss are computed in double with the
 * reference kernels, and (loss(p+h) - loss(p-h)) / 2h is beside the gradient. h
 * = 1e-6 * (1 + |p|): the truncation error is of order h^2, the rounding error
 * 1e-16/h. Dropout masks are those of the iteration.
 *
 * * Where the loss has a corner (a relu with an input of exactly 0, a tie in a
 * max pool) it has a slope to the left and one to the right: a gradient between
 * the two is right, and is counted as a corner, with error 0.
 *
 * * The gradient compared is the tensor that the walk holds, when this
 * iteration has written it (tolerance 1e-5 * (1 + max|numeric|), as for
 * variants in fp32), or else the backward pass in double (1e-7). Parameters are
 * taken as the iteration found them. */
#pragma once
#include "engine/walk.h"

enum { LAB_CHECK_NAME = 128, LAB_CHECK_ELEMENTS = 256 };

struct lab_check_result {
    char parameter[LAB_CHECK_NAME];
    int64_t elements; /* compared */
    int64_t of;       /* elements that the parameter has */
    int64_t corners;  /* of the compared: the loss has a corner there */
    double max_error; /* largest |analytic - numeric| */
    double tolerance;
    int64_t worst;   /* flat index of the largest */
    double analytic; /* there */
    double numeric;
    bool from_walk; /* the walk's tensor; false: the double backward pass */
    bool passed;
};

/* Asked before every element, `done` of `of`, the parameters together: true
 * ends the check. */
typedef bool lab_check_cancelled_fn(void *user, int64_t done, int64_t of);

LAB_C_BEGIN
/* parameter NULL or "": every one; of each at most `most` elements, >= 1. *out
 * is the caller's (lab_free), *n of them. `cancelled` may be NULL.
 * LAB_E_NOTFOUND, LAB_E_NOMEM, LAB_E_CANCELLED. */
enum lab_status lab_gradcheck(struct lab_walk *w,
                              const struct lab_network_spec *spec,
                              const char *parameter, int64_t most,
                              lab_check_cancelled_fn *cancelled, void *user,
                              struct lab_check_result **out, int *n);
LAB_C_END
