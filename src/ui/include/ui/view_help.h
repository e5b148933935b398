/* ui/view_help.h -- help for a screen, made from its binding table. */
#pragma once
#include "report/doc.h"
#include "ui/screen.h"

/* init takes the `struct lab_screen *` that help is for. */
extern const struct lab_screen_ops lab_view_help;

LAB_C_BEGIN
/* The text: this screen's keys first, then those that work everywhere and mean
 * nothing else here, then the `:` words when the screen takes them. */
void lab_help_write(struct lab_doc *doc, const struct lab_screen_ops *ops,
                    const struct lab_binding *bindings);
LAB_C_END
