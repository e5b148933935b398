/* A hand-made session for the stepper's tests: a small plan, its tensors, and a
 * log of the commands that a screen sends. */
#include "stepper_fixture_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stepper_plan.h"
#include "trace/intern.h"
#include "ui/ui.h"

int fixture_tensor(const struct stepper_fixture *f, const char *name)
{
    for (int i = 0; i < f->plan->n_tensors; i++)
        if (strcmp(f->plan->tensors[i].name, name) == 0)
            return i;
    abort();
}

/* ---- numbers ---- */

static void fill_values(struct stepper_fixture *f)
{
    f->values = calloc((size_t)f->plan->n_tensors, sizeof(*f->values));
    for (int t = 0; t < f->plan->n_tensors; t++) {
        int64_t n = f->plan->tensors[t].count;
        f->values[t] = calloc((size_t)n, sizeof(double));
        for (int64_t i = 0; i < n; i++)
            f->values[t][i] = sin(0.7 * (double)i + t) * (1 + t % 3) / 2;
    }
    if (f->plan->n_tensors < 10 || f->plan->n_nodes > 10)
        return;
    double *x = f->values[fixture_tensor(f, "x")];
    double *W = f->values[fixture_tensor(f, "fc1.W")];
    double *xW = f->values[fixture_tensor(f, "fc1.xW")];
    double *out = f->values[fixture_tensor(f, "fc1.out")];
    double *relu = f->values[fixture_tensor(f, "relu1.out")];
    for (int i = 0; i < 4 * 64; i++) /* a ring, as a digit 0 has it */
        x[i] = fabs(hypot(i % 8 - 3.5, i % 64 / 8 - 3.5) - 2.5) < 0.9
                   ? 1 - 0.1 * (i % 3)
                   : 0;
    for (int n = 0; n < 4; n++) {
        for (int m = 0; m < 16; m++) {
            double sum = 0;
            for (int k = 0; k < 64; k++)
                sum += x[n * 64 + k] * W[k * 16 + m];
            xW[n * 16 + m] = sum;
            out[n * 16 + m] = sum + f->values[fixture_tensor(f, "fc1.b")][m];
            relu[n * 16 + m] = fmax(0, out[n * 16 + m]);
        }
    }
    f->values[fixture_tensor(f, "fc2.W.grad")][7] = NAN;
    f->values[fixture_tensor(f, "fc2.W.grad")][11] = -INFINITY;
}

void fixture_make_schedule(struct stepper_fixture *f, bool fused)
{
    if (f->n_made == 8)
        abort();
    f->schedule = plan_schedule(f->plan, fused);
    f->made[f->n_made++] = f->schedule;
}

static int64_t version(struct lab_session *session)
{
    return fixture_of(session)->version;
}

/* ---- the model ---- */

static int kernels(void *user, int64_t exec, struct lab_stepper_kernel *rows,
                   int max)
{
    const struct stepper_fixture *f = user;
    if (!f->cuda || max < 2)
        return 0;
    rows[0].record = (struct lab_kernel_record){
        .end_ns = 4352 + exec,
        .short_name = lab_intern("dense_matmul_fwd_tiled"),
        .launch.grid = {1, 4, 1},
        .launch.block = {16, 16, 1},
        .launch.registers_per_thread = 38,
        .launch.static_shared_bytes = 2048,
        .occupancy_pct = 75,
        .occupancy_limit = 4 | 8};
    rows[1].record = (struct lab_kernel_record){
        .end_ns = 1700,
        .short_name = lab_intern("splitK\033[31m_reduce"),
        .launch.grid = {5, 1, 1},
        .launch.block = {512, 1, 1},
        .launch.registers_per_thread = LAB_UNKNOWN,
        .launch.static_shared_bytes = LAB_UNKNOWN,
        .occupancy_pct = NAN};
    rows[0].counted = rows[1].counted = false;
    return 2;
}

