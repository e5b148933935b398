/* export_priv.h -- what the formats of an export share. */
#pragma once
#include "row.h"
#include "store/export.h"

enum lab_escape {
    LAB_ESCAPE_CSV,  /* with its quotes, where it needs them */
    LAB_ESCAPE_JSON, /* with its quotes; NULL: null */
    LAB_ESCAPE_HTML
};

/* Text from outside, made visible and escaped. NULL is an empty text. */
void lab_export_text(struct lab_str *out, const char *text,
                     enum lab_escape how);
/* Writes what is collected, and empties it. */
enum lab_status lab_export_put(FILE *to, struct lab_str *text);
/* The first moment of a run: its start, or what was recorded before it. */
enum lab_status lab_export_base(struct lab_database *db, int64_t run,
                                int64_t *out);
