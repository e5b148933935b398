/* doctor.h -- the parts of `lapenna-lab doctor`: doctor_machine.c looks at
 * processors and libraries, doctor_place.c at files and the terminal. */
#pragma once
#include <stdbool.h>
#include "base/status.h"

struct lab_doc;

enum lab_doctor_state { LAB_DOCTOR_OK, LAB_DOCTOR_MISSING, LAB_DOCTOR_WARNING };

struct lab_finding_line {
    const char *name;
    enum lab_doctor_state state;
    const char *detail;
    const char *remedy; /* NULL: none is needed */
};

struct lab_doctor {
    bool json;
    struct lab_doc *doc;    /* where the lines go; NULL: standard output */
    enum lab_status failed; /* the output is gone */
};

/* All of it; db NULL: the usual place. */
enum lab_status lab_doctor_examine(struct lab_doctor *d, const char *db);

/* Prints one line. */
void lab_doctor_say(struct lab_doctor *d, const char *name,
                    enum lab_doctor_state state, const char *detail,
                    const char *remedy);
/* The same with lab_error(); its own remedy goes before `remedy`. */
void lab_doctor_say_error(struct lab_doctor *d, const char *name,
                          enum lab_doctor_state state, const char *remedy);

void lab_doctor_cpu(struct lab_doctor *d); /* OpenBLAS and oneDNN too */
void lab_doctor_gpu(struct lab_doctor *d);
void lab_doctor_lessons(struct lab_doctor *d);
void lab_doctor_terminal(struct lab_doctor *d);
/* db NULL: the usual place. */
void lab_doctor_database(struct lab_doctor *d, const char *db);
