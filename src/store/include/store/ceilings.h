/* store/ceilings.h -- what devices can do at best, kept with the device.
 *
 * The program measures ceilings (engine/ceiling.h); here they are stored and
 * found again for a run. A roof is the largest rate that was ever measured on
 * the device for its precision: of the ceilings, and of the variants of labs,
 * which are checked and timed as carefully. Where none was measured a data
 * sheet's peak is taken (store/devices.h), and marked as one.
 *
 * Errors: LAB_E_DB, LAB_E_NOMEM; LAB_E_NOTFOUND where there is no such run.
 * Threads: that of the connection. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "store/database.h"
#include "store/lab_names.h"

enum { LAB_ROOF_TEXT = 128, LAB_ROOF_NAMES = 5 };

/* Which device. Unknown texts are "". */
struct lab_ceiling_device {
    char backend[16];
    char device[LAB_ROOF_TEXT];
    char uuid[LAB_ROOF_TEXT];
    char hostname[LAB_ROOF_TEXT];
};

/* One measurement; texts are valid as long as their owner states. */
struct lab_ceiling_row {
    const char *backend;
    const char *device;
    const char *uuid; /* NULL: a processor */
    const char *hostname;
    const char *name;    /* "copy", "fp32" ...: lab_ceiling_name() */
    double best_per_s;   /* bytes read and written, or FLOPs */
    double median_per_s; /* of the repeats */
    double worst_per_s;
    int64_t repeats;
    int64_t size;         /* struct lab_ceiling_result's */
    int64_t measured_ns;  /* since 1970; what is listed has the text too */
    const char *measured; /* UTC, ISO 8601 */
    const char *driver;
    const char *version; /* of the program */
};

/* Where a roof's height comes from. */
enum lab_roof_origin {
    LAB_ROOF_NONE,     /* not known */
    LAB_ROOF_MEASURED, /* on this device */
    LAB_ROOF_VARIANT,  /* on this device, by a variant of a lab that beat it */
    LAB_ROOF_RUN,      /* by the run itself, a lab's, before its variants */
    LAB_ROOF_ALIKE,    /* on another device of the same name */
    LAB_ROOF_DATASHEET,
    LAB_ROOF_ORIGINS
};

struct lab_roof {
    double per_s; /* NaN: not known */
    enum lab_roof_origin origin;
    char source[LAB_ROOF_TEXT]; /* the data sheet; what was measured, and when;
                                   the variant and its run */
};

/* "copy" (bytes a second), then the arithmetics (FLOPs a second) "fp32",
 * "tf32", "bf16", "fp16": the ceilings of engine/ceiling.h, in their order. */
extern const char *const lab_roof_names[LAB_ROOF_NAMES];

LAB_C_BEGIN
/* "measured", "measured by a lab's variant", "measured by this run", "measured on
 * another device of this name", "data sheet"; "". */
const char *lab_roof_origin_text(enum lab_roof_origin origin);
/* row->measured is not read: measured_ns is the time. */
enum lab_status lab_ceiling_add(struct lab_database *db,
                                const struct lab_ceiling_row *row);
/* A device of this machine; uuid "" or NULL: a processor. */
void lab_ceiling_device_here(const char *backend, const char *device,
                             const char *uuid, struct lab_ceiling_device *out);
/* What a run ran on. */
enum lab_status lab_ceiling_device_of_run(struct lab_database *db, int64_t run,
                                          struct lab_ceiling_device *out);
/* The largest rate measured for roof `name` ("fp32" has "fma" too) on the
 * device, else on another one of its name, else the data sheet's. A variant of a
 * lab counts on its own device, in FLOPs a second, on one thread of a
 * processor, and where its FLOPs are the formula's
 * (lab_variant_has_fewer_flop()). Nothing known is LAB_OK with
 * LAB_ROOF_NONE. */
enum lab_status lab_roof_find(struct lab_database *db,
                              const struct lab_ceiling_device *device,
                              const char *name, struct lab_roof *out);
/* The roof of a run, the same for all that is shown of it: the largest of what
 * was measured on its device and of what its lab measured before the variants
 * (`bench_names`; those of another run do not count); else as lab_roof_find(). */
enum lab_status lab_roof_of_run(struct lab_database *db,
                                const struct lab_ceiling_device *device,
                                const struct lab_bench_names *bench_names,
                                const char *name, struct lab_roof *out);
/* The shortest times that were ever measured on a device, whatever was done: of
 * a traced kernel (of a processor, "cpu": of a step), and of a variant of a lab,
 * which is timed with its launch. NaN: none was. Set on LAB_OK alone. */
enum lab_status lab_device_floor(struct lab_database *db,
                                 const struct lab_ceiling_device *device,
                                 double *kernel_ns, double *variant_ns);
/* The data sheet's alone. */
void lab_roof_published(const char *device, const char *name,
                        struct lab_roof *out);
LAB_C_END
