/* engine/decode.h -- sequences out of a network, a symbol at a time.
 *
 * In training a decoder reads the right answer, one place later. That states
 * little about what it can do alone: here it reads its own answers. The first
 * place holds the symbol to begin with; the network runs; the symbol of the
 * highest score goes to the next place, and so on (greedy decoding). All rows
 * of a batch decode together, in the memory of an evaluation; steps that do
 * not depend on the decoder's input, the encoder's, run once.
 *
 * lab_walk_evaluate() does this with data that `decodes` (data.h) and keeps the
 * result in the walk. Threads: the walk's. */
#pragma once
#include "base/str.h"
#include "engine/walk.h"

struct lab_decoded {
    double exact; /* share of held-back rows with every symbol right */
    double right; /* share of symbols right, at their places */
};

enum { LAB_DECODED_EXAMPLES = 4 };

LAB_C_BEGIN
/* Of the walk's last evaluation; NaN: there was none that decodes. */
void lab_walk_decoded(const struct lab_walk *w, struct lab_decoded *out);
/* Held-back row i as it was read and as it came out, "40713 -> 31704", and what
 * it should have been where it is not, "40713 -> 31700, not 31704". false:
 * there is none, or no memory (out->failed). */
bool lab_walk_decoded_example(const struct lab_walk *w, int i,
                              struct lab_str *out);
LAB_C_END
