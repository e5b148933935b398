/* suggest.h -- the commands that the program tells people to type. They work when
 * they are pasted: for the database that the program was called with, and with
 * odd file names quoted (base/shell.h). Threads: any. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/str.h"

struct lab_database;

/* The runs that ship with the program, below its data: made by
 * profiles/recorded/make.sh. */
#define LAB_RECORDED_RUNS "profiles/recorded/h200.db"
#define LAB_RECORDED_DEVICE "NVIDIA H200"
/* Opens them to read; lab_database_close(). LAB_E_NOTFOUND: none do. */
enum lab_status lab_recorded_open(struct lab_database **out);

/* Some words, for lab_suggest_command(). */
#define LAB_WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Appends "lapenna-lab WORD..." (its first word as base/command.h has it), and
 * " --db DB" unless that is NULL: the usual place, or a command that uses no
 * database. `words` ends with NULL. */
void lab_suggest_command(struct lab_str *out, const char *db,
                         const char *const *words);
/* The same as a text of its own, to be released. */
struct lab_str lab_suggest_command_text(const char *db,
                                        const char *const *words);
/* What --db names for a database that is open: its path; NULL where it is the
 * usual one, or the one that ships and is only read. */
const char *lab_suggest_db(const struct lab_database *db);
/* Appends a text, and to each `lapenna-lab ...` between backquotes in it the
 * database of lab_suggest_db(). */
void lab_suggest_in_text(struct lab_str *out, const struct lab_database *db,
                         const char *text);
/* The index of `word` among names[0..n). LAB_E_USAGE: "no WHAT 'word'", with the
 * nearest name, and what is `there`: "--help lists them"; NULL: every name. */
enum lab_status lab_find_word(const char *what, const char *word,
                              const char *const *names, int n,
                              const char *there, int *out);
/* "recorded as run 5: lapenna-lab profile show 5" on standard output. `whole`
 * false: in part only. */
void lab_print_recorded(const char *db, int64_t run, bool whole);
