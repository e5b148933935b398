/* kernels/gemm/warpgroup.cuh -- the warpgroup's product, by type.
 *
 * 128 threads together: sums (64, 256) += A (64, depth) B (depth, 256); queued,
 * not awaited. The depth is 32 bytes: 16 numbers of bf16 or fp16, 8 of tf32.
 * Thread t of the warpgroup has, in d[4 j + 2 h + i], row 16 (t / 32) + 8 h +
 * t % 32 / 4 and column 8 j + 2 (t % 4) + i. The sums are registers of the
 * instruction, so the assembler's text must name every one of them. */
#pragma once
#include "common/sm90.cuh"

/* clang-format off */
#define WGMMA_SUMS \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, " \
    "%15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, " \
    "%28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, " \
    "%41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, " \
    "%54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, " \
    "%67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, " \
    "%93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, " \
    "%105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, " \
    "%116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, " \
    "%127}, "
#define SUM4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SUM16(i) SUM4(i), SUM4(i + 4), SUM4(i + 8), SUM4(i + 12)
#define SUM64(i) SUM16(i), SUM16(i + 16), SUM16(i + 32), SUM16(i + 48)
/* clang-format on */

/* Both operands in shared memory, described by wgmma_operand(). A as the
 * instruction wants it, the depth side by side; B by rows, as C = A B has it,
 * which the two last figures say: "transposed" is B alone. keep 0: the sums
 * start here. */
#define WGMMA_SHARED(T, TYPES)                                                 \
    static __device__ __forceinline__ void wgmma_add(                          \
        float(&d)[128], uint64_t a, uint64_t b, int keep, T)                   \
    {                                                                          \
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"             \
                     "wgmma.mma_async.sync.aligned.m64n256k16.f32." TYPES      \
                     " " WGMMA_SUMS "%128, %129, p, 1, 1, 0, 1;\n}"            \
                     : SUM64(0), SUM64(64)                                     \
                     : "l"(a), "l"(b), "r"(keep));                             \
    }
WGMMA_SHARED(__nv_bfloat16, "bf16.bf16")
WGMMA_SHARED(__half, "f16.f16")

/* tf32: A from registers. Thread t has, in a[2 h + i], row 16 (t / 32) + 8 i +
 * t % 32 / 4 at depth 4 h + t % 4. B only with the depth side by side: there is
 * no transposed form for 32-bit numbers. */
static __device__ __forceinline__ void
wgmma_add_tf32(float (&d)[128], const uint32_t (&a)[4], uint64_t b, int keep)
{
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %133, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 " WGMMA_SUMS
        "{%128, %129, %130, %131}, %132, p, 1, 1;\n}"
        : SUM64(0), SUM64(64)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep));
}
