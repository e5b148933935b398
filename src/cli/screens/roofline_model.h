/* roofline_model.h -- a run's roofline as the screen shows it. Threads: one. */
#pragma once
#include "report/roofline.h"
#include "ui/models.h"

struct lab_roofline_model {
    struct lab_roofline line;
    struct lab_ui_roof roofs[LAB_CEILING_ROOFS];
    char height[LAB_CEILING_ROOFS][32];
    struct lab_ui_roof_point *points;
    char **texts; /* made safe for a terminal */
    size_t text_count;
    struct lab_str note;
};

/* Frees what the model held. `option`: what --db named, or NULL. Errors:
 * lab_roofline_load()'s. */
enum lab_status lab_roofline_model_load(struct lab_roofline_model *m,
                                        struct lab_database *db, int64_t run,
                                        const char *option,
                                        struct lab_ui_roofline *out);
void lab_roofline_model_release(struct lab_roofline_model *m);
