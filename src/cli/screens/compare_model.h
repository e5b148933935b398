/* compare_model.h -- two runs side by side, for the screen that compares. */
#pragma once
#include "store/compare.h"
#include "ui/models.h"

/* Owns what the rows point to. */
struct lab_compare_model {
    struct lab_ui_compare_row *rows;
    int64_t count;
    struct lab_comparison comparison;
};

/* Replaces what it holds; the facts are appended to `facts`. */
enum lab_status lab_compare_model_load(struct lab_compare_model *m,
                                       struct lab_database *db,
                                       const int64_t run[2],
                                       struct lab_doc *facts);
void lab_compare_model_release(struct lab_compare_model *m);
