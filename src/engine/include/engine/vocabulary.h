/* engine/vocabulary.h -- text as words, and words as numbers.
 *
 * A word is a run of letters, digits and apostrophes; everything else parts
 * words. Letters are made small (A-Z and the Latin letters of U+00C0..U+00DE).
 * A vocabulary numbers the words of some texts: 0 is padding, 1 the word that
 * represents all unknown ones (when there is one), then the words. It never
 * changes after it is made: any thread may read it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/names.h"
#include "base/status.h"
#include "base/stop.h"

enum { LAB_WORD_BYTES = 63 }; /* a longer word is cut there */

struct lab_vocabulary {
    char **word;    /* n of them: "<pad>", "<OOV>", ... */
    int64_t *times; /* how often each stood in the texts */
    int64_t n;
    int64_t unknown;      /* 1, or -1: unknown words are left out */
    struct lab_names ids; /* private */
};

enum lab_word_order { LAB_WORDS_FREQUENT_FIRST, LAB_WORDS_AS_THEY_COME };

struct lab_vocabulary_rule {
    bool unknown;              /* a number for words that it does not have */
    enum lab_word_order order; /* equally frequent ones: as they come */
    int64_t most; /* words with a number of their own; 0: all of them */
    const struct lab_stop *stop; /* LAB_E_CANCELLED; NULL: none */
};

/* How rows of numbers of one length come out of texts of many lengths. */
struct lab_padding {
    int64_t length; /* 0: as long as the longest */
    bool after;     /* zeros after the words, not before */
    bool cut_end;   /* of a text that is too long keep the beginning */
};

/* Called with every word of a text, in order; not 0 stops. */
typedef enum lab_status lab_word_fn(void *user, const char *word, size_t len);

LAB_C_BEGIN
/* `word` of the callback ends in NUL and is valid for the call. Bytes that are
 * no UTF-8 part words. Errors: only what the callback returns. */
enum lab_status lab_tokenize(const char *text, size_t len, lab_word_fn *fn,
                             void *user);
/* Errors: LAB_E_PARSE, not one word in them; LAB_E_NOMEM. */
enum lab_status lab_vocabulary_make(struct lab_vocabulary **out,
                                    const char *const *texts, size_t n_texts,
                                    const struct lab_vocabulary_rule *rule);
void lab_vocabulary_free(struct lab_vocabulary *v); /* NULL allowed */
/* The number of a word as lab_tokenize() gives it; -1: not in it. */
int64_t lab_vocabulary_find(const struct lab_vocabulary *v, const char *word);
/* "?" for a number that it does not have. */
const char *lab_vocabulary_word(const struct lab_vocabulary *v, int64_t id);

/* The numbers of a text's words, in order. *ids (lab_free) has room for *n;
 * LAB_E_NOMEM. */
enum lab_status lab_encode(const struct lab_vocabulary *v, const char *text,
                           int32_t **ids, int64_t *n);
/* Puts n numbers into a row of `pad->length` (not 0) places. */
void lab_vocabulary_pad(const int32_t *ids, int64_t n,
                        const struct lab_padding *pad, double *row);
LAB_C_END
