/* stepper_fixture_priv.h -- what stepper_fixture.c and its two halves share. */
#pragma once
#include "stepper_fixture.h"

int fixture_tensor(const struct stepper_fixture *f, const char *name);
void fixture_make_schedule(struct stepper_fixture *f, bool fused);
/* stepper_fixture_do.c */
enum lab_status fixture_post(void *user, const struct lab_command *c);
/* stepper_fixture_look.c */
enum lab_status fixture_snapshot(void *user, struct lab_snapshot *out);
void fixture_snapshot_release(void *user, struct lab_snapshot *s);
