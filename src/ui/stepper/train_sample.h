/* train_sample.h -- a network that learns from text writes some: the pane of
 * the training screen, and the command. Threads: the UI's. */
#pragma once
#include "ui/canvas.h"
#include "debug/command.h"
#include "ui/stepper.h"

/* For a lesson without text. */
extern const char lab_train_sample_not_here[];

/* The words of `sample`; what they leave out stays as it was. */
void lab_train_sample_take(struct lab_stepper_sampling *how,
                           const struct lab_ui_command *cmd);
/* What to post. */
struct lab_command
lab_train_sample_command(const struct lab_stepper_sampling *how);
