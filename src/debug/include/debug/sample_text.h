/* sample_text.h -- what `run --sample` lets a trained network write.
 * Threads: the one that walks. */
#pragma once
#include "engine/generate.h"
#include "debug/lesson_run.h"

/* *out stays NULL without --sample. Before a run is recorded, so that what
 * cannot be (no text, a prompt with characters that the text lacks) is said at
 * once and leaves none.
 * Errors: those of lab_generator_new and lab_generator_begin. */
enum lab_status lab_sample_text_open(struct lab_generator **out,
                                     const struct lab_lesson_run *w);
/* Writes and prints the text, or a JSON line {"type":"sample"}. A signal ends
 * it early. LAB_E_IO, LAB_E_STATE, LAB_E_NOMEM. */
enum lab_status lab_sample_text_print(struct lab_generator *g,
                                      const struct lab_lesson_run *w,
                                      int64_t iterations);
