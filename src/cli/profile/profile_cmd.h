/* profile_cmd.h -- the commands of `profile`, one function each. What they are
 * given has been checked: as many words as they take. */
#pragma once
#include <math.h>
#include <stdbool.h>
#include "store/query.h"

enum { LAB_PROFILE_WORDS = 256 };

struct lab_profile_options {
    const char *db; /* NULL: the usual place */
    bool json;
    bool ascii;
    const char *sort;
    bool reverse;
    int64_t limit; /* 0: all */
    bool limit_given;
    double fail_above;   /* a share; NaN: not given */
    const char *format;  /* export */
    const char *output;  /* export; "-": stdout */
    const char *table;   /* export as CSV */
    bool force;          /* export: overwrite */
    bool all;            /* export: set-up and evaluation too */
    bool remove;         /* baseline */
    bool recorded;       /* the runs that ship with the program */
    bool dry_run;        /* import, merge */
    const char *label;   /* import, merge: whose runs they are */
    int64_t iteration;   /* timeline; LAB_UNKNOWN: not said */
    const char *backend; /* ceilings: auto (NULL), cpu, cuda */
    int device;          /* ceilings */
    const char *command;
    const char *words[LAB_PROFILE_WORDS];
    int n_words;
};

/* profile_options.c. Reads the options; wrong ones end the program. With a
 * command among the words --help is of that command. 0, or argp's error. */
int lab_profile_parse(int argc, char **argv, struct lab_profile_options *o);

/* A number of `list`, last, or baseline:NAME. Errors: LAB_E_USAGE,
 * LAB_E_NOTFOUND. */
enum lab_status lab_profile_find_run(struct lab_database *db, const char *word,
                                     int64_t *run);
/* Whether there is such a run: a number may be of none. Errors:
 * LAB_E_NOTFOUND, LAB_E_DB. */
enum lab_status lab_profile_check_run(struct lab_database *db, int64_t run);
/* Text on stdout, without a byte above 0x7F when `ascii`; releases it. */
enum lab_status lab_profile_put(struct lab_str *text, bool ascii);

enum lab_status lab_profile_delete(const struct lab_profile_options *o,
                                   struct lab_database *db);
enum lab_status lab_profile_vacuum(const struct lab_profile_options *o,
                                   struct lab_database *db);
enum lab_status lab_profile_timeline(const struct lab_profile_options *o,
                                     struct lab_database *db);
/* LAB_E_CHECK: something is slower than --fail-above allows. */
enum lab_status lab_profile_compare(const struct lab_profile_options *o,
                                    struct lab_database *db);
enum lab_status lab_profile_baseline(const struct lab_profile_options *o,
                                     struct lab_database *db);
enum lab_status lab_profile_export(const struct lab_profile_options *o,
                                   struct lab_database *db);
/* `import` and `merge`: the runs of files. */
enum lab_status lab_profile_import(const struct lab_profile_options *o,
                                   struct lab_database *db);
/* Measures the ceilings of a device, and keeps them. */
enum lab_status lab_profile_ceilings(const struct lab_profile_options *o,
                                     struct lab_database *db);
enum lab_status lab_profile_roofline(const struct lab_profile_options *o,
                                     struct lab_database *db);
