/* step_json.h -- `step --json`: docs/design.md section 8 has the lines. */
#pragma once
#include "debug/lesson_run.h"

enum lab_status lab_step_json_run(struct lab_lesson_run *w);
/* Step `index` of the schedule, which has just run. */
enum lab_status lab_step_json(struct lab_lesson_run *w, int index);
enum lab_status lab_step_json_end(struct lab_lesson_run *w);
