/* kernel_zone.h -- where in a long run the largest and the smallest values of
 * its kernels are.
 *
 * The kernels of a run lie in the file in the order in which they ended. Cut
 * into zones of LAB_ZONE_ROWS rows, each with the least and the greatest value
 * of every column that can be sorted by, the first page of a sort is found in
 * the few zones whose greatest value is great enough (as in a column store's
 * zone maps: G. Moerkotte, Small Materialized Aggregates, 1998). The zones are
 * some ten thousandths of the run, and cost the writer nothing while it writes.
 */
#pragma once
#include "store/query.h"
#include "db/store_priv.h"

/* Runs with fewer kernels have no zones: a scan is as fast. */
enum { LAB_ZONE_ROWS = 2048, LAB_ZONE_LEAST_KERNELS = 50000 };

/* The columns, by enum lab_kernel_sort; LAB_KERNEL_BY_ROW and _BY_NAME have no
 * range. Reals are kept as integers of the same order. */
struct lab_zone_range {
    int64_t least;
    int64_t greatest;
    bool known; /* false: NULL in every row */
};

struct lab_zone {
    int64_t first; /* kernelRow */
    int64_t last;
    struct lab_zone_range range[LAB_KERNEL_SORT_COUNT];
};

/* One kernel, as it is added; LAB_UNKNOWN where unknown. */
struct lab_zone_kernel {
    int64_t row;
    int64_t name; /* StringIds */
    int64_t value[LAB_KERNEL_SORT_COUNT];
};

/* The zones of a run while it is added up: the kernels in the order of their
 * rows. {0} is empty. */
struct lab_zones {
    struct lab_zone *zones;
    int64_t (*names)[2]; /* first row of a zone, name: each pair once */
    size_t count;
    size_t room;
    size_t n_names;
    size_t names_room;
    size_t first_name; /* of the last zone */
    int64_t in_last;   /* rows */
    int64_t kernels;
};

enum lab_status lab_zones_add(struct lab_zones *z,
                              const struct lab_zone_kernel *k);
/* Writes them, where the run is long enough. */
enum lab_status lab_zones_store(const struct lab_zones *z,
                                struct lab_database *db, int64_t run);
void lab_zones_release(struct lab_zones *z);

/* LAB_UNKNOWN widens nothing. */
void lab_zone_widen(struct lab_zone_range *r, int64_t v);
/* An integer of the same order; NaN: LAB_UNKNOWN. */
int64_t lab_zone_real(double v);

/* The rows of a page of a sort of the whole run: up to limit of them after the
 * first `offset`. *n < 0: the run has no zones for it, or they overlap, or a
 * row is not what its zone says, or the page is not found through them; ask
 * another way. Errors: LAB_E_DB, LAB_E_NOMEM. */
enum lab_status lab_zones_pick(struct lab_database *db, int64_t run,
                               const struct lab_kernel_filter *f, int64_t *rows,
                               int64_t *n);
