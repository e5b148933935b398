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
#include "base/str.h"

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

/* ---- which words an embedding has put near each other (neighbours.c) ----
 *
 * A word is a row of the table of the network's first embedding, and two words
 * are as alike as their rows point the same way: the cosine of the angle
 * between them, 1 for the same direction, 0 for a right angle. A question is a
 * word or a sum of words, "king - man + woman"; each word's row is divided by
 * its length first, so that no word counts more than another (Mikolov and
 * others, 2013). */
enum {
    LAB_NEAR_MOST = 10,  /* neighbours of one answer */
    LAB_NEAR_WORDS = 16, /* words of one question */
    LAB_NEAR_QUESTION_BYTES = 128
};

struct lab_neighbour {
    int64_t id;        /* of the vocabulary */
    double similarity; /* -1 .. 1 */
    double distance;   /* of the rows as they are, for a sum of their sum */
    double norm;       /* the length of its row */
};

struct lab_neighbours {
    char question[LAB_NEAR_QUESTION_BYTES];
    struct lab_neighbour near[LAB_NEAR_MOST]; /* the nearest first */
    int n;
    int64_t asked; /* of a session's answers: which one, from 1; 0: none yet */
};

struct lab_near_term {
    int64_t id;
    double sign; /* 1 or -1 */
};

struct lab_walk; /* engine/walk.h */

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

/* NaN when one of them has length 0 or is not finite. */
double lab_cosine(const double *a, const double *b, int64_t n);
/* Reads a question. LAB_E_PARSE: no word in it, or too many; LAB_E_NOTFOUND: a
 * word that the vocabulary does not have, with the nearest that it has. */
enum lab_status lab_near_parse(const struct lab_vocabulary *v,
                               const char *question,
                               struct lab_near_term terms[LAB_NEAR_WORDS],
                               int *n);
/* The rows of table[rows][dim] nearest to the sum of the terms, without the
 * terms themselves and the rows below `first`. Equally near ones: the smaller
 * id first. LAB_E_NOMEM. */
enum lab_status lab_near_find(const float *table, int64_t rows, int64_t dim,
                              int64_t first, const struct lab_near_term *terms,
                              int n_terms, struct lab_neighbours *out);
/* Asks the walk's network as it is now, on the walk's thread. LAB_E_NOTFOUND: also when its data
 * has no words, or it no embedding of them; the others as above. *out is whole
 * then or untouched. */
enum lab_status lab_near_ask(struct lab_walk *w, const char *question,
                             struct lab_neighbours *out);
/* The question's own vector, the sum of its rows as they are: *n numbers
 * (lab_free). The errors of lab_near_ask(). */
enum lab_status lab_near_vector(struct lab_walk *w, const char *question,
                                double **out, int64_t *n);
/* "near king: queen 0.93, prince 0.88", appended. */
void lab_near_text(const struct lab_vocabulary *v,
                   const struct lab_neighbours *n, struct lab_str *out);
LAB_C_END
