/* flame.h -- a flame graph (lab_view_flame) as a part of another screen, which opens
 * it with that screen's run. Threads: the UI's. */
#pragma once
#include "store/time_sum.h"
#include "ui/screen.h"

/* The blocks alone. */
void lab_flame_draw(struct lab_screen *flame, struct lab_canvas *c,
                    struct lab_rect r);
/* Marks a step, or a kernel of it (NULL: the step itself). */
void lab_flame_choose(struct lab_screen *flame, const struct lab_time_sum *step,
                      const struct lab_time_sum *kernel, bool by_bound);
