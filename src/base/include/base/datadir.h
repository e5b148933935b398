/* base/datadir.h -- where the files that ship with the program are, and the user's own.
 *
 * In this order: $LAPENNA_LAB_DATA_DIR, when it is set and not empty; the
 * directory ../share/lapenna-lab beside the program's own bin directory, which
 * a build tree has too. Threads: any. */
#pragma once
#include <stdio.h>

#include "base/status.h"
#include "base/str.h"

LAB_C_BEGIN
/* Appends the path of `sub` ("lessons", "lessons/data/digits.csv.gz") in the
 * first of these directories that has it. With the variable set, only that
 * directory counts. Errors: LAB_E_NOTFOUND with the places that were tried,
 * LAB_E_NOMEM. */
enum lab_status lab_data_path(const char *sub, struct lab_str *out);
/* The path of a file of the user: $VARIABLE/lapenna-lab/FILE, where the variable of the
 * XDG specification ("XDG_STATE_HOME") is an absolute path, else
 * $HOME/FALLBACK/lapenna-lab/FILE. Returns its length as snprintf() does; -1: HOME is no
 * absolute path either. Whether the file exists is not looked at. */
int lab_user_path(const char *variable, const char *fallback, const char *file,
                  char *out, size_t size);
/* A file that PTX names, to be read: from here, from the folder of the file `beside`
 * (NULL: none), or one of the program's own kernels, which ship with it and may have been
 * compiled elsewhere. NULL: there is no such file. */
FILE *lab_source_open(const char *beside, const char *path);
LAB_C_END
