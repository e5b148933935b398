/* tests/split_errors.h -- the errors of the precision lab's variants on a backend,
 * and what must hold for them on every one. */
#pragma once
#include "climb.h"

struct split_errors {
    int rows;
    double fp32;
    double tf32;
    double bf16[4]; /* of 1 to 4 products */
    double fp16[4];
};

static enum lab_status split_errors_see(void *user,
                                        const struct lab_ladder_row *row)
{
    struct split_errors *s = user;
    if (row->status == LAB_E_UNSUPPORTED)
        return LAB_OK;
    if (row->status)
        fail_msg("%s: %s", row->variant->name, row->reason);
    s->rows++;
    if (strcmp(row->variant->name, "fp32") == 0)
        s->fp32 = row->error;
    if (strcmp(row->variant->name, "tf32") == 0)
        s->tf32 = row->error;
    if (strncmp(row->variant->name, "split_", 6) == 0) {
        double *to = row->variant->precision == LAB_BF16 ? s->bf16 : s->fp16;
        to[row->variant->name[6] - '1'] = row->error;
    }
    return LAB_OK;
}

static void split_errors_measure(struct lab_backend *be, const char *text,
                                 struct split_errors *out)
{
    *out = (struct split_errors){0};
    climb_at((struct lab_ladder_run){.backend = be,
                                     .ladder = operation_of("precision"),
                                     .repeats = 1,
                                     .row = split_errors_see,
                                     .user = out},
             text);
}

/* Two products mend one of the two factors; three leave the rests' product,
 * which is as small as what two parts do not hold. */
static void split_errors_expect(const struct split_errors *s)
{
    const double *const both[] = {s->bf16, s->fp16};
    for (int i = 0; i < 2; i++) {
        const double *e = both[i];
        assert_true(e[1] < 0.9 * e[0]);
        assert_true(e[1] > 0.5 * e[0]);
        assert_true(e[2] < 0.02 * e[0]);
        assert_true(e[3] < 1.1 * e[2]);
    }
    assert_true(s->fp16[0] < 0.2 * s->bf16[0]);
    assert_true(s->fp16[2] < s->bf16[2]);
}
