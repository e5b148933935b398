/* lapenna-lab doctor: what this machine can do, and remedies. */
#include <stdio.h>
#include <string.h>

#include "base/command.h"
#include "cmd.h"
#include "doctor.h"
#include "report/json_line.h"
#include "debug/options.h"
#include "report/print.h"
#include "report/doc.h"
#include "base/version.h"

static const char doc[] =
    "What this machine can do, a line for each part, with the remedy for what "
    "is missing.\v"
    "What is missing is no error: the program goes on without it, and the exit "
    "code is 0. --db names the database to look at.";

static const char *const words[] = {"ok", "missing", "warning"};

static enum lab_status print_json(const struct lab_finding_line *f)
{
    json_t *line = lab_json_new("check");
    lab_json_text(line, "name", f->name);
    lab_json_text(line, "status", words[f->state]);
    lab_json_text(line, "detail", f->detail);
    lab_json_text(line, "remedy", f->remedy);
    return lab_json_print(line);
}

static enum lab_status print_text(const struct lab_finding_line *f)
{
    lab_printf(stdout, "%-18s %-8s %s\n", f->name, words[f->state], f->detail);
    if (f->remedy)
        lab_printf(stdout, "%-18s %-8s remedy: %s\n", "", "", f->remedy);
    return fflush(stdout) ? lab_fail(LAB_E_IO, "cannot write") : LAB_OK;
}

static void write_doc(struct lab_doc *out, const struct lab_finding_line *f)
{
    static const enum lab_role roles[] = {LAB_ROLE_GOOD, LAB_ROLE_BAD,
                                          LAB_ROLE_WARN};
    enum { STATE_X = 19, DETAIL_X = 28 };
    lab_doc_para(out, 0, DETAIL_X, true);
    lab_doc_addf(out, LAB_ROLE_HEADING, "%-*s", STATE_X, f->name);
    lab_doc_addf(out, roles[f->state], "%-*s", DETAIL_X - STATE_X,
                 words[f->state]);
    lab_doc_add(out, LAB_ROLE_NORMAL, f->detail);
    if (!f->remedy)
        return;
    lab_doc_para(out, DETAIL_X, DETAIL_X, true);
    lab_doc_addf(out, LAB_ROLE_NORMAL, "remedy: %s", f->remedy);
}

void lab_doctor_say(struct lab_doctor *d, const char *name,
                    enum lab_doctor_state state, const char *detail,
                    const char *remedy)
{
    struct lab_str spelt;
    lab_str_init(&spelt);
    lab_command_spell(&spelt, remedy ? remedy : "", "`", lab_print_is_ascii());
    const struct lab_finding_line f = {name, state, detail,
                                       remedy ? lab_str_text(&spelt) : NULL};
    if (d->doc)
        write_doc(d->doc, &f);
    else if (!d->failed)
        d->failed = d->json ? print_json(&f) : print_text(&f);
    lab_str_release(&spelt);
}

/* "cannot do X. Remedy: do Y" is two things. */
void lab_doctor_say_error(struct lab_doctor *d, const char *name,
                          enum lab_doctor_state state, const char *remedy)
{
    char text[1024];
    snprintf(text, sizeof(text), "%s", lab_error());
    char *mark = strstr(text, "Remedy: ");
    if (mark) {
        remedy = mark + strlen("Remedy: ");
        while (mark > text && (mark[-1] == ' ' || mark[-1] == '.'))
            mark--;
        *mark = '\0';
    }
    lab_doctor_say(d, name, state, text, remedy);
}

static void check_program(struct lab_doctor *d)
{
    char text[128];
    snprintf(text, sizeof(text), "lapenna-lab %s%s%s", lab_version(),
             lab_commit()[0] ? " " : "", lab_commit());
    lab_doctor_say(d, "program", LAB_DOCTOR_OK, text, NULL);
}

enum lab_status lab_doctor_examine(struct lab_doctor *d, const char *db)
{
    check_program(d);
    lab_doctor_lessons(d);
    lab_doctor_cpu(d);
    lab_doctor_gpu(d);
    lab_doctor_terminal(d);
    lab_doctor_database(d, db);
    /* What was looked at later has said something else meanwhile. */
    return d->failed ? lab_fail(d->failed, "cannot write the output") : LAB_OK;
}

int lab_cmd_doctor(int argc, char **argv)
{
    struct lab_options o;
    lab_options_init(&o);
    lab_options_parse(&o, argc, argv, LAB_OPTIONS_DOCTOR, "", doc);
    if (o.lesson) {
        lab_warn("doctor takes no LESSON: '%s' is one too many", o.lesson);
        return LAB_EXIT_USAGE;
    }
    if (o.ascii)
        lab_print_ascii(true);
    struct lab_doctor d = {.json = o.json};
    return lab_exit_error(lab_doctor_examine(&d, o.db));
}
