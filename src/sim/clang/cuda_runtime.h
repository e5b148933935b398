/* cuda_runtime.h -- stands in for NVIDIA's header of that name, so that clang
 * alone compiles a kernel to PTX for the simulator, on a machine without any of
 * NVIDIA's packages. It has what kernels use, and declares what the host code
 * beside them calls; nothing here runs on a GPU.
 *
 * Functions carry no line numbers of their own (nodebug): an instruction belongs
 * to the line that calls them. What has an instruction in PTX is that; other
 * functions of mathematics stay calls, by their names in C, which the simulator
 * serves. */
#pragma once
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
#define __grid_constant__
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define CUDART_VERSION 12000
#define CUDA_VERSION 12000

#define LAB_BOTH                                                               \
    static __inline__                                                          \
        __attribute__((host, device, always_inline, nodebug, unused))
#define LAB_DEVICE                                                             \
    static __inline__ __attribute__((device, always_inline, nodebug, unused))
#define LAB_MEMBER __attribute__((host, device, always_inline, nodebug)) inline
#define LAB_OUTSIDE extern "C" __attribute__((device, nothrow))

/* ---- vectors ---- */

/* Assigned in one access: clang 14 copies 16 bytes as twice 8, and a store that it makes
 * of parts has the line of the next instruction. A template is no copy assignment of the
 * language: that one stays trivial, so that a union of vectors can be assigned. It takes
 * what is const. */
#define LAB_ASSIGN(T, name, count, align)                                      \
    name &operator=(const name &) = default;                                   \
    template <int = 0> LAB_MEMBER name &operator=(name &from)                  \
    {                                                                          \
        typedef T whole __attribute__((ext_vector_type(count), may_alias,      \
                                       aligned(align)));                       \
        *reinterpret_cast<whole *>(this) = *reinterpret_cast<whole *>(&from);  \
        return *this;                                                          \
    }                                                                          \
    template <int = 0> LAB_MEMBER name &operator=(name &&from)                 \
    {                                                                          \
        return *this = from;                                                   \
    }
#define LAB_VECTOR1(T, name)                                                   \
    struct name##1                                                             \
    {                                                                          \
        T x;                                                                   \
    };                                                                         \
    LAB_BOTH name##1 make_##name##1(T x)                                       \
    {                                                                          \
        return {x};                                                            \
    }
