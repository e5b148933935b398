/* engine/generate.h -- text from a language lesson's network, a character at a
 * time.
 *
 * The network is run as in evaluation (no dropout), with the parameters that
 * the walk has at that moment, on one sample of its own: a second plan with
 * batch 1, with activations of its own. Walk, position, iteration
 * and batch stay as they are. The network must be causal: its output at a
 * place depends on that place and those before it, so that the rest of the
 * window may hold anything.
 *
 * A text that is longer than the window is cut: the network sees its last
 * `context` characters. Threads: the walk's. */
#pragma once
#include "base/str.h"
#include "engine/walk.h"

struct lab_generator;

struct lab_sampling {
    double temperature; /* scores are divided by it; 0: always the likeliest */
    int64_t top_k;      /* only the k likeliest are drawn from; 0: all */
    uint64_t seed;
};

LAB_C_BEGIN
/* For the walk of a lesson that reads text; the walk must outlive it, and its
 * spec. The variants are those that the walk has now. LAB_E_USAGE: the data
 * is no text; LAB_E_SHAPE: the network does not predict what comes next at every
 * place; LAB_E_NOMEM. */
enum lab_status lab_generator_new(struct lab_generator **out,
                                  struct lab_walk *walk);
void lab_generator_free(struct lab_generator *g);             /* NULL ok */
int64_t lab_generator_context(const struct lab_generator *g); /* window */
int64_t lab_generator_classes(const struct lab_generator *g); /* of logits */

/* The network's output after the last of n ids (n >= 1, each below the
 * classes): `out` has room for the classes. LAB_E_RANGE. */
enum lab_status lab_generator_logits(struct lab_generator *g,
                                     const int32_t *ids, int64_t n,
                                     double *out);
/* Draws one of n logits: a function of its arguments alone, `at` numbers the
 * draws from one seed. Greedy takes the first of equals; NaN is never drawn.
 * -1: there is nothing but NaN. */
int64_t lab_sampling_draw(const struct lab_sampling *s, const double *logits,
                          int64_t n, uint64_t at);

/* Begins a text with `prompt` (UTF-8); an empty one with the text's newline,
 * or its first character. LAB_E_RANGE: a character that the text does not have,
 * a temperature or k below 0; LAB_E_PARSE: not UTF-8. */
enum lab_status lab_generator_begin(struct lab_generator *g, const char *prompt,
                                    const struct lab_sampling *sampling);
/* The next character is appended to `out`, in UTF-8, as it is: the text may
 * hold control characters (lab_str_add_visible). LAB_E_STATE: the network
 * computes NaN. */
enum lab_status lab_generator_next(struct lab_generator *g,
                                   struct lab_str *out);
/* The probability that the network gave the character drawn last, among those of
 * the text: at temperature 1, whatever it was drawn with. */
double lab_generator_probability(const struct lab_generator *g);
LAB_C_END
