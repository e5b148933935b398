/* lapenna-lab doctor: what this machine can do, and remedies.
 *
 * Prints each finding of ui/doctor.h as text or JSON. The screen of the same
 * name shows the same findings. */
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "ui/doctor.h"
#include "report/json_line.h"
#include "debug/options.h"
#include "report/print.h"

static const struct lab_command_line usage = {
    .name = "lapenna-lab doctor",
    .commands = LAB_FOR_DOCTOR,
    .knows = LAB_FOR_SHARED,
    .args = "",
    .doc = "What this machine can do, a line for each part, with the remedy "
           "for what is missing.\v"
           "What is missing is no error: the program goes on without it, and "
           "the exit code is 0. --db names the database to look at."};

static enum lab_status print_json(const struct lab_finding_line *f)
{
    json_t *line = lab_json_new("check");
    lab_json_text(line, "name", f->name);
    lab_json_text(line, "status", lab_doctor_state_text[f->state]);
    lab_json_text(line, "detail", f->detail);
    lab_json_text(line, "remedy", f->remedy);
    return lab_json_print(line);
}

static enum lab_status print_text(const struct lab_finding_line *f)
{
    lab_print_wrap(lab_print_columns(), 28);
    lab_printf(stdout, "%-18s %-8s %s\n", f->name,
               lab_doctor_state_text[f->state], f->detail);
    if (f->remedy && !f->elsewhere)
        lab_printf(stdout, "%-18s %-8s remedy: %s\n", "", "", f->remedy);
    lab_print_wrap(0, 0);
    return lab_print_check();
}

struct output {
    bool json;
    enum lab_status failed;
};

static void print_line(void *user, const struct lab_finding_line *f)
{
    struct output *out = user;
    if (!out->failed)
        out->failed = out->json ? print_json(f) : print_text(f);
}

static int cmd_doctor(int argc, char **argv)
{
    struct lab_options o;
    lab_options_parse(&o, argc, argv, &usage);
    if (o.lesson)
        return lab_exit_error(lab_fail(
            LAB_E_USAGE,
            "[usage.doctor] doctor takes no LESSON: '%s' is one too many",
            o.lesson));
    struct output out = {.json = o.json};
    struct lab_doctor d = {.line = print_line, .user = &out, .color = o.color};
    lab_doctor_examine(&d, o.db);
    /* A later check has set lab_error() to a text of its own. */
    return lab_exit_error(
        out.failed
            ? lab_fail(out.failed, "[output.doctor] cannot write the output")
            : LAB_OK);
}

const struct lab_cmd lab_cmd_doctor = {
    .name = "doctor",
    .run = cmd_doctor,
    .help = "what this machine can do, and remedies"};
