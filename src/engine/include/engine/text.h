/* engine/text.h -- a text as a network reads it: one id a character.
 *
 * A character is a Unicode code point; its id is its place among the different
 * code points of the whole text, in ascending order. The first part of the text
 * trains, its end is held back. Threads: read-only after it was read. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/str.h"

struct lab_text {
    int32_t *id; /* count of them */
    int64_t count;
    uint32_t *code; /* by id: the code point, ascending */
    int64_t vocab;
    int64_t context;     /* characters of a sample */
    int64_t train_count; /* characters from here on are held back */
};

LAB_C_BEGIN
/* The id of a code point; -1: the text does not have it. */
int32_t lab_text_find(const struct lab_text *t, uint32_t code);
/* Appends the character, in UTF-8. */
void lab_text_add(const struct lab_text *t, int32_t id, struct lab_str *out);
/* Bits per character of the held-back end by a model that only counts: how
 * often each character followed each three, two, one and no characters in the
 * part that trains. Its shares are mixed as Witten and Bell do it: after a
 * context h that occurred n(h) times, followed by d(h) different characters,
 *     p(c | h) = (n(hc) + d(h) p(c | h without its first)) / (n(h) + d(h)),
 * and below no context at all is 1 / vocab. (I. H. Witten, T. C. Bell,
 * "The zero-frequency problem", IEEE Trans. Inf. Theory 37, 1991, method C,
 * interpolated.) NaN: nothing is held back. LAB_E_NOMEM, LAB_E_RANGE (a text
 * of more than 2^29 characters). */
enum lab_status lab_text_order3_bits(const struct lab_text *t, double *bits);
LAB_C_END
