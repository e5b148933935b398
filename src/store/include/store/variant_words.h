/* variant_words.h -- the variants of a run in the room of a table's column.
 * Threads: any. */
#pragma once
#include <stddef.h>
#include "store/query.h"

enum { LAB_VARIANT_WORDS = 64 };

/* A run keeps "fc1=cublas fc2=cublas norm=warp", the nodes that are not naive:
 * here each variant once, the commonest first, equally common ones as they come:
 * "cublas, warp". A lesson that kept none ran naive ones. Another learning rate
 * than the lesson's goes first: "lr 0.5, naive". NULL: nothing is known, or the
 * run is none of a lesson. What has no room ends in "...". */
const char *lab_variant_words(const struct lab_run_row *run,
                              char out[LAB_VARIANT_WORDS]);
/* What two runs beside each other kept becomes their words, in `words`; where
 * these are equal it begins at the first node that differs. NULL: naive. */
void lab_variant_words_beside(const char *kept[2],
                              char words[2][LAB_VARIANT_WORDS]);
/* The same of what a run kept; "": naive. */
void lab_variant_words_of(const char *variants, char out[LAB_VARIANT_WORDS]);
