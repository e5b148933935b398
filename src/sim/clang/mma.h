/* mma.h -- replaces NVIDIA's header of that name: matrices of a warp, in the
 * shapes that our kernels use: 16 x 16 x 16 of fp16 and bf16, 16 x 16 x 8 of tf32,
 * sums in fp32. Which lane holds what is the hardware's choice. */
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda
{
namespace wmma
{
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
namespace precision
{
struct tf32;
}
enum layout_t { mem_row_major, mem_col_major };

template <typename Use, int M, int N, int K, typename T, typename Layout = void>
struct fragment;

/* `words` registers of 32 bits. */
template <typename T, int COUNT, int WORDS> struct lab_fragment {
    enum { num_elements = COUNT };
    union {
        T x[COUNT];
        unsigned word[WORDS];
    };
    __device__ lab_fragment()
    {
    }
};
template <int K, typename Layout>
struct fragment<matrix_a, 16, 16, K, __half, Layout>
    : lab_fragment<__half, 16, 8> {
};
template <int K, typename Layout>
struct fragment<matrix_b, 16, 16, K, __half, Layout>
    : lab_fragment<__half, 16, 8> {
};
template <int K, typename Layout>
struct fragment<matrix_a, 16, 16, K, __nv_bfloat16, Layout>
    : lab_fragment<__nv_bfloat16, 8, 4> {
};
template <int K, typename Layout>
struct fragment<matrix_b, 16, 16, K, __nv_bfloat16, Layout>
    : lab_fragment<__nv_bfloat16, 8, 4> {
};
template <typename Layout>
struct fragment<matrix_a, 16, 16, 8, precision::tf32, Layout>
    : lab_fragment<float, 4, 4> {
};
template <typename Layout>
struct fragment<matrix_b, 16, 16, 8, precision::tf32, Layout>
    : lab_fragment<float, 4, 4> {
};
template <int K>
struct fragment<accumulator, 16, 16, K, float> : lab_fragment<float, 8, 8> {
};

LAB_DEVICE float __float_to_tf32(float v)
{
    unsigned out;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(out) : "f"(v));
    return __uint_as_float(out);
}

template <int K>
LAB_DEVICE void fill_fragment(fragment<accumulator, 16, 16, K, float> &f,
                              float v)
{
    for (int i = 0; i < 8; i++)
        f.x[i] = v;
}

#define LAB_WORDS4(f) "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
#define LAB_WORDS8(f)                                                          \
    LAB_WORDS4(f), "=r"(f[4]), "=r"(f[5]), "=r"(f[6]), "=r"(f[7])
#define LAB_LOAD(use, letter, K, T, number, type, layout, words, outputs, n)   \
    LAB_DEVICE void load_matrix_sync(                                          \
        fragment<use, 16, 16, K, T, layout##_major> &f, const number *from,    \
        unsigned pitch)                                                        \
    {                                                                          \
        asm volatile("wmma.load." letter ".sync.aligned." #layout              \
                     ".m16n16k" #K "." type " {" words "}, [%" #n              \
                     "], %" n1_##n ";"                                         \
                     : outputs(f.word)                                         \
                     : "l"(from), "r"(pitch)                                   \
                     : "memory");                                              \
    }
#define n1_4 "5"
#define n1_8 "9"
#define LAB_FOUR "%0, %1, %2, %3"
#define LAB_EIGHT LAB_FOUR ", %4, %5, %6, %7"
#define LAB_LOADS(use, letter, layout)                                         \
    LAB_LOAD(use, letter, 16, __half, __half, "f16", layout, LAB_EIGHT,        \
             LAB_WORDS8, 8)                                                    \
    LAB_LOAD(use, letter, 16, __nv_bfloat16, __nv_bfloat16, "bf16", layout,    \
             LAB_FOUR, LAB_WORDS4, 4)                                          \
    LAB_LOAD(use, letter, 8, precision::tf32, float, "tf32", layout, LAB_FOUR, \
             LAB_WORDS4, 4)
LAB_LOADS(matrix_a, "a", row)
LAB_LOADS(matrix_a, "a", col)
LAB_LOADS(matrix_b, "b", row)
LAB_LOADS(matrix_b, "b", col)

#define LAB_SUMS(f)                                                            \
    "f"(f.x[0]), "f"(f.x[1]), "f"(f.x[2]), "f"(f.x[3]), "f"(f.x[4]),           \
        "f"(f.x[5]), "f"(f.x[6]), "f"(f.x[7])
#define LAB_NEW_SUMS(f)                                                        \
    "=f"(f.x[0]), "=f"(f.x[1]), "=f"(f.x[2]), "=f"(f.x[3]), "=f"(f.x[4]),      \
        "=f"(f.x[5]), "=f"(f.x[6]), "=f"(f.x[7])
#define LAB_OF4(f) "r"(f[0]), "r"(f[1]), "r"(f[2]), "r"(f[3])
#define LAB_OF8(f) LAB_OF4(f), "r"(f[4]), "r"(f[5]), "r"(f[6]), "r"(f[7])
#define LAB_MMA(K, T, left, right, types, factors, words)                      \
    LAB_DEVICE void mma_sync(                                                  \
        fragment<accumulator, 16, 16, K, float> &d,                            \
        const fragment<matrix_a, 16, 16, K, T, left##_major> &a,               \
        const fragment<matrix_b, 16, 16, K, T, right##_major> &b,              \
        const fragment<accumulator, 16, 16, K, float> &c)                      \
    {                                                                          \
        asm volatile("wmma.mma.sync.aligned." #left "." #right ".m16n16k" #K   \
                     "." types " {" LAB_EIGHT "}, " factors ";"                \
                     : LAB_NEW_SUMS(d)                                         \
                     : words(a.word), words(b.word), LAB_SUMS(c));             \
    }
#define LAB_FACTORS8                                                           \
    "{%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17, %18, %19, %20, %21, "  \
    "%22, %23}, {%24, %25, %26, %27, %28, %29, %30, %31}"
#define LAB_FACTORS4                                                           \
    "{%8, %9, %10, %11}, {%12, %13, %14, %15}, {%16, %17, %18, %19, %20, "     \
    "%21, %22, %23}"
#define LAB_MMAS(left, right)                                                  \
    LAB_MMA(16, __half, left, right, "f32.f32", LAB_FACTORS8, LAB_OF8)         \
    LAB_MMA(16, __nv_bfloat16, left, right, "f32.bf16.bf16.f32", LAB_FACTORS4, \
            LAB_OF4)                                                           \
    LAB_MMA(8, precision::tf32, left, right, "f32.tf32.tf32.f32",              \
            LAB_FACTORS4, LAB_OF4)
LAB_MMAS(row, row)
LAB_MMAS(row, col)
LAB_MMAS(col, row)
LAB_MMAS(col, col)

#define LAB_STORE(K)                                                           \
    LAB_DEVICE void store_matrix_sync(                                         \
        float *to, const fragment<accumulator, 16, 16, K, float> &f,           \
        unsigned pitch, layout_t layout)                                       \
    {                                                                          \
        if (layout == mem_row_major)                                           \
            asm volatile("wmma.store.d.sync.aligned.row.m16n16k" #K            \
                         ".f32 [%8], {" LAB_EIGHT "}, %9;" ::LAB_SUMS(f),      \
                         "l"(to), "r"(pitch)                                   \
                         : "memory");                                          \
        else                                                                   \
            asm volatile("wmma.store.d.sync.aligned.col.m16n16k" #K            \
                         ".f32 [%8], {" LAB_EIGHT "}, %9;" ::LAB_SUMS(f),      \
                         "l"(to), "r"(pitch)                                   \
                         : "memory");                                          \
    }
LAB_STORE(16)
LAB_STORE(8)
} // namespace wmma
} // namespace nvcuda