#define LAB_VECTOR2(T, name, align)                                            \
    struct __align__(align) name##2                                            \
    {                                                                          \
        T x, y;                                                                \
        LAB_ASSIGN(T, name##2, 2, align)                                       \
    };                                                                         \
    LAB_BOTH name##2 make_##name##2(T x, T y)                                  \
    {                                                                          \
        return {x, y};                                                         \
    }
#define LAB_VECTOR3(T, name)                                                   \
    struct name##3                                                             \
    {                                                                          \
        T x, y, z;                                                             \
    };                                                                         \
    LAB_BOTH name##3 make_##name##3(T x, T y, T z)                             \
    {                                                                          \
        return {x, y, z};                                                      \
    }
#define LAB_VECTOR4(T, name, align)                                            \
    struct __align__(align) name##4                                            \
    {                                                                          \
        T x, y, z, w;                                                          \
        LAB_ASSIGN(T, name##4, 4, align)                                       \
    };                                                                         \
    LAB_BOTH name##4 make_##name##4(T x, T y, T z, T w)                        \
    {                                                                          \
        return {x, y, z, w};                                                   \
    }
#define LAB_VECTORS(T, name, two, four)                                        \
    LAB_VECTOR1(T, name)                                                       \
    LAB_VECTOR2(T, name, two)                                                  \
    LAB_VECTOR3(T, name)                                                       \
    LAB_VECTOR4(T, name, four)
LAB_VECTORS(signed char, char, 2, 4)
LAB_VECTORS(unsigned char, uchar, 2, 4)
LAB_VECTORS(short, short, 4, 8)
LAB_VECTORS(unsigned short, ushort, 4, 8)
LAB_VECTORS(int, int, 8, 16)
LAB_VECTORS(unsigned, uint, 8, 16)
LAB_VECTORS(long, long, 16, 16)
LAB_VECTORS(unsigned long, ulong, 16, 16)
LAB_VECTORS(long long, longlong, 16, 16)
LAB_VECTORS(unsigned long long, ulonglong, 16, 16)
LAB_VECTORS(float, float, 8, 16)
LAB_VECTORS(double, double, 16, 16)

struct dim3 {
    unsigned x, y, z;
    __host__ __device__ constexpr dim3(unsigned a = 1, unsigned b = 1,
                                       unsigned c = 1)
        : x(a), y(b), z(c)
    {
    }
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
    {
    }
    __host__ __device__ constexpr operator uint3() const
    {
        return {x, y, z};
    }
};

/* ---- which thread ---- */

#define LAB_SIDE(side, sreg)                                                   \
    __declspec(property(get = lab_##side)) unsigned side;                      \
    static __inline__                                                          \
        __attribute__((always_inline, device, nodebug)) unsigned lab_##side()  \
    {                                                                          \
        return __nvvm_read_ptx_sreg_##sreg##_##side();                         \
    }
#define LAB_SIDES(name, type, sreg)                                            \
    struct name {                                                              \
        LAB_SIDE(x, sreg)                                                      \
        LAB_SIDE(y, sreg)                                                      \
        LAB_SIDE(z, sreg)                                                      \
        __attribute__((device, always_inline, nodebug)) operator type() const  \
        {                                                                      \
            type v = {lab_x(), lab_y(), lab_z()};                              \
            return v;                                                          \
        }                                                                      \
    }
LAB_SIDES(lab_thread_index, uint3, tid);
LAB_SIDES(lab_block_index, uint3, ctaid);
LAB_SIDES(lab_block_sides, dim3, ntid);
LAB_SIDES(lab_grid_sides, dim3, nctaid);
extern const __device__ __attribute__((weak)) lab_thread_index threadIdx;
extern const __device__ __attribute__((weak)) lab_block_index blockIdx;
extern const __device__ __attribute__((weak)) lab_block_sides blockDim;
extern const __device__ __attribute__((weak)) lab_grid_sides gridDim;
#define warpSize 32

/* ---- barriers, fences, shuffles, votes ---- */

/* Not clang's own: what it knows of them lets it move a load of a __shared__ variable
 * across a barrier (clang 14, a load that is redundant on one path). */
LAB_DEVICE void lab_syncthreads()
{
    asm volatile("bar.sync 0;" : : : "memory");
}
LAB_DEVICE int __syncthreads_count(int p)
{
    int n;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0;"
                 " bar.red.popc.u32 %0, 0, p; }"
                 : "=r"(n)
                 : "r"(p)
                 : "memory");
    return n;
}
#define LAB_SYNC(name, op)                                                     \
    LAB_DEVICE int name(int p)                                                 \
    {                                                                          \
        int all;                                                               \
        asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0;"                \
                     " bar.red." op ".pred q, 0, p; selp.s32 %0, 1, 0, q; }"   \
                     : "=r"(all)                                               \
                     : "r"(p)                                                  \
                     : "memory");                                              \
        return all;                                                            \
    }
LAB_SYNC(__syncthreads_and, "and")
LAB_SYNC(__syncthreads_or, "or")
#define __syncthreads() lab_syncthreads()
LAB_DEVICE void __syncwarp(unsigned mask = 0xffffffffu)
{
    asm volatile("bar.warp.sync %0;" : : "r"(mask) : "memory");
}
#define LAB_FENCE(name, scope)                                                 \
    LAB_DEVICE void name()                                                     \
    {                                                                          \
        asm volatile("membar." scope ";" : : : "memory");                      \
    }
LAB_FENCE(__threadfence_block, "cta")
LAB_FENCE(__threadfence, "gl")
LAB_FENCE(__threadfence_system, "sys")

/* Lanes of a width below 32 read within their part of the warp. */
#define LAB_SHUFFLE_32(name, kind, bound, T, by)                               \
    LAB_DEVICE T name(unsigned mask, T v, by lane, int width = 32)             \
    {                                                                          \
        int c = ((32 - width) << 8) | bound;                                   \
        int bits;                                                              \
        T out;                                                                 \
        __builtin_memcpy(&bits, &v, 4);                                        \
        bits = __nvvm_shfl_sync_##kind##_i32(mask, bits, (int)lane, c);        \
        __builtin_memcpy(&out, &bits, 4);                                      \
        return out;                                                            \
    }
#define LAB_SHUFFLE_64(name, kind, bound, T, by)                               \
    LAB_DEVICE T name(unsigned mask, T v, by lane, int width = 32)             \
    {                                                                          \
        int c = ((32 - width) << 8) | bound;                                   \
        int bits[2];                                                           \
        T out;                                                                 \
        __builtin_memcpy(bits, &v, 8);                                         \
        bits[0] = __nvvm_shfl_sync_##kind##_i32(mask, bits[0], (int)lane, c);  \
        bits[1] = __nvvm_shfl_sync_##kind##_i32(mask, bits[1], (int)lane, c);  \
        __builtin_memcpy(&out, bits, 8);                                       \
        return out;                                                            \
    }
#define LAB_SHUFFLES(name, kind, bound, by)                                    \
    LAB_SHUFFLE_32(name, kind, bound, int, by)                                 \
    LAB_SHUFFLE_32(name, kind, bound, unsigned, by)                            \
    LAB_SHUFFLE_32(name, kind, bound, float, by)                               \
    LAB_SHUFFLE_64(name, kind, bound, long, by)                                \
    LAB_SHUFFLE_64(name, kind, bound, unsigned long, by)                       \
    LAB_SHUFFLE_64(name, kind, bound, long long, by)                           \
    LAB_SHUFFLE_64(name, kind, bound, unsigned long long, by)                  \
    LAB_SHUFFLE_64(name, kind, bound, double, by)
LAB_SHUFFLES(__shfl_sync, idx, 0x1f, int)
LAB_SHUFFLES(__shfl_xor_sync, bfly, 0x1f, int)
LAB_SHUFFLES(__shfl_down_sync, down, 0x1f, unsigned)
LAB_SHUFFLES(__shfl_up_sync, up, 0, unsigned)

LAB_DEVICE unsigned __ballot_sync(unsigned mask, int p)
{
    return __nvvm_vote_ballot_sync(mask, p != 0);
}
LAB_DEVICE int __any_sync(unsigned mask, int p)
{
    return __nvvm_vote_any_sync(mask, p != 0);
}
LAB_DEVICE int __all_sync(unsigned mask, int p)
{
    return __nvvm_vote_all_sync(mask, p != 0);
}
LAB_DEVICE unsigned __activemask()
{
    unsigned mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}
#define LAB_MATCH(T, W, letter, bits)                                          \
    LAB_DEVICE unsigned __match_any_sync(unsigned mask, T v)                   \
    {                                                                          \
        unsigned out;                                                          \
        W w = 0;                                                               \
        __builtin_memcpy(&w, &v, sizeof(v));                                   \
        asm volatile("match.any.sync." bits " %0, %1, %2;"                     \
                     : "=r"(out)                                               \
                     : letter(w), "r"(mask));                                  \
        return out;                                                            \
    }                                                                          \
    LAB_DEVICE unsigned __match_all_sync(unsigned mask, T v, int *all)         \
    {                                                                          \
        unsigned out;                                                          \
        W w = 0;                                                               \
        __builtin_memcpy(&w, &v, sizeof(v));                                   \
        asm volatile("{ .reg .pred p; match.all.sync." bits " %0|p, %2, %3;"   \
                     " selp.s32 %1, 1, 0, p; }"                                \
                     : "=r"(out), "=r"(*all)                                   \
                     : letter(w), "r"(mask));                                  \
        return out;                                                            \
    }
LAB_MATCH(unsigned, unsigned, "r", "b32")
LAB_MATCH(int, unsigned, "r", "b32")
LAB_MATCH(float, unsigned, "r", "b32")
LAB_MATCH(long, unsigned long long, "l", "b64")
LAB_MATCH(unsigned long, unsigned long long, "l", "b64")
LAB_MATCH(long long, unsigned long long, "l", "b64")
LAB_MATCH(unsigned long long, unsigned long long, "l", "b64")
LAB_MATCH(double, unsigned long long, "l", "b64")
#define LAB_REDUCE(name, op, T, letter, type)                                  \
    LAB_DEVICE T name(unsigned mask, T v)                                      \
    {                                                                          \
        T out;                                                                 \
        asm volatile("redux.sync." op "." type " %0, %1, %2;"                  \
                     : "=r"(out)                                               \
                     : "r"(v), "r"(mask));                                     \
        return out;                                                            \
    }
LAB_REDUCE(__reduce_add_sync, "add", unsigned, "r", "u32")
LAB_REDUCE(__reduce_add_sync, "add", int, "r", "s32")
LAB_REDUCE(__reduce_min_sync, "min", unsigned, "r", "u32")
LAB_REDUCE(__reduce_min_sync, "min", int, "r", "s32")
LAB_REDUCE(__reduce_max_sync, "max", unsigned, "r", "u32")
LAB_REDUCE(__reduce_max_sync, "max", int, "r", "s32")
LAB_REDUCE(__reduce_and_sync, "and", unsigned, "r", "b32")
LAB_REDUCE(__reduce_or_sync, "or", unsigned, "r", "b32")
LAB_REDUCE(__reduce_xor_sync, "xor", unsigned, "r", "b32")

/* ---- integers ---- */

LAB_DEVICE int __popc(unsigned v)
{
    return __builtin_popcount(v);
}
LAB_DEVICE int __popcll(unsigned long long v)
{
    return __builtin_popcountll(v);
}
LAB_DEVICE int __clz(int v)
{
    return v ? __builtin_clz((unsigned)v) : 32;
}
LAB_DEVICE int __clzll(long long v)
{
    return v ? __builtin_clzll((unsigned long long)v) : 64;
}
LAB_DEVICE int __ffs(int v)
{
    return __builtin_ffs(v);
}
LAB_DEVICE int __ffsll(long long v)
{
    return __builtin_ffsll(v);
}
LAB_DEVICE unsigned __brev(unsigned v)
{
    return __builtin_bitreverse32(v);
}
LAB_DEVICE unsigned long long __brevll(unsigned long long v)
{
    return __builtin_bitreverse64(v);
}
LAB_DEVICE unsigned __umulhi(unsigned a, unsigned b)
{
    return __nvvm_mulhi_ui(a, b);
}
LAB_DEVICE int __mulhi(int a, int b)
{
    return __nvvm_mulhi_i(a, b);
}
LAB_DEVICE unsigned long long __umul64hi(unsigned long long a,
                                         unsigned long long b)
{
    return __nvvm_mulhi_ull(a, b);
}
LAB_DEVICE int __mul24(int a, int b)
{
    return a * b;
}
LAB_DEVICE unsigned __umul24(unsigned a, unsigned b)
{
    return a * b;
}
/* Of four bytes, or of two halves and two of four bytes; packed or as vectors. */
#define LAB_DOT(name, op, T, A, B)                                             \
    LAB_DEVICE T name(T a, T b, T c)                                           \
    {                                                                          \
        T d;                                                                   \
        asm(op " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));         \
        return d;                                                              \
    }                                                                          \
    LAB_DEVICE T name(A a, B b, T c)                                           \
    {                                                                          \
        T x, y;                                                                \
        __builtin_memcpy(&x, &a, 4);                                           \
        __builtin_memcpy(&y, &b, 4);                                           \
        return name(x, y, c);                                                  \
    }
LAB_DOT(__dp4a, "dp4a.s32.s32", int, char4, char4)
LAB_DOT(__dp4a, "dp4a.u32.u32", unsigned, uchar4, uchar4)
LAB_DOT(__dp2a_lo, "dp2a.lo.s32.s32", int, short2, char4)
LAB_DOT(__dp2a_lo, "dp2a.lo.u32.u32", unsigned, ushort2, uchar4)
LAB_DOT(__dp2a_hi, "dp2a.hi.s32.s32", int, short2, char4)
LAB_DOT(__dp2a_hi, "dp2a.hi.u32.u32", unsigned, ushort2, uchar4)
LAB_DEVICE unsigned __byte_perm(unsigned a, unsigned b, unsigned s)
{
    unsigned out;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(s));
    return out;
}
LAB_DEVICE unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n)
{
    return (unsigned)((((unsigned long long)hi << 32) | lo) << (n & 31) >> 32);
}
LAB_DEVICE unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n)
{
    return (unsigned)((((unsigned long long)hi << 32) | lo) >> (n & 31));
}

LAB_DEVICE unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned n)
{
    return n >= 32 ? lo : __funnelshift_l(lo, hi, n);
}
LAB_DEVICE unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned n)
{
    return n >= 32 ? hi : __funnelshift_r(lo, hi, n);
}
LAB_DEVICE long long __mul64hi(long long a, long long b)
{
    return __nvvm_mulhi_ll(a, b);
}
LAB_DEVICE unsigned __usad(unsigned a, unsigned b, unsigned c)
{
    return (a > b ? a - b : b - a) + c;
}
LAB_DEVICE unsigned __sad(int a, int b, unsigned c)
{
    return (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a) + c;
}
LAB_DEVICE int __hadd(int a, int b)
{
    return (int)(((long long)a + b) >> 1);
}
LAB_DEVICE int __rhadd(int a, int b)
{
    return (int)(((long long)a + b + 1) >> 1);
}
LAB_DEVICE unsigned __uhadd(unsigned a, unsigned b)
{
    return (unsigned)(((unsigned long long)a + b) >> 1);
}
LAB_DEVICE unsigned __urhadd(unsigned a, unsigned b)
{
    return (unsigned)(((unsigned long long)a + b + 1) >> 1);
}
/* The place of the |n|-th set bit from `base` on, upwards or downwards; -1: none. */
LAB_DEVICE unsigned __fns(unsigned mask, unsigned base, int n)
{
    const int by = n < 0 ? -1 : 1;
    int left = n == 0 ? 1 : n * by;
    if (n == 0)
        return mask >> base & 1 ? base : 0xffffffffu;
    for (int at = (int)base; at >= 0 && at < 32; at += by)
        if ((mask >> at & 1) && --left == 0)
            return (unsigned)at;
    return 0xffffffffu;
}

