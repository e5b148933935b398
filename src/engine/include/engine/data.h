/* engine/data.h -- where the numbers of a lesson come from.
 *
 * A data set is loaded whole, once: rows of features and labels or targets. It
 * is split into rows that train and rows that are held back, and dealt out in
 * batches. Which rows iteration i sees is a function of the seed and of i
 * alone, so that a replay sees the same. A last batch that is not full is left
 * out of the epoch; with `shuffle` other rows are left out in the next.
 *
 * Text is dealt out in windows of `context` characters, one behind the other;
 * with `shuffle` every epoch begins at another character and deals the windows
 * in another order. Its end is held back, never drawn.
 *
 * Ownership: struct lab_data owns its rows; the spec must outlive it. Threads:
 * one at a time. Errors name the file and, where there is one, the line. */
#pragma once
#include "base/stop.h"
#include "engine/plan.h"

struct lab_data;
struct lab_text; /* engine/text.h */

struct lab_data_facts {
    int64_t train_rows;
    int64_t held_rows;  /* held back; 0: none. The first valid_rows of them */
    int64_t valid_rows; /* are for validation, the others for the test; 0: they
                           are not distinguished */
    int64_t batch;
    int64_t batches_per_epoch; /* 0: inline data without epochs */
    int64_t classes;           /* 0: no class labels; text: characters */
    bool text;                 /* a loss is one of characters */
    /* y is a sequence, and the tensor `decoder` is y, one place later, behind
     * a symbol to begin with: evaluation decodes (engine/walk.h). */
    bool decodes;
    bool stand_in; /* for MNIST: digits that ship, made larger */
};

LAB_C_BEGIN
/* path NULL: the lesson's, or the source's own place. batch 0: the lesson's.
 * Errors: LAB_E_IO, LAB_E_PARSE, LAB_E_RANGE, LAB_E_SHAPE, LAB_E_NOMEM,
 * LAB_E_UNSUPPORTED (a source that this version does not read), LAB_E_USAGE (a
 * path for data that read no file), LAB_E_CANCELLED when `stop` asks for it;
 * NULL: it never does. */
enum lab_status lab_data_open(struct lab_data **out,
                              const struct lab_network_spec *spec,
                              const char *path, int64_t batch,
                              const struct lab_stop *stop);
void lab_data_free(struct lab_data *d); /* NULL allowed */
void lab_data_get_facts(const struct lab_data *d, struct lab_data_facts *out);
/* What lab_plan_build() needs to know. */
void lab_data_get_shapes(const struct lab_data *d, struct lab_data_shapes *out);
/* The text that the data are; NULL: another source. */
const struct lab_text *lab_data_text(const struct lab_data *d);
const struct lab_network_spec *lab_data_spec_of(const struct lab_data *d);
/* Class labels must be 0 .. C-1, C what the loss reads, and ids within the
 * vocabulary of what reads them; C and vocabulary may be larger than needed.
 * LAB_E_RANGE. */
enum lab_status lab_data_check_labels(const struct lab_data *d,
                                      const struct lab_plan *plan);
/* Splits and deals again, from another seed. */
void lab_data_reseed(struct lab_data *d, uint64_t seed);
/* Writes the plan's data tensor for an iteration: `out` has room for the
 * tensor, in its own element type. */
enum lab_status lab_data_fill(struct lab_data *d, const struct lab_plan *plan,
                              int tensor, int64_t iteration, void *out);
/* Do two iterations see the same numbers, as with one inline batch? */
bool lab_data_same(const struct lab_data *d, int64_t iteration, int64_t other);
/* The same for held-back rows first .. first+batch-1; rows past the end repeat
 * the last one. */
void lab_data_fill_held(const struct lab_data *d, const struct lab_plan *plan,
                        int tensor, int64_t first, void *out);
/* The words that ids stand for, as long as `d` lives; NULL: ids have none. */
const struct lab_vocabulary *lab_data_words(const struct lab_data *d);
/* The word that an element of a data tensor is about, which holds `value`;
 * NULL: none. */
const char *lab_data_word_at(const struct lab_data *d,
                             const struct lab_plan *plan, int tensor,
                             int64_t index, double value);
/* Of data that decodes: the id that a sequence begins with. */
int32_t lab_data_begin_id(const struct lab_data *d);
/* The symbol of an id in a data tensor, where the data has symbols; NULL: it
 * has none, a number is the best name. */
const char *lab_data_symbol(const struct lab_data *d, int64_t id);
/* The class of a held-back row; -1 when there are no classes. */
int lab_data_held_label(const struct lab_data *d, int64_t row);
/* Text: the id that comes after a place of a held-back row. -1: no text. */
int lab_data_held_next(const struct lab_data *d, int64_t row, int64_t place);
/* So many places at the start of a held-back row are in an earlier row too, and
 * are not counted again. */
int64_t lab_data_held_skip(const struct lab_data *d, int64_t row);
/* Bits per character of a loss in nats; NaN where the data is no text. */
double lab_data_bits(const struct lab_data_facts *facts, double loss);
LAB_C_END
