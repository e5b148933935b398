/* profiler/sentence.h -- what is stated of a step or a kernel: an id and its
 * values. The wording of each id is in profiler/sentences.def, and there only.
 *
 * A brace of the wording takes the next value:
 *   {time} of ns   {bytes}   {B/s}   {FLOP/s}: with a unit (base/format.h)
 *   {0} {1} {2}: so many digits after the point   {2g} {3g}: so many in all
 *   {n block}: "1 block", "4 blocks"
 *   {ceiling}: enum lab_ceiling   {limits}: enum lab_occupancy_limit
 * Threads: any. */
#pragma once
#include "base/str.h"

enum lab_sentence_id {
#define LAB_SENTENCE(id, wording) LAB_SENTENCE_##id,
#include "profiler/sentences.def"
#undef LAB_SENTENCE
    LAB_SENTENCE_COUNT
};

struct lab_sentence {
    enum lab_sentence_id id;
    double x[5];
};

/* One text, in its order. */
struct lab_sentences {
    struct lab_sentence list[8];
    int n;
};

LAB_C_BEGIN
void lab_sentence_add(struct lab_str *out, const struct lab_sentence *s);
/* All of them, with blanks in between. */
void lab_sentences_add(struct lab_str *out, const struct lab_sentences *s);
LAB_C_END
