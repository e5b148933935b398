/* kernels/recurrent/sequence_ref.h -- the readable form of sequence.h, for each recurrent
 * layer's table. */
#pragma once
#include <string.h>
#include "common/ref.h"
#include "recurrent/sequence.h"

/* out[b,a,c] = in[a,b,c]; a matrix is copied as it is. */
static enum lab_status sequence_turn(const struct lab_call *call)
{
    const struct lab_view *from = &call->in[0];
    const real *in = (const real *)from->data;
    real *out = (real *)call->out[0].data;
    if (from->rank != 3) {
        memcpy(out, in, (size_t)from->count * sizeof(real));
        return LAB_OK;
    }
    int64_t A = from->dim[0];
    int64_t B = from->dim[1];
    int64_t C = from->dim[2];
    for (int64_t a = 0; a < A; a++) {
        for (int64_t b = 0; b < B; b++) {
            for (int64_t c = 0; c < C; c++)
                out[(b * A + a) * C + c] = in[(a * B + b) * C + c];
        }
    }
    return LAB_OK;
}

#define LAB_SEQUENCE_ROW(step_name, phase_id)                                  \
    {                                                                          \
        .name = "naive", .step = step_name, .phase = phase_id,                 \
        .run = sequence_turn, .source = "kernels/recurrent/sequence_ref.h",    \
        .symbol = "sequence_turn"                                              \
    }
#define LAB_SEQUENCE_ROWS                                                      \
    LAB_SEQUENCE_ROW("input", LAB_FORWARD),                                    \
        LAB_SEQUENCE_ROW("return", LAB_FORWARD),                               \
        LAB_SEQUENCE_ROW("return", LAB_BACKWARD)
