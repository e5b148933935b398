/* lanes.h -- registers of 32 lanes as values of a type: how a handler reads and
 * writes them. A type T has raw_T (what a register holds), val_T (what C computes
 * with), get_T() and put_T() between both, and wide_T, its bits. Registers of 8 and 16 bits
 * have the upper bits zero. */
#pragma once
#include <string.h>

#include "warp/floats.h"
#include "warp/code.h"

typedef uint32_t raw_u16, raw_s16, raw_u32, raw_s32, raw_f32, raw_f16, raw_bf16;
typedef uint32_t raw_f16x2, raw_bf16x2, raw_u8, raw_s8;
typedef uint64_t raw_u64, raw_s64, raw_f64;
typedef uint16_t val_u16;
typedef int16_t val_s16;
typedef uint8_t val_u8;
typedef int8_t val_s8;
typedef uint32_t val_u32;
typedef int32_t val_s32;
typedef uint64_t val_u64;
typedef int64_t val_s64;
typedef float val_f32;
typedef double val_f64;
typedef float val_f16;
typedef float val_bf16;

static inline float sim_f32(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

static inline uint32_t sim_bits32(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof(v));
    return bits;
}

static inline double sim_f64(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

static inline uint64_t sim_bits64(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof(v));
    return bits;
}

#define get_u8(r) ((uint8_t)(r))
#define get_s8(r) ((int8_t)(uint8_t)(r))
#define get_u16(r) ((uint16_t)(r))
#define get_s16(r) ((int16_t)(uint16_t)(r))
#define get_u32(r) (r)
#define get_s32(r) ((int32_t)(r))
#define get_u64(r) (r)
#define get_s64(r) ((int64_t)(r))
#define get_f32(r) sim_f32(r)
#define get_f64(r) sim_f64(r)
#define get_f16(r) sim_f32_of_f16((uint16_t)(r))
#define get_bf16(r) sim_f32_of_bf16((uint16_t)(r))
#define put_u8(v) ((uint32_t)(uint8_t)(v))
#define put_s8(v) ((uint32_t)(uint8_t)(v))
#define put_u16(v) ((uint32_t)(uint16_t)(v))
#define put_s16(v) ((uint32_t)(uint16_t)(v))
#define put_u32(v) ((uint32_t)(v))
#define put_s32(v) ((uint32_t)(v))
#define put_u64(v) ((uint64_t)(v))
#define put_s64(v) ((uint64_t)(v))
#define put_f32(v) sim_bits32(v)
#define put_f64(v) sim_bits64(v)
#define put_f16(v) ((uint32_t)sim_f16_of_f32(v))
#define put_bf16(v) ((uint32_t)sim_bf16_of_f32(v))
#define wide_u8 32
#define wide_s8 32
#define wide_u16 32
#define wide_s16 32
#define wide_u32 32
#define wide_s32 32
#define wide_f32 32
#define wide_f16 32
#define wide_bf16 32
#define wide_u64 64
#define wide_s64 64
#define wide_f64 64

#define SIM_JOIN(a, b) SIM_JOIN2(a, b)
#define SIM_JOIN2(a, b) a##b

/* Specials and predicates, rare: sim_values() and a narrowing. */
void sim_fetch_slow32(const struct sim_warp *w, const struct sim_operand *o,
                      uint32_t *out);

SIM_INLINE const uint32_t *sim_fetch32(const struct sim_warp *w,
                                       const struct sim_operand *o,
                                       uint32_t buffer[SIM_LANES])
{
    if (__builtin_expect(o->source == SIM_SLOT, 1))
        return sim_r32(w, o->slot);
    if (__builtin_expect(o->source == SIM_IMMEDIATE, 1)) {
        uint32_t v = (uint32_t)o->value;
        for (int l = 0; l < SIM_LANES; l++)
            buffer[l] = v;
    } else
        sim_fetch_slow32(w, o, buffer);
    return buffer;
}

SIM_INLINE const uint64_t *sim_fetch64(const struct sim_warp *w,
                                       const struct sim_operand *o,
                                       uint64_t buffer[SIM_LANES])
{
    if (__builtin_expect(o->source == SIM_SLOT, 1))
        return sim_r64(w, o->slot);
    if (__builtin_expect(o->source == SIM_IMMEDIATE, 1)) {
        uint64_t v = o->value;
        for (int l = 0; l < SIM_LANES; l++)
            buffer[l] = v;
    } else
        sim_values(w, o, buffer);
    return buffer;
}

