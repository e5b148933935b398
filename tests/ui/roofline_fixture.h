/* roofline_fixture.h -- a roofline for the screens: run 12 on an H200 with
 * measured roofs and counters, run 11 with a data sheet's, run 9 with none. */
#pragma once
#include "ui/models.h"

enum lab_status fixture_roofline(void *user, int64_t run,
                                 struct lab_ui_roofline *out);
