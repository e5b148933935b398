/* tuned.c -- the winners of `lab tune`, kept for their device.
 *
 * Every tuning is a row; the newest of a device, lab, size class and precision
 * counts. `lab` takes its variant `tuned` from it, `doctor` lists the winners. */
#include "store/tuned.h"

#include <math.h>
#include <stdio.h>

#include "db/row.h"
#include "store/row_fields.h"

#define FIELD(column, kind, ...)                                               \
    LAB_FIELD(lab_tuned_row, column, kind, __VA_ARGS__)
#define SHOWN LAB_SHOWN

static const struct lab_field fields[] = {
    FIELD("lab", TEXT, lab, SHOWN("lab", 1, PLAIN)),
    FIELD("sizeClass", TEXT, size_class, SHOWN("sizes", 2, PLAIN)),
    FIELD("precision", TEXT, precision, SHOWN("in", 3, PLAIN)),
    FIELD("candidate", TEXT, candidate, SHOWN("fastest", 4, PLAIN)),
    FIELD("size", TEXT, size, SHOWN("measured at", 6, PLAIN)),
    FIELD("median_ns", REAL, median_ns, SHOWN(">median", 7, NS)),
    FIELD("rate", REAL, rate, SHOWN(">rate", 8, RATE)),
    FIELD("unit", TEXT, unit),
    FIELD("candidates", INT, candidates, SHOWN(">of", 5, PLAIN)),
    FIELD("backend", TEXT, backend),
    FIELD("device", TEXT, device),
    FIELD("uuid", TEXT, uuid),
    FIELD("hostname", TEXT, hostname),
    FIELD("driver", TEXT, driver),
    FIELD("version", TEXT, version),
    FIELD("runId", INT, run, .key = "", .csv = "run_id"), /* JSON has "run" */
    FIELD("measured_ns", INT, measured_ns),
    FIELD("measured", TEXT, measured),
};

/* The newest of a run counts, and comes last. */
LAB_FIELDS(lab_tuned_row, fields, lab_tuned_of_run, "lab_tuned", "id", "tuned_")

enum lab_status lab_tuned_add(struct lab_database *db,
                              const struct lab_tuned_row *row)
{
    char moment[32];
    struct lab_tuned_row with = *row;
    lab_utc_text(row->measured_ns, moment);
    with.measured = moment;
    return lab_fields_add(db, LAB_UNKNOWN, &lab_tuned_row_fields, &with);
}

enum lab_status lab_tuned_find(struct lab_database *db,
                               const struct lab_tuned_key *key,
                               struct lab_tuned_found *out)
{
    const struct lab_ceiling_device *d = key->device;
    struct lab_tuned_found found = {.candidates = LAB_UNKNOWN, .rate = NAN};
    const char *const texts[] = {d->backend,    d->device, d->uuid,
                                 d->hostname,   key->lab,  key->size_class,
                                 key->precision};
    struct lab_stmt s = lab_stmt_new(
        db,
        "SELECT candidate, measured, candidates, rate FROM lab_tuned WHERE "
        "backend = ?1 AND device = ?2 AND iif(?3 <> '', ifnull(uuid, '') = ?3, "
        "uuid IS NULL AND ifnull(hostname, '') = ?4) AND lab = ?5 AND "
        "sizeClass = ?6 AND precision = ?7 ORDER BY measured_ns DESC, id DESC "
        "LIMIT 1");
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        lab_bind_text(s.sql, (int)i + 1, texts[i]);
    if (lab_stmt_next(&s)) {
        const char *candidate = lab_column_text(&s);
        const char *measured = lab_column_text(&s);
        snprintf(found.candidate, sizeof(found.candidate), "%s",
                 candidate ? candidate : "");
        snprintf(found.measured, sizeof(found.measured), "%s",
                 measured ? measured : "");
        found.candidates = lab_column_int(&s);
        found.rate = lab_column_real(&s);
    }
    if (!s.st)
        *out = found;
    return lab_stmt_end(&s);
}

enum lab_status lab_tuned_list(struct lab_database *db, lab_tuned_row_fn *each,
                               void *user)
{
    struct lab_tuned_row_reader to = {each, user};
    return lab_fields_read_from(
        db, &lab_tuned_row_fields,
        "(SELECT *, row_number() OVER (PARTITION BY backend, device, uuid, "
        "iif(uuid IS NULL, hostname, NULL), lab, sizeClass, precision ORDER BY "
        "measured_ns DESC, id DESC) AS age FROM lab_tuned) WHERE age = 1 ORDER "
        "BY backend DESC, device, uuid, hostname, lab, precision, "
        "length(sizeClass), sizeClass",
        lab_tuned_row_each, &to);
}
