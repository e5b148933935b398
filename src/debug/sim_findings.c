/* sim_findings.c -- what the checks of the backend "sim" found in the step that
 * ended a walk, as lines of JSON. */
#include "debug/sim_findings.h"

#include "base/error.h"
#include "engine/sim_backend.h"
#include "report/exit.h"
#include "report/json_line.h"
#include "trace/record.h"

static void add_sides(json_t *line, const char *key, const uint32_t v[3])
{
    lab_json_ints(line, key, (const int64_t[3]){v[0], v[1], v[2]}, 3);
}

static void add_where(json_t *line, const struct lab_ptx *ptx,
                      const struct lab_sim_where *at)
{
    int number;
    const char *file = lab_sim_source(ptx, at->place, &number);
    json_t *callers = json_array();
    lab_json_text(line, "file", file);
    lab_json_int(line, "line", file ? number : LAB_UNKNOWN);
    for (int32_t up = ptx ? lab_ptx_caller(ptx, at->place) : -1; up >= 0;
         up = lab_ptx_caller(ptx, up)) {
        json_t *call = json_object();
        lab_json_text(call, "file", lab_sim_source(ptx, up, &number));
        lab_json_int(call, "line", number);
        json_array_append_new(callers, call);
    }
    json_object_set_new(line, "inlined_at", callers);
    add_sides(line, "block", at->block);
    add_sides(line, "thread", at->thread);
}

static enum lab_status print_finding(const struct lab_sim_gpu_finding *of,
                                     const char *expected)
{
    const struct lab_sim_finding *f = &of->found;
    json_t *line = lab_json_new("finding");
    lab_json_text(line, "check", lab_sim_check_id(f->check));
    lab_json_text(line, "kernel", of->kernel);
    lab_json_int(line, "launch", of->launch);
    add_where(line, of->ptx, &f->at);
    lab_json_int(line, "argument",
                 f->argument >= 0 ? f->argument : LAB_UNKNOWN);
    lab_json_text(line, "name", f->name);
    lab_json_ints(line, "index", f->index, (size_t)f->rank);
    lab_json_int(line, "times", f->times);
    if (f->has_other) {
        json_t *other = json_object();
        add_where(other, of->ptx, &f->other);
        json_object_set_new(line, "other", other);
    }
    lab_json_text(line, "message", f->message);
    lab_json_text(line, "look_at", lab_sim_finding_hint(f));
    if (expected)
        lab_json_text(line, "wrong_on_purpose", expected);
    return lab_json_print(line);
}

/* As a finding, of no line: what was not done has none. */
static enum lab_status print_left(const struct lab_sim_backend_left *l)
{
    json_t *line = lab_json_new("finding");
    lab_json_text(line, "check", "unwritten");
    lab_json_text(line, "kernel", NULL);
    lab_json_int(line, "launch", LAB_UNKNOWN);
    lab_json_text(line, "file", NULL);
    lab_json_int(line, "line", LAB_UNKNOWN);
    lab_json_int(line, "argument", l->argument);
    lab_json_text(line, "name", l->name);
    lab_json_ints(line, "index", l->index, (size_t)l->rank);
    lab_json_int(line, "times", l->unwritten);
    lab_json_text(line, "message", l->message);
    lab_json_text(line, "look_at",
                  "the guard and the index of the store, and how many blocks "
                  "and threads the launch has");
    return lab_json_print(line);
}

void lab_sim_findings_print(struct lab_backend *be, const char *expected)
{
    struct lab_kept_error error;
    struct lab_sim_gpu *gpu = lab_sim_backend_gpu(be);
    int n = 0;
    const struct lab_sim_gpu_finding *f =
        gpu ? lab_sim_gpu_findings(gpu, &n) : NULL;
    lab_error_keep(&error);
    for (int i = 0; i < n; i++)
        if (print_finding(&f[i], expected))
            break;
    struct lab_sim_backend_left left;
    for (int i = 0; n == 0 && lab_sim_backend_left(be, i, &left); i++)
        if (print_left(&left))
            break;
    (void)lab_error_again(LAB_E_CHECK, &error);
}

void lab_sim_findings_stopped(struct lab_backend *be, bool json)
{
    char text[1024];
    struct lab_sim_gpu *gpu = lab_sim_backend_gpu(be);
    int n = 0;
    const struct lab_sim_gpu_finding *f =
        gpu ? lab_sim_gpu_findings(gpu, &n) : NULL;
    for (int i = 0; i < n && !json; i++) {
        lab_sim_finding_text(&f[i], text, sizeof(text));
        lab_warn("%s", text);
    }
    if (json)
        lab_sim_findings_print(be, NULL);
}