/* Two halves, or four bytes, of a word at a time. */
#define LAB_PARTS(name, bits, T, expr)                                         \
    LAB_DEVICE unsigned name(unsigned x, unsigned y)                           \
    {                                                                          \
        unsigned out = 0;                                                      \
        for (int k = 0; k < 32; k += bits) {                                   \
            const int a = (T)(x >> k);                                         \
            const int b = (T)(y >> k);                                         \
            out |= ((unsigned)(expr) & (0xffffffffu >> (32 - bits))) << k;     \
        }                                                                      \
        return out;                                                            \
    }
#define LAB_CLAMP(v, least, most)                                              \
    ((v) < (least) ? (least) : (v) > (most) ? (most) : (v))
#define LAB_PARTS_OF(n, bits, S, U, least, most, whole)                        \
    LAB_PARTS(__vadd##n, bits, U, a + b)                                       \
    LAB_PARTS(__vsub##n, bits, U, a - b)                                       \
    LAB_PARTS(__vaddss##n, bits, S, LAB_CLAMP(a + b, least, most))             \
    LAB_PARTS(__vsubss##n, bits, S, LAB_CLAMP(a - b, least, most))             \
    LAB_PARTS(__vaddus##n, bits, U, LAB_CLAMP(a + b, 0, whole))                \
    LAB_PARTS(__vsubus##n, bits, U, LAB_CLAMP(a - b, 0, whole))                \
    LAB_PARTS(__vabsdiffs##n, bits, S, a > b ? a - b : b - a)                  \
    LAB_PARTS(__vabsdiffu##n, bits, U, a > b ? a - b : b - a)                  \
    LAB_PARTS(__vavgs##n, bits, S, (a + b + (a + b >= 0)) >> 1)                \
    LAB_PARTS(__vavgu##n, bits, U, (a + b + 1) >> 1)                           \
    LAB_PARTS(__vhaddu##n, bits, U, (a + b) >> 1)                              \
    LAB_PARTS(__vmaxs##n, bits, S, a > b ? a : b)                              \
    LAB_PARTS(__vmaxu##n, bits, U, a > b ? a : b)                              \
    LAB_PARTS(__vmins##n, bits, S, a < b ? a : b)                              \
    LAB_PARTS(__vminu##n, bits, U, a < b ? a : b)                              \
    LAB_PARTS(__vcmpeq##n, bits, U, a == b ? -1 : 0)                           \
    LAB_PARTS(__vcmpne##n, bits, U, a != b ? -1 : 0)                           \
    LAB_PARTS(__vcmpges##n, bits, S, a >= b ? -1 : 0)                          \
    LAB_PARTS(__vcmpgeu##n, bits, U, a >= b ? -1 : 0)                          \
    LAB_PARTS(__vcmpgts##n, bits, S, a > b ? -1 : 0)                           \
    LAB_PARTS(__vcmpgtu##n, bits, U, a > b ? -1 : 0)                           \
    LAB_PARTS(__vcmples##n, bits, S, a <= b ? -1 : 0)                          \
    LAB_PARTS(__vcmpleu##n, bits, U, a <= b ? -1 : 0)                          \
    LAB_PARTS(__vcmplts##n, bits, S, a < b ? -1 : 0)                           \
    LAB_PARTS(__vcmpltu##n, bits, U, a < b ? -1 : 0)                           \
    LAB_PARTS(__vseteq##n, bits, U, a == b)                                    \
    LAB_PARTS(__vsetne##n, bits, U, a != b)                                    \
    LAB_PARTS(__vsetgtu##n, bits, U, a > b)                                    \
    LAB_PARTS(__vsetltu##n, bits, U, a < b)
LAB_PARTS_OF(2, 16, short, unsigned short, -32768, 32767, 65535)
LAB_PARTS_OF(4, 8, signed char, unsigned char, -128, 127, 255)
#define LAB_PARTS_SUM(name, bits, T, R)                                        \
    LAB_DEVICE R name(unsigned x, unsigned y)                                  \
    {                                                                          \
        R sum = 0;                                                             \
        for (int k = 0; k < 32; k += bits) {                                   \
            const int a = (T)(x >> k);                                         \
            const int b = (T)(y >> k);                                         \
            sum += (R)(a > b ? a - b : b - a);                                 \
        }                                                                      \
        return sum;                                                            \
    }
LAB_PARTS_SUM(__vsads2, 16, short, unsigned)
LAB_PARTS_SUM(__vsadu2, 16, unsigned short, unsigned)
LAB_PARTS_SUM(__vsads4, 8, signed char, unsigned)
LAB_PARTS_SUM(__vsadu4, 8, unsigned char, unsigned)

/* min() and max() of two types take the larger one, as NVIDIA's do. */
#define LAB_LEAST(T)                                                           \
    LAB_BOTH T min(T a, T b)                                                   \
    {                                                                          \
        return b < a ? b : a;                                                  \
    }                                                                          \
    LAB_BOTH T max(T a, T b)                                                   \
    {                                                                          \
        return a < b ? b : a;                                                  \
    }
LAB_LEAST(int)
LAB_LEAST(unsigned)
LAB_LEAST(long)
LAB_LEAST(unsigned long)
LAB_LEAST(long long)
LAB_LEAST(unsigned long long)
#define LAB_LEAST_MIXED(A, B, T)                                               \
    LAB_BOTH T min(A a, B b)                                                   \
    {                                                                          \
        return min((T)a, (T)b);                                                \
    }                                                                          \
    LAB_BOTH T max(A a, B b)                                                   \
    {                                                                          \
        return max((T)a, (T)b);                                                \
    }
LAB_LEAST_MIXED(int, unsigned, unsigned)
LAB_LEAST_MIXED(unsigned, int, unsigned)
LAB_LEAST_MIXED(int, long, long)
LAB_LEAST_MIXED(long, int, long)
LAB_BOTH unsigned umin(unsigned a, unsigned b)
{
    return min(a, b);
}
LAB_BOTH unsigned umax(unsigned a, unsigned b)
{
    return max(a, b);
}
LAB_BOTH long long llmin(long long a, long long b)
{
    return min(a, b);
}
LAB_BOTH long long llmax(long long a, long long b)
{
    return max(a, b);
}
LAB_BOTH unsigned long long ullmin(unsigned long long a, unsigned long long b)
{
    return min(a, b);
}
LAB_BOTH unsigned long long ullmax(unsigned long long a, unsigned long long b)
{
    return max(a, b);
}

/* ---- memory ---- */

#define LAB_READ(name, T)                                                      \
    LAB_DEVICE T name(const T *p)                                              \
    {                                                                          \
        T v;                                                                   \
        v = *p;                                                                \
        return v;                                                              \
    }
#define LAB_WRITE(name, T)                                                     \
    LAB_DEVICE void name(T *p, T v)                                            \
    {                                                                          \
        *p = v;                                                                \
    }
#define LAB_LDG(T)                                                             \
    LAB_READ(__ldg, T)                                                         \
    LAB_READ(__ldcg, T)                                                        \
    LAB_READ(__ldcs, T)                                                        \
    LAB_READ(__ldca, T)                                                        \
    LAB_READ(__ldlu, T)                                                        \
    LAB_DEVICE T __ldcv(const T *p)                                            \
    {                                                                          \
        asm volatile("" : : : "memory");                                       \
        T v;                                                                   \
        v = *p;                                                                \
        return v;                                                              \
    }                                                                          \
    LAB_WRITE(__stwb, T)                                                       \
    LAB_WRITE(__stwt, T)                                                       \
    LAB_WRITE(__stcg, T)                                                       \
    LAB_WRITE(__stcs, T)
LAB_LDG(char)
LAB_LDG(signed char)
LAB_LDG(unsigned char)
LAB_LDG(short)
LAB_LDG(unsigned short)
LAB_LDG(int)
LAB_LDG(unsigned)
LAB_LDG(long)
LAB_LDG(unsigned long)
LAB_LDG(long long)
LAB_LDG(unsigned long long)
LAB_LDG(float)
LAB_LDG(double)
LAB_LDG(char2)
LAB_LDG(char4)
LAB_LDG(uchar2)
LAB_LDG(uchar4)
LAB_LDG(short2)
LAB_LDG(short4)
LAB_LDG(ushort2)
LAB_LDG(ushort4)
LAB_LDG(int2)
LAB_LDG(int4)
LAB_LDG(uint2)
LAB_LDG(uint4)
LAB_LDG(longlong2)
LAB_LDG(ulonglong2)
LAB_LDG(float2)
LAB_LDG(float4)
LAB_LDG(double2)

LAB_DEVICE void *memcpy(void *to, const void *from, size_t n)
{
    __builtin_memcpy(to, from, n);
    return to;
}
LAB_DEVICE void *memset(void *to, int v, size_t n)
{
    __builtin_memset(to, v, n);
    return to;
}
LAB_DEVICE void *memmove(void *to, const void *from, size_t n)
{
    __builtin_memmove(to, from, n);
    return to;
}

LAB_DEVICE unsigned __isGlobal(const void *p)
{
    return __nvvm_isspacep_global(p);
}
LAB_DEVICE unsigned __isShared(const void *p)
{
    return __nvvm_isspacep_shared(p);
}
LAB_DEVICE size_t __cvta_generic_to_shared(const void *p)
{
    return (size_t)(__attribute__((address_space(3))) const void *)p;
}
LAB_DEVICE size_t __cvta_generic_to_global(const void *p)
{
    return (size_t)p;
}

/* ---- atomics ---- */

#define LAB_ATOMIC_SCOPE(name, scope, op, T, type, letter)                     \
    LAB_DEVICE T name(T *p, T v)                                               \
    {                                                                          \
        T old;                                                                 \
        asm volatile("atom" scope "." op "." type " %0, [%1], %2;"             \
                     : "=" letter(old)                                         \
                     : "l"(p), letter(v)                                       \
                     : "memory");                                              \
        return old;                                                            \
    }
#define LAB_ATOMIC(name, op, T, type, letter)                                  \
    LAB_ATOMIC_SCOPE(name, "", op, T, type, letter)                            \
    LAB_ATOMIC_SCOPE(name##_block, ".cta", op, T, type, letter)                \
    LAB_ATOMIC_SCOPE(name##_system, ".sys", op, T, type, letter)
#define LAB_ATOMIC_CAS_SCOPE(name, scope, T, type, letter)                     \
    LAB_DEVICE T name(T *p, T compare, T v)                                    \
    {                                                                          \
        T old;                                                                 \
        asm volatile("atom" scope ".cas." type " %0, [%1], %2, %3;"            \
                     : "=" letter(old)                                         \
                     : "l"(p), letter(compare), letter(v)                      \
                     : "memory");                                              \
        return old;                                                            \
    }
#define LAB_ATOMIC_CAS(T, type, letter)                                        \
    LAB_ATOMIC_CAS_SCOPE(atomicCAS, "", T, type, letter)                       \
    LAB_ATOMIC_CAS_SCOPE(atomicCAS_block, ".cta", T, type, letter)             \
    LAB_ATOMIC_CAS_SCOPE(atomicCAS_system, ".sys", T, type, letter)
LAB_ATOMIC(atomicAdd, "add", int, "s32", "r")
LAB_ATOMIC(atomicAdd, "add", unsigned, "u32", "r")
LAB_ATOMIC(atomicAdd, "add", unsigned long long, "u64", "l")
LAB_ATOMIC(atomicAdd, "add", float, "f32", "f")
LAB_ATOMIC(atomicAdd, "add", double, "f64", "d")
LAB_ATOMIC(atomicExch, "exch", int, "b32", "r")
LAB_ATOMIC(atomicExch, "exch", unsigned, "b32", "r")
LAB_ATOMIC(atomicExch, "exch", unsigned long long, "b64", "l")
LAB_ATOMIC(atomicExch, "exch", float, "b32", "f")
LAB_ATOMIC(atomicMin, "min", int, "s32", "r")
LAB_ATOMIC(atomicMin, "min", unsigned, "u32", "r")
LAB_ATOMIC(atomicMin, "min", long long, "s64", "l")
LAB_ATOMIC(atomicMin, "min", unsigned long long, "u64", "l")
LAB_ATOMIC(atomicMax, "max", int, "s32", "r")
LAB_ATOMIC(atomicMax, "max", unsigned, "u32", "r")
LAB_ATOMIC(atomicMax, "max", long long, "s64", "l")
LAB_ATOMIC(atomicMax, "max", unsigned long long, "u64", "l")
LAB_ATOMIC(atomicAnd, "and", int, "b32", "r")
LAB_ATOMIC(atomicAnd, "and", unsigned, "b32", "r")
LAB_ATOMIC(atomicAnd, "and", unsigned long long, "b64", "l")
LAB_ATOMIC(atomicOr, "or", int, "b32", "r")
LAB_ATOMIC(atomicOr, "or", unsigned, "b32", "r")
LAB_ATOMIC(atomicOr, "or", unsigned long long, "b64", "l")
LAB_ATOMIC(atomicXor, "xor", int, "b32", "r")
LAB_ATOMIC(atomicXor, "xor", unsigned, "b32", "r")
LAB_ATOMIC(atomicXor, "xor", unsigned long long, "b64", "l")
LAB_ATOMIC(atomicInc, "inc", unsigned, "u32", "r")
LAB_ATOMIC(atomicDec, "dec", unsigned, "u32", "r")
LAB_ATOMIC_CAS(int, "b32", "r")
LAB_ATOMIC_CAS(unsigned, "b32", "r")
LAB_ATOMIC_CAS(unsigned long long, "b64", "l")
LAB_ATOMIC_CAS(unsigned short, "b16", "h")
#define LAB_ATOMIC_SUB(scope, T)                                               \
    LAB_DEVICE T atomicSub##scope(T *p, T v)                                   \
    {                                                                          \
        return atomicAdd##scope(p, (T)(0u - (unsigned)v));                     \
    }
LAB_ATOMIC_SUB(, int)
LAB_ATOMIC_SUB(, unsigned)
LAB_ATOMIC_SUB(_block, int)
LAB_ATOMIC_SUB(_block, unsigned)
LAB_ATOMIC_SUB(_system, int)
LAB_ATOMIC_SUB(_system, unsigned)

/* ---- numbers ---- */

#ifndef CUDART_INF_F
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_nan("")
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931
#endif

LAB_DEVICE int __float_as_int(float v)
{
    return __nvvm_bitcast_f2i(v);
}
LAB_DEVICE unsigned __float_as_uint(float v)
{
    return (unsigned)__nvvm_bitcast_f2i(v);
}
LAB_DEVICE float __int_as_float(int v)
{
    return __nvvm_bitcast_i2f(v);
}
LAB_DEVICE float __uint_as_float(unsigned v)
{
    return __nvvm_bitcast_i2f((int)v);
}
LAB_DEVICE long long __double_as_longlong(double v)
{
    return __nvvm_bitcast_d2ll(v);
}
LAB_DEVICE double __longlong_as_double(long long v)
{
    return __nvvm_bitcast_ll2d(v);
}
/* A conversion with a rounding of its own. */
#define LAB_CONVERT(name, T, F, form, out, in)                                 \
    LAB_DEVICE T name(F v)                                                     \
    {                                                                          \
        T r;                                                                   \
        asm("cvt." form " %0, %1;" : "=" out(r) : in(v));                      \
        return r;                                                              \
    }
#define LAB_CONVERTS(name, T, F, form, out, in)                                \
    LAB_CONVERT(name##_rn, T, F, "rn" form, out, in)                           \
    LAB_CONVERT(name##_rz, T, F, "rz" form, out, in)                           \
    LAB_CONVERT(name##_rd, T, F, "rm" form, out, in)                           \
    LAB_CONVERT(name##_ru, T, F, "rp" form, out, in)
LAB_CONVERTS(__float2int, int, float, "i.s32.f32", "r", "f")
LAB_CONVERTS(__float2uint, unsigned, float, "i.u32.f32", "r", "f")
LAB_CONVERTS(__float2ll, long long, float, "i.s64.f32", "l", "f")
LAB_CONVERTS(__float2ull, unsigned long long, float, "i.u64.f32", "l", "f")
LAB_CONVERTS(__double2int, int, double, "i.s32.f64", "r", "d")
LAB_CONVERTS(__double2uint, unsigned, double, "i.u32.f64", "r", "d")
LAB_CONVERTS(__double2ll, long long, double, "i.s64.f64", "l", "d")
LAB_CONVERTS(__double2ull, unsigned long long, double, "i.u64.f64", "l", "d")
LAB_CONVERTS(__int2float, float, int, ".f32.s32", "f", "r")
LAB_CONVERTS(__uint2float, float, unsigned, ".f32.u32", "f", "r")
LAB_CONVERTS(__ll2float, float, long long, ".f32.s64", "f", "l")
LAB_CONVERTS(__ull2float, float, unsigned long long, ".f32.u64", "f", "l")
LAB_CONVERTS(__ll2double, double, long long, ".f64.s64", "d", "l")
LAB_CONVERTS(__ull2double, double, unsigned long long, ".f64.u64", "d", "l")
LAB_CONVERTS(__double2float, float, double, ".f32.f64", "f", "d")
LAB_CONVERT(__int2double_rn, double, int, "rn.f64.s32", "d", "r")
LAB_CONVERT(__uint2double_rn, double, unsigned, "rn.f64.u32", "d", "r")
LAB_DEVICE int __double2loint(double v)
{
    return (int)(unsigned)__nvvm_bitcast_d2ll(v);
}
LAB_DEVICE int __double2hiint(double v)
{
    return (int)(__nvvm_bitcast_d2ll(v) >> 32);
}
LAB_DEVICE double __hiloint2double(int hi, int lo)
{
    return __nvvm_bitcast_ll2d(
        (long long)((unsigned long long)(unsigned)hi << 32 | (unsigned)lo));
}

/* One instruction of two operands, or three. */
#define LAB_OP1(name, T, op, letter)                                           \
    LAB_DEVICE T name(T a)                                                     \
    {                                                                          \
        T r;                                                                   \
        asm(op " %0, %1;" : "=" letter(r) : letter(a));                        \
        return r;                                                              \
    }
#define LAB_OP2(name, T, op, letter)                                           \
    LAB_DEVICE T name(T a, T b)                                                \
    {                                                                          \
        T r;                                                                   \
        asm(op " %0, %1, %2;" : "=" letter(r) : letter(a), letter(b));         \
        return r;                                                              \
    }
#define LAB_OP3(name, T, op, letter)                                           \
    LAB_DEVICE T name(T a, T b, T c)                                           \
    {                                                                          \
        T r;                                                                   \
        asm(op " %0, %1, %2, %3;"                                              \
            : "=" letter(r)                                                    \
            : letter(a), letter(b), letter(c));                                \
        return r;                                                              \
    }
#define LAB_ROUNDINGS_OF(LAB_OP, name, T, op, type, letter)                    \
    LAB_OP(name##_rn, T, op ".rn." type, letter)                               \
    LAB_OP(name##_rz, T, op ".rz." type, letter)                               \
    LAB_OP(name##_rd, T, op ".rm." type, letter)                               \
    LAB_OP(name##_ru, T, op ".rp." type, letter)
#define LAB_ROUNDINGS(name, op)                                                \
    LAB_ROUNDINGS_OF(LAB_OP2, __f##name, float, op, "f32", "f")                \
    LAB_ROUNDINGS_OF(LAB_OP2, __d##name, double, op, "f64", "d")
LAB_ROUNDINGS(add, "add")
LAB_ROUNDINGS(sub, "sub")
LAB_ROUNDINGS(mul, "mul")
LAB_ROUNDINGS(div, "div")
LAB_ROUNDINGS_OF(LAB_OP3, __fmaf, float, "fma", "f32", "f")
LAB_ROUNDINGS_OF(LAB_OP3, __fma, double, "fma", "f64", "d")
LAB_ROUNDINGS_OF(LAB_OP1, __frcp, float, "rcp", "f32", "f")
LAB_ROUNDINGS_OF(LAB_OP1, __drcp, double, "rcp", "f64", "d")
LAB_ROUNDINGS_OF(LAB_OP1, __fsqrt, float, "sqrt", "f32", "f")
LAB_ROUNDINGS_OF(LAB_OP1, __dsqrt, double, "sqrt", "f64", "d")
LAB_OP1(__frsqrt_rn, float, "rsqrt.approx.f32", "f")
LAB_OP1(__sinf, float, "sin.approx.f32", "f")
LAB_OP1(__cosf, float, "cos.approx.f32", "f")
LAB_OP2(__fdividef, float, "div.approx.f32", "f")
LAB_OP1(lab_ex2, float, "ex2.approx.f32", "f")
LAB_OP1(lab_lg2, float, "lg2.approx.f32", "f")
LAB_DEVICE float __expf(float a)
{
    return lab_ex2(a * 1.4426950408889634f);
}
LAB_DEVICE float __exp10f(float a)
{
    return lab_ex2(a * 3.3219280948873623f);
}
LAB_DEVICE float __logf(float a)
{
    return lab_lg2(a) * 0.6931471805599453f;
}
LAB_DEVICE float __log2f(float a)
{
    return lab_lg2(a);
}
LAB_DEVICE float __log10f(float a)
{
    return lab_lg2(a) * 0.3010299956639812f;
}
LAB_DEVICE float __powf(float a, float b)
{
    return lab_ex2(b * lab_lg2(a));
}
LAB_DEVICE float __tanf(float a)
{
    return __fdividef(__sinf(a), __cosf(a));
}
LAB_DEVICE float __saturatef(float a)
{
    return __nvvm_saturate_f(a);
}
LAB_DEVICE void __sincosf(float a, float *s, float *c)
{
    *s = __sinf(a);
    *c = __cosf(a);
}

/* ---- mathematics: NAMEf(float), NAME(double), and NAME(float) ---- */

#define LAB_MATH1_AS(name, single, twice)                                      \
    LAB_DEVICE float name##f(float a)                                          \
    {                                                                          \
        return single;                                                         \
    }                                                                          \
    LAB_DEVICE float name(float a)                                             \
    {                                                                          \
        return single;                                                         \
    }                                                                          \
    LAB_DEVICE double name(double a)                                           \
    {                                                                          \
        return twice;                                                          \
    }                                                                          \
    LAB_WHOLE(name)
#define LAB_WHOLE(name)                                                        \
    LAB_DEVICE double name(int a)                                              \
    {                                                                          \
        return name((double)a);                                                \
    }                                                                          \
    LAB_DEVICE double name(unsigned a)                                         \
    {                                                                          \
        return name((double)a);                                                \
    }
#define LAB_SAME2_AS(name, single, twice)                                      \
    LAB_DEVICE float name##f(float a, float b)                                 \
    {                                                                          \
        return single;                                                         \
    }                                                                          \
    LAB_DEVICE float name(float a, float b)                                    \
    {                                                                          \
        return single;                                                         \
    }                                                                          \
    LAB_DEVICE double name(double a, double b)                                 \
    {                                                                          \
        return twice;                                                          \
    }
/* Two numbers of other types, a float and an int among them, are doubles, as in C++. */
#define LAB_MATH2_AS(name, single, twice)                                      \
    LAB_SAME2_AS(name, single, twice)                                          \
    template <typename A, typename B> LAB_DEVICE double name(A a, B b)         \
    {                                                                          \
        return name((double)a, (double)b);                                     \
    }
/* A call that the simulator serves. clang must not know its name: it would take
 * an instruction that this target does not have. */
#define LAB_MATH1(name)                                                        \
    LAB_OUTSIDE float lab_call_##name##f(float) __asm__(#name "f");            \
    LAB_OUTSIDE double lab_call_##name(double) __asm__(#name);                 \
    LAB_MATH1_AS(name, lab_call_##name##f(a), lab_call_##name(a))
#define LAB_MATH2(name)                                                        \
    LAB_OUTSIDE float lab_call_##name##f(float, float) __asm__(#name "f");     \
    LAB_OUTSIDE double lab_call_##name(double, double) __asm__(#name);         \
    LAB_MATH2_AS(name, lab_call_##name##f(a, b), lab_call_##name(a, b))

LAB_MATH1(exp)
LAB_MATH1(exp2)
LAB_MATH1(exp10)
LAB_MATH1(expm1)
LAB_MATH1(log)
LAB_MATH1(log2)
LAB_MATH1(log10)
LAB_MATH1(log1p)
LAB_MATH1(sin)
LAB_MATH1(cos)
LAB_MATH1(tan)
LAB_MATH1(asin)
LAB_MATH1(acos)
LAB_MATH1(atan)
LAB_MATH1(sinh)
LAB_MATH1(cosh)
LAB_MATH1(tanh)
LAB_MATH1(asinh)
LAB_MATH1(acosh)
LAB_MATH1(atanh)
LAB_MATH1(cbrt)
LAB_MATH1(erf)
LAB_MATH1(erfc)
LAB_MATH1(erfcx)
LAB_MATH1(normcdf)
LAB_MATH1(erfinv)
LAB_MATH1(erfcinv)
LAB_MATH1(normcdfinv)
LAB_MATH1(rcbrt)
LAB_MATH1(sinpi)
LAB_MATH1(cospi)
LAB_MATH1(j0)
LAB_MATH1(j1)
LAB_MATH1(y0)
LAB_MATH1(y1)
LAB_MATH1(logb)
LAB_MATH1(lgamma)
LAB_MATH1(tgamma)
LAB_MATH1(round)
LAB_MATH2(pow)
LAB_MATH2(atan2)
LAB_MATH2(hypot)
LAB_MATH2(fmod)
LAB_MATH2(remainder)
LAB_OP1(lab_rsqrt, float, "rsqrt.approx.f32", "f")
LAB_OP1(lab_rsqrt_d, double, "rsqrt.approx.f64", "d")
LAB_OP1(lab_rint, float, "cvt.rni.f32.f32", "f")
LAB_OP1(lab_rint_d, double, "cvt.rni.f64.f64", "d")
LAB_MATH1_AS(sqrt, __nvvm_sqrt_rn_f(a), __nvvm_sqrt_rn_d(a))
LAB_MATH1_AS(rsqrt, lab_rsqrt(a), lab_rsqrt_d(a))
LAB_MATH1_AS(fabs, __nvvm_fabs_f(a), __nvvm_fabs_d(a))
LAB_MATH1_AS(floor, __nvvm_floor_f(a), __nvvm_floor_d(a))
LAB_MATH1_AS(ceil, __nvvm_ceil_f(a), __nvvm_ceil_d(a))
LAB_MATH1_AS(trunc, __nvvm_trunc_f(a), __nvvm_trunc_d(a))
LAB_MATH1_AS(rint, lab_rint(a), lab_rint_d(a))
LAB_MATH1_AS(nearbyint, lab_rint(a), lab_rint_d(a))
LAB_MATH2_AS(fmin, __nvvm_fmin_f(a, b), __nvvm_fmin_d(a, b))
LAB_MATH2_AS(fmax, __nvvm_fmax_f(a, b), __nvvm_fmax_d(a, b))
LAB_MATH2_AS(copysign, __builtin_copysignf(a, b), __builtin_copysign(a, b))
LAB_MATH2_AS(fdim, a > b ? a - b : 0.0f, a > b ? a - b : 0.0)
#pragma push_macro("LAB_DEVICE")
#undef LAB_DEVICE
#define LAB_DEVICE LAB_BOTH
#define LAB_MIN_MAX(name, single, twice)                                       \
    LAB_SAME2_AS(name, single, twice)                                          \
    LAB_DEVICE double name(double a, float b)                                  \
    {                                                                          \
        return name(a, (double)b);                                             \
    }                                                                          \
    LAB_DEVICE double name(float a, double b)                                  \
    {                                                                          \
        return name((double)a, b);                                             \
    }
LAB_MIN_MAX(min, __nvvm_fmin_f(a, b), __nvvm_fmin_d(a, b))
LAB_MIN_MAX(max, __nvvm_fmax_f(a, b), __nvvm_fmax_d(a, b))
#pragma pop_macro("LAB_DEVICE")
LAB_DEVICE float fmaf(float a, float b, float c)
{
    return __nvvm_fma_rn_f(a, b, c);
}
LAB_DEVICE float fma(float a, float b, float c)
{
    return __nvvm_fma_rn_f(a, b, c);
}
LAB_DEVICE double fma(double a, double b, double c)
{
    return __nvvm_fma_rn_d(a, b, c);
}
LAB_DEVICE float fdividef(float a, float b)
{
    return a / b;
}
LAB_DEVICE void sincosf(float a, float *s, float *c)
{
    *s = sinf(a);
    *c = cosf(a);
}
LAB_DEVICE void sincos(double a, double *s, double *c)
{
    *s = sin(a);
    *c = cos(a);
}
LAB_DEVICE void sincospif(float a, float *s, float *c)
{
    *s = sinpif(a);
    *c = cospif(a);
}
LAB_DEVICE void sincospi(double a, double *s, double *c)
{
    *s = sinpi(a);
    *c = cospi(a);
}
LAB_DEVICE float powif(float a, int b)
{
    return powf(a, (float)b);
}
/* a * 2^n, rounded once. */
LAB_DEVICE double lab_scale(double a, int n)
{
    if (n > 1023) {
        a *= 0x1p1023;
        n = n > 3069 ? 2046 : n - 1023;
        if (n > 1023) {
            a *= 0x1p1023;
            n -= 1023;
        }
    } else if (n < -1022) {
        a *=
            0x1p-969; /* by 2^-1022 the last product would be a second rounding */
        n = n < -2960 ? -1991 : n + 969;
        if (n < -1022) {
            a *= 0x1p-969;
            n += 969;
        }
    }
    return a * __nvvm_bitcast_ll2d((long long)(n + 1023) << 52);
}
#define LAB_SCALE(name, N)                                                     \
    LAB_DEVICE double name(double a, N n)                                      \
    {                                                                          \
        return lab_scale(a, n > 9999 ? 9999 : n < -9999 ? -9999 : (int)n);     \
    }                                                                          \
    LAB_DEVICE float name##f(float a, N n)                                     \
    {                                                                          \
        return (float)name((double)a, n > 500 ? 500 : n < -500 ? -500 : n);    \
    }                                                                          \
    LAB_DEVICE float name(float a, N n)                                        \
    {                                                                          \
        return name##f(a, n);                                                  \
    }
LAB_SCALE(ldexp, int)
LAB_SCALE(scalbn, int)
LAB_SCALE(scalbln, long)
LAB_DEVICE double frexp(double a, int *n)
{
    long long bits = __nvvm_bitcast_d2ll(a);
    *n = 0;
    if ((bits << 1) == 0 || (bits >> 52 & 2047) == 2047)
        return a;
    if ((bits >> 52 & 2047) == 0) {
        bits = __nvvm_bitcast_d2ll(a * 0x1p54);
        *n = -54;
    }
    *n += (int)(bits >> 52 & 2047) - 1022;
    return __nvvm_bitcast_ll2d((bits & ~(2047ll << 52)) | 1022ll << 52);
}
LAB_DEVICE float frexpf(float a, int *n)
{
    return (float)frexp((double)a, n);
}
LAB_DEVICE float frexp(float a, int *n)
{
    return frexpf(a, n);
}
LAB_DEVICE int ilogb(double a)
{
    int n;
    frexp(a, &n);
    return a == 0 || a != a                 ? -2147483647 - 1
           : __nvvm_fabs_d(a) == CUDART_INF ? 2147483647
                                            : n - 1;
}
LAB_DEVICE int ilogbf(float a)
{
    return ilogb((double)a);
}
LAB_DEVICE int ilogb(float a)
{
    return ilogb((double)a);
}
LAB_DEVICE double modf(double a, double *whole)
{
    *whole = __nvvm_trunc_d(a);
    return __builtin_copysign(*whole == a ? 0.0 : a - *whole, a);
}
LAB_DEVICE float modff(float a, float *whole)
{
    *whole = __nvvm_trunc_f(a);
    return __builtin_copysignf(*whole == a ? 0.0f : a - *whole, a);
}
LAB_DEVICE float modf(float a, float *whole)
{
    return modff(a, whole);
}
LAB_DEVICE double nextafter(double a, double b)
{
    const long long bits = __nvvm_bitcast_d2ll(a);
    if (a != a || b != b)
        return a + b;
    if (a == b)
        return b;
    if (a == 0)
        return __builtin_copysign(4.9406564584124654e-324, b);
    return __nvvm_bitcast_ll2d(bits + ((a < b) == (a > 0) ? 1 : -1));
}
LAB_DEVICE float nextafterf(float a, float b)
{
    const int bits = __nvvm_bitcast_f2i(a);
    if (a != a || b != b)
        return a + b;
    if (a == b)
        return b;
    if (a == 0)
        return __builtin_copysignf(1.40129846e-45f, b);
    return __nvvm_bitcast_i2f(bits + ((a < b) == (a > 0) ? 1 : -1));
}
LAB_DEVICE float nextafter(float a, float b)
{
    return nextafterf(a, b);
}
/* *n: the last three bits of the quotient, with its sign. */
LAB_DEVICE double remquo(double a, double b, int *n)
{
    const double r = remainder(a, b);
    const double q = lab_rint_d((fmod(a, 8 * b) - r) / b);
    *n = q == q ? q < 0 ? -((int)-q & 7) : (int)q & 7 : 0;
    return r;
}
LAB_DEVICE float remquof(float a, float b, int *n)
{
    return (float)remquo((double)a, (double)b, n);
}
LAB_DEVICE float remquo(float a, float b, int *n)
{
    return remquof(a, b, n);
}
/* The length of a[0 .. n - 1], over 2^*scale, so that no square overflows and 1 / length
 * does not either. An infinite element has an infinite length, with NaN beside it too, as
 * in CUDA; any other NaN is in the sum. */
LAB_DEVICE double lab_length(int n, const double *a, int *scale)
{
    double most = 0;
    double sum = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, __nvvm_fabs_d(a[i]));
    frexp(most, scale);
    for (int i = 0; i < n; i++) {
        const double v = lab_scale(a[i], -*scale);
        sum += v * v;
    }
    return most == CUDART_INF ? most : __nvvm_sqrt_rn_d(sum);
}
/* Of floats: double holds their squares. */
LAB_DEVICE double lab_length(int n, const float *a)
{
    float most = 0;
    double sum = 0;
    for (int i = 0; i < n; i++) {
        most = fmaxf(most, __nvvm_fabs_f(a[i]));
        sum += (double)a[i] * a[i];
    }
    return most == CUDART_INF_F ? CUDART_INF : __nvvm_sqrt_rn_d(sum);
}
LAB_DEVICE double norm(int n, const double *a)
{
    int scale;
    const double length = lab_length(n, a, &scale);
    return lab_scale(length, scale);
}
LAB_DEVICE double rnorm(int n, const double *a)
{
    int scale;
    const double length = lab_length(n, a, &scale);
    return lab_scale(1 / length, -scale);
}
LAB_DEVICE float normf(int n, const float *a)
{
    return (float)lab_length(n, a);
}
LAB_DEVICE float rnormf(int n, const float *a)
{
    return (float)(1 / lab_length(n, a));
}
#define LAB_LENGTHS(T, r, f)                                                   \
    LAB_DEVICE T r##norm3d##f(T a, T b, T c)                                   \
    {                                                                          \
        const T v[] = {a, b, c};                                               \
        return r##norm##f(3, v);                                               \
    }                                                                          \
    LAB_DEVICE T r##norm4d##f(T a, T b, T c, T d)                              \
    {                                                                          \
        const T v[] = {a, b, c, d};                                            \
        return r##norm##f(4, v);                                               \
    }
LAB_LENGTHS(double, , )
LAB_LENGTHS(double, r, )
LAB_LENGTHS(float, , f)
LAB_LENGTHS(float, r, f)
LAB_DEVICE double rhypot(double a, double b)
{
    const double v[] = {a, b};
    return rnorm(2, v);
}
LAB_DEVICE float rhypotf(float a, float b)
{
    const float v[] = {a, b};
    return rnormf(2, v);
}
LAB_DEVICE float roundf_even(float a)
{
    return lab_rint(a);
}
LAB_DEVICE int abs(int a)
{
    return a < 0 ? -a : a;
}
LAB_DEVICE long abs(long a)
{
    return a < 0 ? -a : a;
}
LAB_DEVICE long long abs(long long a)
{
    return a < 0 ? -a : a;
}
LAB_DEVICE float abs(float a)
{
    return __nvvm_fabs_f(a);
}
LAB_DEVICE double abs(double a)
{
    return __nvvm_fabs_d(a);
}
LAB_DEVICE long labs(long a)
{
    return a < 0 ? -a : a;
}
LAB_DEVICE long long llabs(long long a)
{
    return a < 0 ? -a : a;
}
#define LAB_NEAREST(name, round, R)                                            \
    LAB_DEVICE R name##f(float a)                                              \
    {                                                                          \
        return (R)round##f(a);                                                 \
    }                                                                          \
    LAB_DEVICE R name(float a)                                                 \
    {                                                                          \
        return (R)round##f(a);                                                 \
    }                                                                          \
    LAB_DEVICE R name(double a)                                                \
    {                                                                          \
        return (R)round(a);                                                    \
    }
LAB_NEAREST(lrint, rint, long)
LAB_NEAREST(llrint, rint, long long)
LAB_NEAREST(lround, round, long)
LAB_NEAREST(llround, round, long long)
/* isnan() and its kind are those of <math.h>: constexpr, so for both sides. */

/* <cmath>, which <math.h> is in C++, has brought what was declared before it into std:
 * the host's functions, which clang takes as instructions that this target has not. */
namespace std
{
using ::abs;
using ::acos;
using ::acosh;
using ::asin;
using ::asinh;
using ::atan;
using ::atan2;
using ::atanh;
using ::cbrt;
using ::ceil;
using ::copysign;
using ::cos;
using ::cosh;
using ::erf;
using ::erfc;
using ::exp;
using ::exp2;
using ::expm1;
using ::fabs;
using ::fdim;
using ::floor;
using ::fma;
using ::fmax;
using ::fmin;
using ::fmod;
using ::frexp;
using ::hypot;
using ::ilogb;
using ::ldexp;
using ::lgamma;
using ::llrint;
using ::llround;
using ::log;
using ::log10;
using ::log1p;
using ::log2;
using ::logb;
using ::lrint;
using ::lround;
using ::modf;
using ::nearbyint;
using ::nextafter;
using ::pow;
using ::remainder;
using ::remquo;
using ::rint;
using ::round;
using ::scalbln;
using ::scalbn;
using ::sin;
using ::sinh;
using ::sqrt;
using ::tan;
using ::tanh;
using ::tgamma;
using ::trunc;
} // namespace std

/* ---- the clock, and what stops a kernel ---- */

LAB_DEVICE long long clock64()
{
    long long t;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(t));
    return t;
}
LAB_DEVICE long clock()
{
    return (long)(int)clock64();
}
LAB_DEVICE unsigned long long __globaltimer()
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}
LAB_DEVICE void __nanosleep(unsigned ns)
{
    asm volatile("nanosleep.u32 %0;" : : "r"(ns));
}
LAB_DEVICE void __trap()
{
    asm volatile("trap;");
}
LAB_DEVICE void __brkpt()
{
}
LAB_DEVICE void __prof_trigger(int)
{
}
/* clang makes a call of vprintf() of it, as nvcc does. */
LAB_OUTSIDE int printf(const char *, ...);
LAB_OUTSIDE __attribute__((noreturn)) void
__assertfail(const char *, const char *, unsigned, const char *, size_t);
extern "C" __attribute__((device, always_inline, nodebug, noreturn)) inline void
__assert_fail(const char *condition, const char *file, unsigned line,
              const char *function)
{
    __assertfail(condition, file, line, function, 1);
}

#include "host_runtime.h"
