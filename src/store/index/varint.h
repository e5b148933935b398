/* varint.h -- numbers as bytes: seven bits each, the least first, the eighth
 * bit where more follow. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LAB_VARINT_MOST = 10 }; /* bytes of one number */

/* Writes `v` at p and returns how many bytes it took. */
static inline size_t lab_varint_put(unsigned char *p, uint64_t v)
{
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        p[n++] = (unsigned char)(v | 0x80);
    p[n++] = (unsigned char)v;
    return n;
}

/* Reads one number and moves *p behind it; false: the bytes end before. */
static inline bool lab_varint_get(const unsigned char **p,
                                  const unsigned char *end, uint64_t *out)
{
    uint64_t v = 0;
    for (int shift = 0; *p < end && shift < 64; shift += 7) {
        unsigned char c = *(*p)++;
        v |= (uint64_t)(c & 0x7F) << shift;
        if (!(c & 0x80)) {
            *out = v;
            return true;
        }
    }
    return false;
}

/* A difference that may be below 0: the sign in the lowest bit. */
static inline uint64_t lab_zigzag(uint64_t d)
{
    return d << 1 ^ (d >> 63 ? UINT64_MAX : 0);
}

static inline uint64_t lab_unzigzag(uint64_t v)
{
    return v >> 1 ^ (v & 1 ? UINT64_MAX : 0);
}
