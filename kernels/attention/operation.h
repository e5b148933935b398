/* kernels/attention/operation.h -- attention forward, with and without a
 * causal mask: the launchers of the CUDA variants, and what both operations share.
 *
 * Q, K, V and O are (B, H, T, D), row-major: the T rows of a head follow each
 * other, so that a tile of queries or keys is one piece of memory and a matrix
 * with rows of D. (With (B, T, H, D), as a projection leaves it, a tile would be
 * T pieces.)
 *
 *     O[b,h,i,:] = sum_j P[i,j] V[b,h,j,:],  P[i,:] = softmax(Q K^T / sqrt(D))
 *
 * over all j, or with the mask over j <= i. */
#pragma once
#include "common/kernel.h"
#include "labs/operation.h"

struct lab_variant_note;

LAB_C_BEGIN
/* Launchers: in Q, K, V; out O. Each has a twin with the causal mask. */
#define LAB_ATTENTION_VARIANT(name)                                            \
    lab_kernel_fn lab_attention_##name, lab_attention_causal_##name;
LAB_ATTENTION_VARIANT(unfused)
LAB_ATTENTION_VARIANT(cublas)
LAB_ATTENTION_VARIANT(online)
LAB_ATTENTION_VARIANT(fused)
LAB_ATTENTION_VARIANT(mma)
LAB_ATTENTION_VARIANT(wgmma)
LAB_ATTENTION_VARIANT(cudnn)
#undef LAB_ATTENTION_VARIANT

/* Memory for the scores (B, H, T, T) of the variants that write them down. */
lab_kernel_fn lab_attention_scores_make, lab_attention_scores_free;
void lab_attention_scores_note(const struct lab_call *call,
                               struct lab_variant_note *out);
/* cuDNN's plan for a size. */
lab_kernel_fn lab_attention_cudnn_make, lab_attention_causal_cudnn_make,
    lab_attention_cudnn_free;
void lab_attention_cudnn_note(const struct lab_call *call,
                              struct lab_variant_note *out);

/* Fills the host's copy of Q or K: struct lab_operation's fill. */
bool lab_attention_fill(const int64_t *dim, int k,
                        const struct lab_bench_tensor *tensor, uint64_t seed,
                        void *host);

/* The CPU's kernels (cpu.c). */
lab_kernel_fn lab_attention_cpu_naive, lab_attention_causal_cpu_naive,
    lab_attention_cpu_online, lab_attention_causal_cpu_online;
LAB_C_END
