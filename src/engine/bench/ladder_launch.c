/* A rung at one size, observed: traces it, counts it. */
#include "ladder_priv.h"

struct launch {
    struct lab_ladder_tensors t;
    const struct lab_variant *rung;
};

static enum lab_status run_again(void *launch)
{
    struct launch *l = launch;
    return lab_ladder_tensors_run(&l->t, l->rung);
}

/* Once before anybody looks: what a library does at its first call is not the
 * rung's work. */
static enum lab_status with_tensors(struct launch *l, lab_ladder_look_fn *look,
                                    void *user)
{
    enum lab_status st = lab_ladder_tensors_fill(&l->t);
    if (!st)
        st = lab_ladder_tensors_prepare(&l->t, l->rung);
    if (st)
        return st;
    st = run_again(l);
    if (!st)
        st = lab_backend_sync(l->t.be);
    if (!st)
        st = look(user, run_again, l);
    lab_ladder_tensors_done(&l->t, l->rung);
    return st;
}

enum lab_status lab_ladder_launch(struct lab_backend *be,
                                  const struct lab_operation *op,
                                  const struct lab_variant *rung,
                                  const struct lab_ladder_size *size,
                                  uint64_t seed, lab_ladder_look_fn *look,
                                  void *user)
{
    struct lab_ladder_numbers n;
    struct launch l = {.rung = rung};
    enum lab_status st = lab_ladder_numbers_make(&n, seed);
    if (!st)
        st = lab_ladder_tensors_make(&l.t, be, op, size, rung->precision, &n);
    if (!st) {
        st = with_tensors(&l, look, user);
        lab_ladder_tensors_release(&l.t);
    }
    lab_ladder_numbers_release(&n);
    return st;
}
