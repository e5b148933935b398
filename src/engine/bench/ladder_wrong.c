/* Rungs that are wrong on purpose: run, counted, never timed. */
#include <math.h>

#include "base/mem.h"
#include "ladder_priv.h"

struct found {
    int64_t wrong;
    int64_t first; /* the first wrong element */
    double got;
    double wanted;
};

static void count_wrong(const struct lab_ladder_tensors *t, const void *host,
                        int64_t count, struct found *f)
{
    struct lab_bench_numbers n = lab_ladder_numbers_of(t);
    for (int64_t i = 0; i < count; i++) {
        struct lab_ladder_element e =
            t->operation->element(&n, t->size->dim, 0, i);
        double got = lab_number_at(host, t->view[t->n_in].dtype, i);
        if (fabs(got - e.value) <= e.allowed)
            continue;
        if (f->wrong++ == 0) {
            f->first = i;
            f->got = got;
            f->wanted = e.value;
        }
    }
}

static enum lab_status say_found(const struct lab_variant *rung,
                                 const struct found *f, int64_t count)
{
    if (f->wrong == 0)
        return lab_fail(LAB_E_CHECK,
                        "wrong on purpose (%s), and right this time: none of "
                        "%lld elements is wrong, by luck",
                        rung->wrong_on_purpose, (long long)count);
    return lab_fail(LAB_E_CHECK,
                    "wrong on purpose (%s): %lld of %lld elements are wrong, "
                    "the first is %lld: %.6g, and should be %.6g; not timed",
                    rung->wrong_on_purpose, (long long)f->wrong,
                    (long long)count, (long long)f->first, f->got, f->wanted);
}

enum lab_status lab_ladder_show_wrong(struct lab_ladder_tensors *t,
                                      struct lab_ladder_row *row)
{
    const struct lab_view *v = &t->view[t->n_in];
    int64_t count =
        v->count < LAB_LADDER_COUNTED ? v->count : LAB_LADDER_COUNTED;
    struct found found = {0};
    size_t each = lab_dtype_bytes(v->dtype);
    void *host = lab_alloc_array((size_t)count, each);
    if (!host)
        return lab_fail(LAB_E_NOMEM, "no memory to count wrong elements");
    enum lab_status st = lab_ladder_tensors_run(t, row->ran);
    if (!st)
        st = lab_backend_sync(t->be);
    if (!st)
        st = lab_backend_download(t->be, host, v->data, (size_t)count * each);
    if (!st) {
        count_wrong(t, host, count, &found);
        row->wrong = found.wrong;
        row->compared = count;
        st = say_found(row->rung, &found, count);
    }
    lab_free(host);
    return st;
}