void sim_blend32(uint32_t *d, const uint32_t *r, uint32_t mask);
void sim_blend64(uint64_t *d, const uint64_t *r, uint32_t mask);

/* Lanes that have ended may be written, too: nothing reads them. */
SIM_INLINE void sim_put32(struct sim_warp *w, const struct sim_operand *d,
                          const uint32_t *r, uint32_t mask)
{
    if (d->source != SIM_SLOT)
        return;
    if (__builtin_expect(mask == w->alive, 1))
        memcpy(sim_r32(w, d->slot), r, SIM_LANES * sizeof(*r));
    else
        sim_blend32(sim_r32(w, d->slot), r, mask);
}

SIM_INLINE void sim_put64(struct sim_warp *w, const struct sim_operand *d,
                          const uint64_t *r, uint32_t mask)
{
    if (d->source != SIM_SLOT)
        return;
    if (__builtin_expect(mask == w->alive, 1))
        memcpy(sim_r64(w, d->slot), r, SIM_LANES * sizeof(*r));
    else
        sim_blend64(sim_r64(w, d->slot), r, mask);
}

/* The lanes of operand `o` as `name`, of type T. */
#define SIM_FETCH(T, name, o)                                                  \
    raw_##T name##_buffer[SIM_LANES];                                          \
    const raw_##T *name##_lanes =                                              \
        SIM_JOIN(sim_fetch, wide_##T)(w, o, name##_buffer)

/* The bits of a predicate operand in each lane. */
static inline uint32_t sim_pred(const struct sim_warp *w,
                                const struct sim_operand *o)
{
    if (o->source == SIM_PREDICATE)
        return o->negated ? ~w->preds[o->slot] : w->preds[o->slot];
    return o->value ? ~0u : 0;
}

static inline void sim_put_pred(struct sim_warp *w, const struct sim_operand *d,
                                uint32_t bits, uint32_t mask)
{
    if (d->source == SIM_PREDICATE)
        w->preds[d->slot] = (w->preds[d->slot] & ~mask) | (bits & mask);
}

/* A handler of one to three sources and one result. */
#define SIM_OP1(name, D, A, expr)                                              \
    static SIM_CLONES void name(struct sim_warp *w, const struct sim_instr *i, \
                                uint32_t mask)                                 \
    {                                                                          \
        SIM_FETCH(A, a, &i->a);                                                \
        raw_##D r[SIM_LANES];                                                  \
        for (int l = 0; l < SIM_LANES; l++) {                                  \
            val_##A a = get_##A(a_lanes[l]);                                   \
            r[l] = put_##D(expr);                                              \
        }                                                                      \
        SIM_JOIN(sim_put, wide_##D)(w, &i->d, r, mask);                        \
    }
#define SIM_OP2(name, D, A, B, expr)                                           \
    static SIM_CLONES void name(struct sim_warp *w, const struct sim_instr *i, \
                                uint32_t mask)                                 \
    {                                                                          \
        SIM_FETCH(A, a, &i->a);                                                \
        SIM_FETCH(B, b, &i->b);                                                \
        raw_##D r[SIM_LANES];                                                  \
        for (int l = 0; l < SIM_LANES; l++) {                                  \
            val_##A a = get_##A(a_lanes[l]);                                   \
            val_##B b = get_##B(b_lanes[l]);                                   \
            r[l] = put_##D(expr);                                              \
        }                                                                      \
        SIM_JOIN(sim_put, wide_##D)(w, &i->d, r, mask);                        \
    }
#define SIM_OP3(name, D, A, B, C, expr)                                        \
    static SIM_CLONES void name(struct sim_warp *w, const struct sim_instr *i, \
                                uint32_t mask)                                 \
    {                                                                          \
        SIM_FETCH(A, a, &i->a);                                                \
        SIM_FETCH(B, b, &i->b);                                                \
        SIM_FETCH(C, c, &i->c);                                                \
        raw_##D r[SIM_LANES];                                                  \
        for (int l = 0; l < SIM_LANES; l++) {                                  \
            val_##A a = get_##A(a_lanes[l]);                                   \
            val_##B b = get_##B(b_lanes[l]);                                   \
            val_##C c = get_##C(c_lanes[l]);                                   \
            r[l] = put_##D(expr);                                              \
        }                                                                      \
        SIM_JOIN(sim_put, wide_##D)(w, &i->d, r, mask);                        \
    }
