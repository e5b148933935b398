/* debug/kept_times.h -- which variants a lesson's network runs, as the commands have
 * it: chosen by an option or the lesson, else by times that the database
 * keeps and that are measured where they are new, else the fixed table. One rule for
 * a run, a screen, and the points of a sweep.
 *
 * Threads: the keeper's calls and lab_kept_times_store() on the thread that opens the
 * network; lab_kept_times_note() on any. */
#pragma once
#include "debug/options.h"
#include "engine/tune.h"
#include "engine/walk.h"
#include "store/choice.h"

struct lab_kept_times;

/* How an open network's variants were found. */
enum lab_variants_from {
    LAB_VARIANTS_TABLE,
    LAB_VARIANTS_MEASURED,
    LAB_VARIANTS_CHOSEN
};
enum { LAB_VARIANTS_TEXT = 512 };

/* Begins as {0}. */
struct lab_choices {
    struct lab_choice_row *list; /* texts are interned */
    size_t n;
    size_t room;
};

LAB_C_BEGIN
/* `db` is copied; NULL: nothing is read and nothing kept. Networks of `precision`.
 * NULL: no memory. */
struct lab_kept_times *lab_kept_times_new(const char *db,
                                          enum lab_precision precision);
void lab_kept_times_free(struct lab_kept_times *t); /* NULL allowed */

/* For struct lab_setup, valid as long as `t`; NULL where the options or
 * LAPENNA_LAB_TUNE want the fixed table. With `--tune` the first network that is opened is
 * measured whatever is kept. `tells`: what is measured is shown on
 * stderr, followed by `where` ("" or ", at each of 5 sizes"; it must last). */
const struct lab_tune_keeper *lab_kept_times_keeper(struct lab_kept_times *t,
                                                    const struct lab_options *o,
                                                    bool tells,
                                                    const char *where);
/* The network is open: the line on the terminal goes. */
void lab_kept_times_opened(struct lab_kept_times *t);
/* Into the database: what was measured, and without what is not used. A failure is a
 * note. */
void lab_kept_times_store(struct lab_kept_times *t);
/* Adds a line about what was not read or not kept, where there is one. */
void lab_kept_times_note(struct lab_kept_times *t, struct lab_str *out);

/* By what the network's steps have their variants; a choice is one for all nodes. */
enum lab_variants_from lab_variants_from(const struct lab_network_spec *spec,
                                         const struct lab_options *o,
                                         struct lab_walk *walk);
/* "table", "measured", "chosen": as a run's row has it. */
const char *lab_variants_from_name(enum lab_variants_from from);
/* Of such a name; the table where it is none or NULL, as of a sweep that was recorded
 * before its run had the word: it ran the fixed table. */
enum lab_variants_from lab_variants_from_find(const char *name);
/* "the fixed table", "chosen by measuring", "as chosen". */
const char *lab_variants_from_text(enum lab_variants_from from);
/* Every forward variant that is not the readable one: "attn1=cublas" for the first of
 * a node, "attn1.softmax=warp" for a step of it that runs another. "": there is
 * none. */
void lab_variants_text(struct lab_walk *walk, char out[LAB_VARIANTS_TEXT]);
/* The steps whose variant was chosen by measuring, with its time and the next one,
 * in the place of those in *out; lab_free() its list. Without memory for all of them
 * there are fewer. */
void lab_choices_note(struct lab_choices *out, struct lab_walk *walk);
LAB_C_END
