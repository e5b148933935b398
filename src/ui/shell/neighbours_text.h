/* neighbours_text.h -- the answer to `:near` on the message line: as many neighbours
 * as the session found; the line is cut where the terminal ends. */
#pragma once
#include "engine/snapshot.h"
#include "ui/ui.h"

LAB_C_BEGIN
void lab_ui_say_near(struct lab_ui *ui, const struct lab_snapshot *snap);
LAB_C_END
