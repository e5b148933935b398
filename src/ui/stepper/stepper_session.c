/* A real session behind the stepper's model. */
#include "ui/stepper.h"

static enum lab_status post(void *session, const struct lab_command *command)
{
    return lab_session_post(session, command);
}

static int64_t version(void *session)
{
    return lab_session_version(session);
}

static enum lab_status snapshot(void *session, struct lab_snapshot *out)
{
    return lab_session_snapshot(session, out);
}

static void snapshot_release(void *session, struct lab_snapshot *snap)
{
    (void)session;
    lab_snapshot_release(snap);
}

static bool pending(void *session)
{
    return lab_session_pending(session);
}

void lab_stepper_model_session(struct lab_stepper_model *model,
                               struct lab_session *session)
{
    model->session = session;
    model->post = post;
    model->version = version;
    model->snapshot = snapshot;
    model->snapshot_release = snapshot_release;
    model->pending = pending;
}
