/* ui_fixture_occupancy.h -- what if a kernel of the fixture were launched
 * otherwise, as the runs model loads it. */
#pragma once
#include "ui/models.h"

enum lab_status fixture_load_occupancy(void *user, int64_t run,
                                       const struct lab_time_sum *kernel,
                                       int64_t row,
                                       struct lab_occupancy_args *out);
