/* kernels/common/random.h -- counter-based random numbers, the same on CPU and GPU.
 *
 * Philox4x32-10: J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random
 * numbers: as easy as 1, 2, 3", SC 2011. A number is a pure function of (seed,
 * stream, counter): nothing is stored, nothing must be rewound, and stepping
 * back and forward again gives the same bits. */
#pragma once
#include <stdint.h>
#include "common/kernel.h"

struct lab_random4 {
    uint32_t v[4];
};

/* Four 32-bit words for block `block` of stream (`stream_a`, `stream_b`). */
LAB_HOST_DEVICE static inline struct lab_random4
lab_philox(uint64_t seed, uint32_t stream_a, uint32_t stream_b, uint64_t block)
{
    const uint32_t m0 = 0xD2511F53u;
    const uint32_t m1 = 0xCD9E8D57u;
    uint32_t k0 = (uint32_t)seed;
    uint32_t k1 = (uint32_t)(seed >> 32);
    uint32_t c0 = (uint32_t)block;
    uint32_t c1 = (uint32_t)(block >> 32);
    uint32_t c2 = stream_a;
    uint32_t c3 = stream_b;
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)m0 * c0;
        uint64_t p1 = (uint64_t)m1 * c2;
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        uint32_t n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        c0 = n0;
        c2 = n2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    struct lab_random4 r = {{c0, c1, c2, c3}};
    return r;
}

/* The word of element `i` of a stream. */
LAB_HOST_DEVICE static inline uint32_t
lab_random_word(uint64_t seed, uint32_t stream_a, uint32_t stream_b, uint64_t i)
{
    return lab_philox(seed, stream_a, stream_b, i / 4).v[i % 4];
}

/* Uniform in [0, 1), 24 bits: exact in float, so that every backend compares
 * it with a threshold in the same way. */
LAB_HOST_DEVICE static inline float lab_random_unit(uint32_t word)
{
    return (float)(word >> 8) * (1.0f / 16777216.0f);
}

/* Uniform in [0, 1), 53 bits of two words. Less 0.5 it is still exact; a float
 * of that has all 24 bits of its significand, and not those of a grid. */
LAB_HOST_DEVICE static inline double lab_random_double(uint32_t high,
                                                       uint32_t low)
{
    uint64_t bits = (uint64_t)high << 32 | low;
    return (double)(bits >> 11) * (1.0 / 9007199254740992.0);
}
