/* writing.h -- what `run --sample` lets a trained network write.
 * Threads: the one that walks. */
#pragma once
#include "engine/generate.h"
#include "debug/work.h"

/* *out stays NULL without --sample. Before a run is recorded, so that what
 * cannot be (no text, a prompt with characters that the text lacks) is said at
 * once and leaves none.
 * Errors: those of lab_generator_new and lab_generator_begin. */
enum lab_status lab_writing_open(struct lab_generator **out,
                                 const struct lab_work *w);
/* Writes and prints the text, or a JSON line {"type":"sample"}. A signal ends
 * it early. LAB_E_IO, LAB_E_STATE, LAB_E_NOMEM. */
enum lab_status lab_writing_print(struct lab_generator *g,
                                  const struct lab_work *w, int64_t iterations);
