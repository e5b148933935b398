/* tables_model.h -- the tables of facts for the screens: read once, with this
 * machine in them, and kept in the database. Threads: one. */
#pragma once
#include "ui/models.h"

struct lab_tables_source {
    struct lab_tables_model model;
    const char *db; /* NULL: the usual one; must outlive this */
    struct lab_fact_table **tables;
    int count;
};

void lab_tables_source_init(struct lab_tables_source *s, const char *db);
void lab_tables_source_release(struct lab_tables_source *s);
