/* roofline_fixture.h -- a roofline for the screens: run 12 on an H200 with
 * measured roofs and counters, run 11 with a data sheet's, run 9 with none. */
#pragma once
#include "report/roofline.h"

enum lab_status fixture_roofline(void *user, int64_t run,
                                 const struct lab_roofline **out,
                                 struct lab_str *note);
