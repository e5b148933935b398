/* index.h -- what is stored with a long run, so that the first page of a sort
 * and the list of its iterations come at once.
 *
 * Zones: the kernels of a run are stored in the order in which they ended. For
 * every LAB_ZONE_ROWS of them kernel_zone has the least and the greatest value
 * of each column that kernels are sorted by, and kernel_zone_name their names.
 * The first rows of a sort are in the zones with the best values: these are read
 * until the next zone cannot have a better row (G. Moerkotte, Small Materialized
 * Aggregates, 1998). Every LAB_GROUP_ZONES of them have a row in kernel_zone of their
 * own, of `sort` + LAB_ZONE_GROUP, so that few zones are looked at; files of earlier
 * versions have none, and their programs do not see them. SQLite's own indexes were
 * measured and left out: docs/measurements.md, "A large database".
 *
 * Iterations: packed in rows of time_sum, of level LAB_ITERATION_LEVEL. Files
 * and programs of earlier versions have the same zones and the same packing.
 *
 * Both are made by the pass over a run's rows that adds its times up, and
 * stored in the same transaction. They are trusted as an index of SQLite's is:
 * wrong ones give wrong pages, and no access outside of an array.
 *
 * Errors: LAB_E_DB, LAB_E_NOMEM. Threads: that of the connection. */
#pragma once
#include "db/row.h"
#include "store/time_sum.h"
#include "store/timeline.h"

/* Shorter runs have no zones, or no list of iterations: reading their rows is
 * as fast. */
enum {
    LAB_ZONE_ROWS = 128,
    LAB_GROUP_ZONES = 64,
    LAB_ZONE_GROUP = 32, /* no sort has this number */
    LAB_ZONE_LEAST_KERNELS = 50000,
    LAB_ITERATION_LEVEL = LAB_SUM_LEVELS,
    LAB_ITERATION_LEAST_STEPS = 10000
};

struct lab_iterations { /* {0} is empty */
    struct lab_iteration_row *list;
    size_t count;
    size_t room;
    int64_t steps; /* of all of them */
};

struct lab_zone_range {
    int64_t least;
    int64_t greatest;
    bool known; /* false: NULL in every row */
};

/* Rows that follow each other. */
struct lab_zone {
    int64_t first;
    int64_t last;
    int parts; /* rows of a zone, zones of a group */
    struct lab_zone_range range[LAB_KERNEL_SORT_COUNT];
};

/* While the rows of a run are read. {0} is empty. */
struct lab_index {
    struct lab_database *db;
    int64_t run;
    struct lab_iterations iterations;
    bool zones; /* false: the run is short */
    struct lab_stmt add_zone;
    struct lab_stmt add_name;
    struct lab_zone zone; /* that is open, and its group */
    struct lab_zone group;
    int64_t name[LAB_ZONE_ROWS]; /* in the zone */
    int names;
};

/* LAB_UNKNOWN where unknown, in both. */
struct lab_index_step {
    int64_t exec;
    int64_t iteration;
    int64_t start_ns;
    int64_t end_ns;
    int64_t kernels;
    int64_t kernel_row_first;
    int64_t kernel_row_last;
};

struct lab_index_kernel {
    int64_t row;
    int64_t name; /* StringIds */
    int64_t value[LAB_KERNEL_SORT_COUNT];
};

/* The bits of a double, turned so that integers compare as it does; NaN:
 * LAB_UNKNOWN. */
int64_t lab_zone_value(double v);

/* What an earlier index of the run had is deleted. */
enum lab_status lab_index_begin(struct lab_index *x, struct lab_database *db,
                                int64_t run);
/* In the order of the rows. */
enum lab_status lab_index_add_kernel(struct lab_index *x,
                                     const struct lab_index_kernel *k);
/* Stores it where `st` is LAB_OK, and gives back what it has taken; `place`: the first
 * free one of the run's rows of time_sum. Returns `st`, or what went wrong then. */
enum lab_status lab_index_end(struct lab_index *x, enum lab_status st,
                              int64_t place);

/* Steps in the order of their exec. */
enum lab_status lab_iterations_add(struct lab_iterations *it,
                                   const struct lab_index_step *s);
