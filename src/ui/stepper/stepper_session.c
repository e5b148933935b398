/* A real session behind the model. In a file of its own: tests of the screens
 * link no session. */
#include "ui/stepper.h"

static enum lab_status post(void *user, const struct lab_command *command)
{
    return lab_session_post(user, command);
}

/* "0.1.0" */
static int64_t version(void *user)
{
    return lab_session_version(user);
}

static enum lab_status snapshot(void *user, struct lab_snapshot *out)
{
    return lab_session_snapshot(user, out);
}

static void snapshot_release(void *user, struct lab_snapshot *snap)
{
    (void)user;
    lab_snapshot_release(snap);
}

static bool pending(void *user)
{
    return lab_session_pending(user);
}

void lab_stepper_model_session(struct lab_stepper_model *model,
                               struct lab_session *session)
{
    model->user = session;
    model->post = post;
    model->version = version;
    model->snapshot = snapshot;
    model->snapshot_release = snapshot_release;
    model->pending = pending;
}
