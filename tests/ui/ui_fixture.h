/* tests/ui/ui_fixture.h -- fixed data for the screens, and a screen that
 * misbehaves on demand. */
#pragma once
#include "ui/models.h"
#include "ui/screen.h"

/* The home screen's model; one at a time. Deleting a run really takes it out
 * until the next call. */
struct lab_home_model *fixture_home(void);

/* A small CUDA source with what makes finding functions hard. */
const char *fixture_source_text(void);

/* A chart, and a thread that wakes the loop a thousand times a second.
 * Keys: X a crash, A an abort, E a line on stderr and one on stdout, V 5 MB there, p a
 * prompt, y a question, o a source, Z a loop that hangs; takes the `:` words and shows
 * what it was given. */
extern const struct lab_screen_ops fixture_busy;
