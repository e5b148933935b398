/* kernels/attention/products.cuh -- the warpgroup's two products of
 * attention: scores, and the mixing, whose left matrix is in registers. */
#pragma once
#include "common/sm90.cuh"

#define D4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(d, i) D4(d, i), D4(d, i + 4), D4(d, i + 8), D4(d, i + 12)
#define D32(d) D16(d, 0), D16(d, 16)
#define D64(d) D16(d, 0), D16(d, 16), D16(d, 32), D16(d, 48)
#define REGISTERS_32                                                           \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "   \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "   \
    "%30, %31"
#define REGISTERS_64                                                           \
    REGISTERS_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, "   \
                 "%43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, "     \
                 "%54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

/* Both have one type in, fp32 sums. Thread 32 w + l of the 128 has, of the
 * result (64, N), rows 16 w + l / 4 and 8 below it, and of every 8 columns two:
 *     d[4 i + 2 h + c]  row 16 w + l/4 + 8 h,  column 8 i + 2 (l % 4) + c
 * which is also how it holds the columns 16 k .. 16 k + 15 of a left matrix:
 * a[j] is the pair (d[8 k + 2 j], d[8 k + 2 j + 1]). */
#define WGMMA(TYPE, NAME)                                                      \
    /* d (64, 128) = A (64, 16) B (128, 16)^T, or += where `add` is not 0 */   \
    static __device__ __forceinline__ void wgmma_scores(                       \
        float(&d)[64], uint64_t a, uint64_t b, int add, TYPE)                  \
    {                                                                          \
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"              \
                     "wgmma.mma_async.sync.aligned.m64n128k16.f32." NAME       \
                     " {" REGISTERS_64 "}, %64, %65, p, 1, 1, 0, 0;\n}\n"      \
                     : D64(d)                                                  \
                     : "l"(a), "l"(b), "r"(add));                              \
    }                                                                          \
    /* d (64, 64) += A (64, 16) B (16, 64), A in registers */                  \
    static __device__ __forceinline__ void wgmma_mix(                          \
        float(&d)[32], const uint32_t *a, uint64_t b, TYPE)                    \
    {                                                                          \
        asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32." NAME        \
                     " {" REGISTERS_32 "}, {%32, %33, %34, %35}, %36, 1, 1, "  \
                     "1, 1;\n"                                                 \
                     : D32(d)                                                  \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));    \
    }                                                                          \
    /* d (64, 128) += A (64, 16) B (16, 128) */                                \
    static __device__ __forceinline__ void wgmma_mix(                          \
        float(&d)[64], const uint32_t *a, uint64_t b, TYPE)                    \
    {                                                                          \
        asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32." NAME       \
                     " {" REGISTERS_64 "}, {%64, %65, %66, %67}, %68, 1, 1, "  \
                     "1, 1;\n"                                                 \
                     : D64(d)                                                  \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));    \
    }
WGMMA(__nv_bfloat16, "bf16.bf16")
WGMMA(__half, "f16.f16")
#undef WGMMA
