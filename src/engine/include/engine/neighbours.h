/* engine/neighbours.h -- which words an embedding has put near each other.
 *
 * A word is a row of the table of the network's first embedding, and two words
 * are as alike as their rows point the same way: the cosine of the angle
 * between them, 1 for the same direction, 0 for a right angle. A question is a
 * word or a sum of words, "king - man + woman"; each word's row is divided by
 * its length first, so that no word counts more than another (Mikolov and
 * others, 2013). Threads: the walk's; the other functions any. */
#pragma once
#include "base/str.h"
#include "engine/walk.h"
#include "engine/vocabulary.h"

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

LAB_C_BEGIN
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
/* Asks the walk's network as it is now. LAB_E_NOTFOUND: also when its data
 * has no words, or it no embedding of them; the others as above. *out is whole
 * then or untouched. */
enum lab_status lab_near_ask(struct lab_walk *w, const char *question,
                             struct lab_neighbours *out);
/* "near king: queen 0.93, prince 0.88", appended. */
void lab_near_text(const struct lab_vocabulary *v,
                   const struct lab_neighbours *n, struct lab_str *out);
LAB_C_END
