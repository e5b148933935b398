/* data_priv.h -- the data set, and the table that the readers of its sources
 * fill, for data.c and its test. */
#pragma once
#include "base/str.h"
#include "engine/data.h"
#include "engine/text.h"

/* The rows of a source; rows 0: it has no table. */
struct lab_samples {
    int64_t rows;
    int64_t features;
    int64_t steps;          /* > 0: a sequence, [steps, features / steps] */
    bool single;            /* of one number each: x is [N] */
    struct lab_shape image; /* of one sample, [H,W,C]; rank 0: not an image */
    float *x;               /* rows * features */
    int32_t *label;         /* NULL: targets */
    float *target;          /* NULL: labels; one number a row */
    int64_t classes;
    /* Strings and their reverse; NULL: none. x, label and target are NULL
     * then. */
    int32_t *symbols; /* rows * length */
    int64_t length;
    int64_t alphabet;
    int64_t held_from; /* rows from here are held back by the source; 0: none */
};

struct lab_data {
    const struct lab_network_spec *spec;
    const struct lab_stop *stop; /* while it is opened, else NULL */
    uint64_t seed;
    struct lab_samples table;     /* rows 0: inline */
    struct lab_vocabulary *words; /* of the source, or NULL */
    struct lab_text *text;        /* NULL: another source */
    int64_t text_begin;           /* of this epoch's windows, 0 .. text_slack */
    int64_t text_slack;
    int64_t *order;       /* rows: the split; training rows come first */
    int64_t *epoch_order; /* training rows as the current epoch deals them */
    int64_t epoch;        /* of epoch_order, -1: none yet */
    struct lab_data_facts facts;
    bool labels; /* the loss takes class labels; else y is one-hot, or real */
};
