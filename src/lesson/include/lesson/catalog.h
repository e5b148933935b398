/* lesson/catalog.h -- the lessons that are installed, and finding one.
 *
 * Lessons are the *.md files of one directory: $LAPENNA_LAB_DATA_DIR/lessons,
 * else the installed one, else the source tree's (base/datadir.h); and those of
 * $XDG_DATA_HOME/lapenna-lab/lessons, a user's own, of which one takes the place of
 * an installed lesson with its id. One that
 * cannot be read stays in the list with its error, so that a broken file does
 * not make the others vanish. Threads: one at a time. */
#pragma once
#include <stddef.h>
#include "base/status.h"
#include "base/str.h"
#include "lesson/lesson.h"

struct lab_catalog_entry {
    char *id;
    char *path;
    struct lab_lesson *lesson; /* NULL: it could not be read */
    char *error;               /* then why */
};

/* A part of the list: the lessons from this order on. */
struct lab_chapter {
    int64_t order;
    char *title;
};

struct lab_catalog {
    char *dir;                    /* of the installed ones */
    struct lab_chapter *chapters; /* by order; of the file "chapters" there */
    size_t n_chapters;            /* 0: there is none, or it cannot be read */
    struct lab_catalog_entry *items; /* by order, then by file name */
    size_t count;
};

LAB_C_BEGIN
/* dir NULL: the directories above. A directory that is missing is an error. The
 * catalog, with its lessons, is freed by lab_catalog_free().
 * Errors: LAB_E_IO, LAB_E_NOMEM. */
enum lab_status lab_catalog_load(struct lab_catalog **out, const char *dir);
/* Only ids and paths, by file name: no lesson is read. Errors as above. */
enum lab_status lab_catalog_list(struct lab_catalog **out, const char *dir);
void lab_catalog_free(struct lab_catalog *catalog); /* NULL allowed */
/* Index of the chapter of an order; -1: none. */
int lab_catalog_chapter(const struct lab_catalog *catalog, int64_t order);
const struct lab_catalog_entry *
lab_catalog_find(const struct lab_catalog *catalog, const char *id);

/* Appends the names of the networks that are counted more than run
 * (lessons/models), ", " between them. Nothing where there are none. */
void lab_catalog_models(struct lab_str *out);

/* The path of a lesson that is given as a path (has a '/' or ends in .md) or
 * as an id. Appends to `out`. LAB_E_NOTFOUND names the nearest id. */
enum lab_status lab_lesson_find(const char *id_or_path, struct lab_str *out);
/* Finds it and reads it; lab_lesson_free() frees it. On failure *out is NULL.
 * Errors: those of lab_lesson_find() and lab_lesson_load(). */
enum lab_status lab_lesson_open(struct lab_lesson **out,
                                const char *id_or_path);
LAB_C_END
