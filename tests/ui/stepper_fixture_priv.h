/* stepper_fixture_priv.h -- what stepper_fixture.c and its two halves share. */
#pragma once
#include "stepper_fixture.h"

/* The fixture poses as the session. */
static inline struct stepper_fixture *fixture_of(struct lab_session *session)
{
    return (struct stepper_fixture *)session;
}
int fixture_tensor(const struct stepper_fixture *f, const char *name);
void fixture_make_schedule(struct stepper_fixture *f, bool fused);
/* stepper_fixture_do.c */
enum lab_status fixture_post(struct lab_session *session,
                             const struct lab_command *c);
/* stepper_fixture_look.c */
enum lab_status fixture_snapshot(struct lab_session *session,
                                 struct lab_snapshot *out);
void fixture_snapshot_release(struct lab_snapshot *s);
