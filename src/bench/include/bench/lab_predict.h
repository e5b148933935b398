/* lab_predict.h -- what somebody expects of a rung, as it is typed. */
#pragma once
#include "bench/lab_model.h"

enum { LAB_BENCH_PREDICTIONS = 512 };

/* Of a rung, or of the fastest one ("best"); at a size, or at all ("") */
struct lab_prediction {
    char rung[32];
    char precision[8]; /* "" any */
    char size[96];
    struct lab_ui_prediction what;
};

/* One to four words in any order, separated by blanks, commas or colons: a rate
 * ("8.2T", "900 GFLOP/s"; a bare number is G a second, or ns an item), or the
 * time of a call ("3.5 ms"); what bounds it (LAB_ROOFLINE_WORDS; "mem" will
 * do); the occupancy ("50%"). An empty text says nothing.
 * LAB_E_USAGE: the word that is not understood, and what would be. */
enum lab_status lab_prediction_parse(enum lab_ui_lab_unit unit,
                                     const char *text,
                                     struct lab_ui_prediction *out);
/* RUNG=TEXT or RUNG@SIZE=TEXT; the text as above. LAB_E_USAGE. */
enum lab_status lab_prediction_pair(enum lab_ui_lab_unit unit, const char *pair,
                                    struct lab_prediction *out);
/* The newest that fits, or NULL. `rung` "best": of the fastest. */
const struct lab_ui_prediction *
lab_prediction_find(const struct lab_prediction *said, int n, const char *rung,
                    const char *precision, const char *size);
/* In the place of an earlier one of the same rung, precision and size.
 * LAB_E_USAGE: there are too many. */
enum lab_status lab_prediction_add(struct lab_prediction *said, int *n,
                                   const struct lab_prediction *one);