/* The fused one is for the two steps of fc1 forward; naive took too long. */
static int candidates(void *user, int node, const struct lab_schedule_step *at,
                      struct lab_candidate *out, int max)
{
    const struct stepper_fixture *f = user;
    const double ns[3] = {NAN, 45100, 31234};
    (void)max;
    for (int i = 0; i < 3; i++)
        out[i] = (struct lab_candidate){.name = plan_variant(i)->name,
                                        .serves = true,
                                        .timed = f->timed && at,
                                        .ns = f->timed && at ? ns[i] : NAN,
                                        .steps = i == 2 ? 2 : 1,
                                        .fastest = f->timed && i == 1};
    return node == 0 ? 3 : 1;
}

static void text_for(void *user, const char *step, const char *node,
                     const char *phase, int columns, struct lab_doc *out)
{
    (void)user;
    (void)columns;
    if (!node)
        lab_doc_para(out, 0, 0, true);
    if (!node)
        lab_doc_add(out, LAB_ROLE_NORMAL,
                    "Two layers on four rows: this is the lesson's "
                    "introduction.");
    if (!node || strcmp(node, "fc1") != 0)
        return;
    lab_doc_para(out, 0, 0, false);
    lab_doc_addf(out, LAB_ROLE_HEADING, "%s (%s)", step, phase);
    lab_doc_para(out, 0, 0, true);
    lab_doc_add(out, LAB_ROLE_NORMAL,
                "Every row of x meets every column of W: one product for each "
                "pair, and their sum is one number of xW.");
}

static enum lab_status open_source(void *user, struct lab_ui *ui,
                                   const char *file, const char *symbol)
{
    struct stepper_fixture *f = user;
    f->source_opened++;
    lab_ui_message(ui, LAB_ROLE_NORMAL, "source %s at %s", file, symbol);
    return LAB_OK;
}

static void progress(void *user, int64_t walked, int n_steps)
{
    struct stepper_fixture *f = user;
    f->progress_calls += walked <= n_steps;
}

struct stepper_fixture *stepper_fixture_new(int steps)
{
    static double printed_value[2] = {0.25, 0.875};
    static char tensor_name[] = "fc1.xW";
    static char where[] = "slide 12";
    static struct lab_course_values_spec printed;
    printed = (struct lab_course_values_spec){.tensor = tensor_name,
                                              .at = {2, {0, 1}},
                                              .values = printed_value,
                                              .n_values = 2,
                                              .tolerance = 1e-3,
                                              .where = where};
    struct stepper_fixture *f = calloc(1, sizeof(*f));
    f->plan = steps > 0   ? plan_large(steps)
              : steps < 0 ? plan_huge()
                          : plan_small();
    fixture_make_schedule(f, false);
    f->version = 1;
    f->state = LAB_SESSION_IDLE;
    f->show.tensor = -1;
    f->element.tensor = -1;
    fill_values(f);
    f->model =
        (struct lab_stepper_model){.user = f,
                                   .session = (struct lab_session *)f,
                                   .title = "An MLP on digits",
                                   .time_note = "CPU clock",
                                   .post = fixture_post,
                                   .version = version,
                                   .snapshot = fixture_snapshot,
                                   .snapshot_release = fixture_snapshot_release,
                                   .kernels = kernels,
                                   .candidates = candidates,
                                   .text_for = text_for,
                                   .open_source = open_source,
                                   .progress = progress,
                                   .printed = &printed,
                                   .n_printed = 1};
    return f;
}

void stepper_fixture_free(struct stepper_fixture *f)
{
    for (int i = 0; i < f->plan->n_tensors; i++)
        free(f->values[i]);
    free(f->values);
    for (int i = 0; i < f->n_made; i++) {
        free(f->made[i]->steps);
        free(f->made[i]);
    }
    plan_release(f->plan);
    free(f);
}

const struct lab_command *fixture_last(const struct stepper_fixture *f,
                                       enum lab_command_kind kind)
{
    for (int i = f->n_commands - 1; i >= 0; i--)
        if (f->commands[i].kind == kind)
            return &f->commands[i];
    return NULL;
}

int fixture_count(const struct stepper_fixture *f, enum lab_command_kind kind)
{
    int n = 0;
    for (int i = 0; i < f->n_commands; i++)
        n += f->commands[i].kind == kind;
    return n;
}
