/* profile_cmd.h -- the commands of `profile`, a row each beside its code. What run()
 * is given has been checked: as many words as it takes. */
#pragma once
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include "debug/options.h"
#include "store/query.h"

/* A number of `list`, last, or baseline:NAME. Errors: LAB_E_USAGE,
 * LAB_E_NOTFOUND. */
enum lab_status lab_profile_find_run(struct lab_database *db, const char *word,
                                     int64_t *run);

struct lab_profile_command {
    const char *name;
    enum lab_status (*run)(const struct lab_options *o,
                           struct lab_database *db);
    int least; /* words after it */
    int most;
    bool writes;
    const char *takes; /* after the name, in a message */
    unsigned options;
    const char *args; /* in --help; NULL: none */
    const char *doc;  /* what it does, \v, an example */
};

/* compare: LAB_E_CHECK where something is slower than --fail-above allows. */
extern const struct lab_profile_command lab_profile_list, lab_profile_show,
    lab_profile_kernels, lab_profile_timeline, lab_profile_compare,
    lab_profile_ceilings, lab_profile_roofline, lab_profile_export;

/* compare --loss: the runs' losses laid over each other. */
enum lab_status lab_profile_losses(const struct lab_options *o,
                                   struct lab_database *db);

/* Keys variant, precision and size of what is a lab's; NULL: it is not, and gets
 * none. */
void lab_profile_add_bench_name(json_t *o,
                                const struct lab_bench_name *bench_name);
