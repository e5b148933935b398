/* engine/conv_calls.h -- a convolution by cuDNN, call by call.
 *
 * The course's sequence: descriptors, the algorithm, its workspace, memory, the
 * convolution. The CUDA module makes the calls one after the other and tells
 * each when it has returned, so that a learner sees its arguments, what it gave
 * back and how long it took. Tensors as in kernels/conv2d/conv.h: NCHW,
 * fp32, stride 1, (R - 1) / 2 zeros around.
 *
 * Threads: one at a time; the call comes on the thread that asked. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/status.h"

enum { LAB_CONV_CALL_TEXT = 512, LAB_CONV_CALL_DIMS = 6 };

struct lab_conv_call {
    int number;                      /* from 1 */
    char call[LAB_CONV_CALL_TEXT];   /* as it would be written in C */
    char result[LAB_CONV_CALL_TEXT]; /* what it gave back; "" is nothing */
    char status[64];                 /* the library's word: "success" */
    bool failed;
    double ns; /* from the call to its return: queued work goes on */
};

struct lab_conv_calls {
    int device;
    int64_t dim[LAB_CONV_CALL_DIMS]; /* N, C, H, W, K, R */
    int algorithm;                   /* cuDNN's number; -1: its first choice */
    const float *x;                  /* (N, C, H, W), the caller's */
    const float *w;                  /* (K, C, R, R) */
    float *y;                        /* (N, K, P, Q); complete on LAB_OK */
    /* Every call when it has returned, a failed one too; another status than
     * LAB_OK ends the sequence. What was made is destroyed all the same. */
    enum lab_status (*tell)(void *user, const struct lab_conv_call *call);
    void *user;
};

/* LAB_E_UNSUPPORTED: no GPU or no cuDNN, or cuDNN refuses; LAB_E_DEVICE: a call
 * failed; LAB_E_CANCELLED and others: what `tell` returned. */
typedef enum lab_status lab_conv_calls_fn(const struct lab_conv_calls *c);
