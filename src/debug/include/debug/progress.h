/* debug/progress.h -- how far the learner is in each lesson, kept in
 * $XDG_STATE_HOME/lapenna-lab/progress.json.
 *
 * Written whole to a temporary file and renamed, under a lock and merged with
 * what another program has written meanwhile: nothing goes backwards. A file
 * that cannot be understood is kept beside it, never lost. Threads: one. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"

struct lab_network_spec;
struct lab_snapshot;

enum { LAB_PROGRESS_ID_BYTES = 80, LAB_PROGRESS_PATH_BYTES = 4096 };

struct lab_progress_entry {
    char id[LAB_PROGRESS_ID_BYTES]; /* the lesson's */
    int64_t steps_seen;
    int64_t steps_total; /* LAB_UNKNOWN until known */
    bool finished;
    char opened[32]; /* "2025-06-01T14:03:00Z", or "" */
};

struct lab_progress {
    struct lab_progress_entry *entries; /* owned */
    size_t count;
    char path[LAB_PROGRESS_PATH_BYTES];
    bool newer;     /* a later program wrote the file: it is not changed */
    char note[512]; /* what is wrong, for the status line; "" nothing */
};

LAB_C_BEGIN
/* The file's usual place. LAB_E_NOTFOUND when there is no home directory; a
 * relative XDG_STATE_HOME is ignored. */
enum lab_status lab_progress_path(char *out, size_t cap);
/* Reads `path`. A missing file is an empty one. One that is not understood is
 * renamed to PATH.bad (or .bad1 ...), which `note` reports, with line and column.
 * Errors: LAB_E_IO, LAB_E_NOMEM. */
enum lab_status lab_progress_load(struct lab_progress *out, const char *path);
void lab_progress_release(struct lab_progress *p);
/* The lesson's entry, or NULL. */
const struct lab_progress_entry *lab_progress_find(const struct lab_progress *p,
                                                   const char *id);
/* Merges what is known now: the larger count, the later moment, finished once
 * is finished for good. LAB_E_ARG an id that is empty or too long. */
enum lab_status lab_progress_update(struct lab_progress *p,
                                    const struct lab_progress_entry *now);
/* Merges with the file and writes it; makes the directory when it is missing.
 * LAB_E_STATE when the file is from a later program. */
enum lab_status lab_progress_save(struct lab_progress *p);
/* Most steps of an iteration that were walked, and whether the lesson is
 * finished: merged into `p`, at this moment. */
enum lab_status lab_seen_note(struct lab_progress *p, const char *lesson,
                              int64_t steps_seen, int64_t steps_total,
                              bool finished);
/* The same, into the usual file; a warning on stderr where that fails. */
void lab_seen_keep(const char *lesson, int64_t steps_seen, int64_t steps_total,
                   bool finished);
/* Whether a training that has ended was as long as the lesson asks for. */
bool lab_seen_trained(const struct lab_network_spec *spec,
                      const struct lab_snapshot *snap);
LAB_C_END
