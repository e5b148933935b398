/* kept.h -- a trained network as a file, in the safetensors format: 8 bytes of
 * length, a JSON header, the tensors one behind the other, little-endian.
 *
 * What is kept: parameters, the optimizer's and the nodes' state, and under
 * `__metadata__`, as texts, the lesson, seed, iteration (so many have run),
 * batch, train_rows (both give the position in the data), optimizer and
 * learning_rate. A walk that continues from it computes the bits that one
 * training without a pause would have. Other programs read the file, and files
 * of other programs can be loaded where names, shapes and element types fit.
 *
 * The header is read and checked against the file's size first; a tensor's values
 * are read where its name and shape fit: LAB_E_IO, LAB_E_PARSE with the file and
 * what is wrong in it. Little-endian machines only. Threads: one at a time for
 * each. */
#pragma once
#include "engine/walk.h"

struct lab_kept;

struct lab_kept_facts {
    const char *lesson;
    const char *optimizer;
    uint64_t seed;
    int64_t iteration;
    int64_t batch;
    int64_t train_rows;
    double lr; /* NaN: nothing is updated */
};

enum lab_kept_use {
    LAB_KEPT_LOAD, /* parameters and nodes' state: a start from iteration 0 */
    LAB_KEPT_CONTINUE /* all: as if there had been no pause */
};

LAB_C_BEGIN
enum lab_status lab_kept_open(struct lab_kept **out, const char *path);
void lab_kept_free(struct lab_kept *k); /* NULL allowed */
/* What the file states; texts are the file's. LAB_E_PARSE: another lesson or program
 * kept it, so that it cannot be continued. */
enum lab_status lab_kept_facts(const struct lab_kept *k, const char *lesson,
                               struct lab_kept_facts *out);
/* The walk begins anew with it (lab_walk_start_from), after a call of `ready` (NULL:
 * none). LAB_E_SHAPE: what does not fit, by name; the walk is as it was then.
 * `notice` gets a line where values are NaN or infinite: how many, in which
 * tensors. */
enum lab_status lab_kept_take(const struct lab_kept *k, struct lab_walk *walk,
                              enum lab_kept_use use,
                              const struct lab_walk_ready *ready,
                              struct lab_str *notice);
/* Can a file be made there? Before an hour of training. `db`: the database that
 * is not to be overwritten, or NULL; `force`: another file is. LAB_E_IO. */
enum lab_status lab_kept_check_place(const char *path, const char *db,
                                     bool force);
/* Keeps the network: after the last whole iteration, where the walk is within
 * one. `path` has the old file, or the whole new one. *iterations: how many have made
 * it. A file that is there is LAB_E_IO without `force`. LAB_E_IO, LAB_E_NOMEM, the
 * backend's. */
enum lab_status lab_kept_save(struct lab_walk *walk, const char *lesson,
                              const char *path, const char *db, bool force,
                              int64_t *iterations);
LAB_C_END
