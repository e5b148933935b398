/* doctor.h -- what this machine can do, and the remedy for what is missing: a
 * line for each part, handed to the caller. Threads: one. */
#pragma once
#include <stdbool.h>
#include "base/status.h"

enum lab_doctor_state { LAB_DOCTOR_OK, LAB_DOCTOR_MISSING, LAB_DOCTOR_WARNING };

extern const char *const lab_doctor_state_text[];

struct lab_finding_line {
    const char *name;
    enum lab_doctor_state state;
    const char *detail;
    const char *remedy; /* NULL: none is needed */
    bool elsewhere; /* it is that of the line which the detail names: a text has
                           it once */
};

struct lab_doctor {
    void (*line)(void *user, const struct lab_finding_line *line);
    void *user;
    bool screen_open;  /* its terminal is in use: it is not asked again */
    const char *color; /* the option: 256 or direct decide; NULL: neither */
};

/* All of it; db NULL: the usual place. */
void lab_doctor_examine(struct lab_doctor *d, const char *db);
/* The GPU's part alone. */
void lab_doctor_gpu(struct lab_doctor *d);

struct lab_doc;
/* The variants that each op has on each backend that opens here, and how often
 * each was the fastest, by the times that the database keeps. */
void lab_doctor_write_variants(struct lab_doc *out, const char *db);
