/* course_values.h -- the values that course material prints, beside those that
 * an iteration has just computed. */
#pragma once
#include "engine/walk.h"

/* A line for each value of the lesson's `printed` entries. Nothing when the
 * lesson has none.
 * Errors: LAB_E_NOMEM, LAB_E_IO, the backend's. */
enum lab_status lab_course_values_print(struct lab_walk *w,
                                        const struct lab_network_spec *spec);
