/* export_priv.h -- what the formats of an export share. */
#pragma once
#include "db/row.h"
#include "store/export.h"

/* When a run was in its iterations, in order and apart. */
struct lab_export_windows {
    struct lab_export_window {
        int64_t from_ns;
        int64_t to_ns;
    } * items;
    size_t count; /* 0: not known, and all is exported */
};
/* `lab`: the launches of a lab's variants instead. LAB_E_NOMEM, LAB_E_DB. */
enum lab_status lab_export_windows_load(struct lab_export_windows *out,
                                        struct lab_database *db, int64_t run,
                                        bool lab);
void lab_export_windows_release(struct lab_export_windows *w);

enum lab_escape {
    LAB_ESCAPE_CSV, /* with its quotes, where it needs them */
    LAB_ESCAPE_JSON /* with its quotes; NULL: null */
};

/* Text from outside, made visible and escaped. NULL is an empty text. */
void lab_export_text(struct lab_str *out, const char *text,
                     enum lab_escape how);
/* Writes what is collected, and empties it. */
enum lab_status lab_export_put(FILE *to, struct lab_str *text);
/* The first moment of a run: its start, or what was recorded before it. */
enum lab_status lab_export_base(struct lab_database *db, int64_t run,
                                int64_t *out);
