/* profile_import.c -- `profile import` and `profile merge`: copies runs from
 * other files. */
#include "store/import.h"

#include <stdio.h>
#include <string.h>

#include "report/json_line.h"
#include "cmd.h"
#include "profile_cmd.h"
#include "trace/record.h"

struct files {
    const struct lab_options *options;
    const char *path;
    int64_t imported;
    int64_t skipped;
    enum lab_status st; /* of printing */
};

static void add_visible(struct lab_str *s, const char *before, const char *text)
{
    if (!text)
        return;
    lab_str_add(s, before);
    lab_str_add_visible(s, text, strlen(text), false);
}

static enum lab_status print_text(const struct files *f,
                                  const struct lab_imported *r)
{
    struct lab_str s;
    lab_str_init(&s);
    add_visible(&s, "", f->path);
    if (r->run != LAB_UNKNOWN)
        lab_str_addf(&s, ": run %lld", (long long)r->run);
    else
        lab_str_add(&s, ": its run");
    add_visible(&s, ", ", r->lesson);
    add_visible(&s, ", of ", r->user);
    add_visible(&s, " on ", r->hostname);
    if (r->skipped) {
        lab_str_addf(&s, ": skipped, %s", r->reason);
        if (r->as != LAB_UNKNOWN)
            lab_str_addf(&s, " (run %lld)", (long long)r->as);
        lab_str_add_char(&s, '\n');
    } else if (f->options->dry_run) {
        lab_str_addf(&s, ": would be copied, %lld steps, %lld kernels\n",
                     (long long)r->steps, (long long)r->kernels);
    } else {
        lab_str_addf(&s, ": is now run %lld, %lld steps, %lld kernels\n",
                     (long long)r->as, (long long)r->steps,
                     (long long)r->kernels);
    }
    return lab_profile_put(&s, f->options->ascii);
}

static enum lab_status print_line(const struct files *f,
                                  const struct lab_imported *r)
{
    bool made = !r->skipped && f->options->dry_run;
    json_t *o = lab_json_new("imported");
    lab_json_text(o, "file", f->path);
    lab_json_int(o, "run", r->run);
    lab_json_int(o, "as", made ? LAB_UNKNOWN : r->as);
    json_object_set_new(o, "skipped", json_boolean(r->skipped));
    json_object_set_new(o, "dry_run", json_boolean(f->options->dry_run));
    lab_json_text(o, "reason", r->reason);
    lab_json_text(o, "uuid", r->uuid);
    lab_json_text(o, "lesson", r->lesson);
    lab_json_text(o, "user", r->user);
    lab_json_text(o, "hostname", r->hostname);
    lab_json_int(o, "steps", r->steps);
    lab_json_int(o, "kernels", r->kernels);
    return lab_json_print(o);
}

static void note_run(void *user, const struct lab_imported *r)
{
    struct files *f = user;
    f->imported += !r->skipped;
    f->skipped += r->skipped;
    if (f->st == LAB_OK)
        f->st = f->options->json ? print_line(f, r) : print_text(f, r);
}

static enum lab_status print_end(const struct files *f, int bad)
{
    const struct lab_options *o = f->options;
    if (o->json) {
        json_t *line = lab_json_new("summary");
        lab_json_int(line, "files", o->n_words);
        lab_json_int(line, "refused", bad);
        lab_json_int(line, "imported", f->imported);
        lab_json_int(line, "skipped", f->skipped);
        json_object_set_new(line, "dry_run", json_boolean(o->dry_run));
        return lab_json_print(line);
    }
    if (printf("%s %lld run%s, skipped %lld",
               o->dry_run ? "would copy" : "copied", (long long)f->imported,
               f->imported == 1 ? "" : "s", (long long)f->skipped) < 0 ||
        (bad && printf("; %d of %d files refused", bad, o->n_words) < 0) ||
        putchar('\n') == EOF || fflush(stdout))
        return lab_fail(LAB_E_IO, "cannot write the output");
    return LAB_OK;
}

/* A file that is refused does not keep the others from being read: a class's
 * files come from many people. The first error is the command's. */
enum lab_status lab_profile_import(const struct lab_options *o,
                                   struct lab_database *db)
{
    const struct lab_import_options options = {.label = o->label,
                                               .dry_run = o->dry_run};
    struct files f = {.options = o};
    enum lab_status first = LAB_OK;
    char error[1024] = "";
    int bad = 0;
    for (int i = 0; i < o->n_words && f.st == LAB_OK; i++) {
        f.path = o->words[i];
        enum lab_status st =
            lab_import_file(db, f.path, &options, note_run, &f);
        if (st == LAB_OK)
            continue;
        bad++;
        if (first)
            lab_warn("%s", lab_error());
        else
            snprintf(error, sizeof(error), "%s", lab_error());
        first = first ? first : st;
    }
    enum lab_status st = f.st;
    if (st == LAB_OK && o->n_words > bad)
        st = print_end(&f, bad);
    if (st)
        return st;
    return first ? lab_fail(first, "%s", error) : LAB_OK;
}
