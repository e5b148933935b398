/* How far a learner is in each lesson: the file that the home screen reads, and
 * what run, --plain and the screens write to it. */
#include "debug/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/datadir.h"
#include "base/mem.h"
#include "base/str.h"
#include "trace/record.h"
#include "report/exit.h"
#include "engine/session.h"

enum { FORMAT = 1, FILE_MOST = 4 << 20 };

enum lab_status lab_progress_path(char *out, size_t cap)
{
    int n = lab_user_path("XDG_STATE_HOME", ".local/state", "progress.json",
                          out, cap);
    if (n < 0)
        return lab_fail(LAB_E_NOTFOUND, "[progress.place] no place for the "
                                        "progress: set XDG_STATE_HOME or HOME");
    if ((size_t)n >= cap)
        return lab_fail(LAB_E_RANGE,
                        "[progress.path] the path of the progress is too long");
    return LAB_OK;
}

void lab_progress_release(struct lab_progress *p)
{
    lab_free(p->entries);
    *p = (struct lab_progress){0};
}

const struct lab_progress_entry *lab_progress_find(const struct lab_progress *p,
                                                   const char *id)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->entries[i].id, id) == 0)
            return &p->entries[i];
    return NULL;
}

enum lab_status lab_progress_update(struct lab_progress *p,
                                    const struct lab_progress_entry *now)
{
    size_t n = strlen(now->id);
    if (n == 0 || n >= LAB_PROGRESS_ID_BYTES - 1)
        return lab_fail(LAB_E_ARG,
                        "[progress.lesson-id] a lesson's id of %zu bytes", n);
    struct lab_progress_entry *e =
        (struct lab_progress_entry *)lab_progress_find(p, now->id);
    if (!e) {
        struct lab_progress_entry *grown =
            lab_realloc_array(p->entries, p->count + 1, sizeof(*p->entries));
        if (!grown)
            return lab_fail(LAB_E_NOMEM, "the progress");
        p->entries = grown;
        p->entries[p->count++] = *now;
        return LAB_OK;
    }
    if (now->steps_seen > e->steps_seen)
        e->steps_seen = now->steps_seen;
    if (now->steps_total != LAB_UNKNOWN)
        e->steps_total = now->steps_total;
    if (strcmp(now->opened, e->opened) > 0)
        memcpy(e->opened, now->opened, sizeof(e->opened));
    e->finished = e->finished || now->finished;
    return LAB_OK;
}

static enum lab_status bad_entry(const char *id, const char *what)
{
    struct lab_str visible;
    lab_str_init(&visible);
    lab_str_add_visible(&visible, id, strlen(id), false);
    enum lab_status st =
        lab_fail(LAB_E_PARSE, "[progress.lesson] lesson \"%s\": %s",
                 lab_str_text(&visible), what);
    lab_str_release(&visible);
    return st;
}

static enum lab_status read_entry(const char *id, json_t *value,
                                  struct lab_progress *p)
{
    struct lab_progress_entry e = {.steps_total = LAB_UNKNOWN};
    json_t *seen = json_object_get(value, "steps_seen");
    json_t *total = json_object_get(value, "steps_total");
    json_t *finished = json_object_get(value, "finished");
    json_t *opened = json_object_get(value, "opened");
    if (strlen(id) == 0 || strlen(id) >= sizeof(e.id) - 1)
        return bad_entry(id, "the id is empty or too long");
    if (!json_is_object(value))
        return bad_entry(id, "not an object");
    if ((seen && !json_is_integer(seen)) || json_integer_value(seen) < 0)
        return bad_entry(id, "\"steps_seen\" is not a count");
    if (total && !json_is_integer(total) && !json_is_null(total))
        return bad_entry(id, "\"steps_total\" is not a count");
    if (finished && !json_is_boolean(finished))
        return bad_entry(id, "\"finished\" is not true or false");
    if (opened && (!json_is_string(opened) ||
                   strlen(json_string_value(opened)) >= sizeof(e.opened)))
        return bad_entry(id, "\"opened\" is not a moment");
    snprintf(e.id, sizeof(e.id), "%s", id);
    e.steps_seen = json_integer_value(seen);
    if (json_is_integer(total) && json_integer_value(total) > 0)
        e.steps_total = json_integer_value(total);
    e.finished = json_is_true(finished);
    if (opened)
        snprintf(e.opened, sizeof(e.opened), "%s", json_string_value(opened));
    return lab_progress_update(p, &e);
}

static enum lab_status read_root(json_t *root, struct lab_progress *p)
{
    const char *id;
    json_t *value;
    json_t *format = json_object_get(root, "format");
    json_t *lessons = json_object_get(root, "lessons");
    if (!json_is_integer(format) || json_integer_value(format) < FORMAT)
        return lab_fail(LAB_E_PARSE, "[progress.format] \"format\" is missing");
    if (json_integer_value(format) > FORMAT) {
        p->newer = true;
        return LAB_OK;
    }
    if (!json_is_object(lessons))
        return lab_fail(LAB_E_PARSE,
                        "[progress.lessons] \"lessons\" is missing");
    json_object_foreach(lessons, id, value)
    {
        enum lab_status st = read_entry(id, value, p);
        if (st)
            return st;
    }
    return LAB_OK;
}

/* LAB_E_PARSE when it is no progress file; a missing file is an empty one. */
static enum lab_status read_file(const char *path, struct lab_progress *p)
{
    json_error_t error;
    struct stat info;
    FILE *f = fopen(path, "re");
    if (!f && errno == ENOENT)
        return LAB_OK;
    if (!f)
        return lab_fail(LAB_E_IO, "[progress.read] %s: %s", path,
                        strerror(errno));
    if (fstat(fileno(f), &info) || !S_ISREG(info.st_mode) ||
        info.st_size > FILE_MOST) {
        fclose(f);
        return lab_fail(LAB_E_PARSE,
                        "[progress.not-file] %s: not a progress file", path);
    }
    json_t *root = json_loadf(f, JSON_REJECT_DUPLICATES, &error);
    fclose(f);
    if (!root)
        return lab_fail(LAB_E_PARSE, "[progress.json] %s:%d:%d: %s", path,
                        error.line, error.column, error.text);
    enum lab_status st = read_root(root, p);
    json_decref(root);
    return st == LAB_E_PARSE ? lab_fail_context(st, "%s", path) : st;
}

/* Puts a file that was not understood out of the way; never over another. */
static enum lab_status keep_aside(struct lab_progress *p)
{
    char to[LAB_PROGRESS_PATH_BYTES + 16];
    char why[256];
    snprintf(why, sizeof(why), "%s", lab_error());
    for (int i = 0; i < 1000; i++) {
        snprintf(to, sizeof(to), i ? "%s.bad%d" : "%s.bad", p->path, i);
        if (link(p->path, to) == 0) {
            unlink(p->path);
            snprintf(p->note, sizeof(p->note),
                     "%s; it was kept as %.200s, and counting starts again",
                     why, strrchr(to, '/') ? strrchr(to, '/') + 1 : to);
            return LAB_OK;
        }
        if (errno != EEXIST)
            break;
    }
    return lab_fail(LAB_E_IO,
                    "[progress.aside] %s; it could not be kept aside: %s", why,
                    strerror(errno));
}

enum lab_status lab_progress_load(struct lab_progress *out, const char *path)
{
    struct lab_progress p = {0};
    if (strlen(path) >= sizeof(p.path))
        return lab_fail(
            LAB_E_RANGE,
            "[progress.path-temporary] the path of the progress is too long");
    strcpy(p.path, path);
    enum lab_status st = read_file(path, &p);
    if (st == LAB_E_PARSE) {
        lab_free(p.entries);
        p.entries = NULL;
        p.count = 0;
        st = keep_aside(&p);
    }
    if (p.newer)
        snprintf(p.note, sizeof(p.note),
                 "%s is from a later version: it is left as it is", path);
    if (st)
        lab_progress_release(&p);
    else
        *out = p;
    return st;
}

static enum lab_status make_directories(const char *path)
{
    char dir[LAB_PROGRESS_PATH_BYTES];
    snprintf(dir, sizeof(dir), "%s", path);
    for (char *p = dir + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        if (mkdir(dir, 0700) && errno != EEXIST)
            return lab_fail(LAB_E_IO, "[progress.directory] %s: %s", dir,
                            strerror(errno));
        *p = '/';
    }
    return LAB_OK;
}

static json_t *make_entry(const struct lab_progress_entry *e)
{
    return json_pack("{s:I, s:o, s:b, s:s}", "steps_seen",
                     (json_int_t)e->steps_seen, "steps_total",
                     e->steps_total == LAB_UNKNOWN
                         ? json_null()
                         : json_integer(e->steps_total),
                     "finished", (int)e->finished, "opened", e->opened);
}

static char *make_text(const struct lab_progress *p)
{
    json_t *lessons = json_object();
    bool ok = lessons != NULL;
    for (size_t i = 0; ok && i < p->count; i++)
        ok = json_object_set_new(lessons, p->entries[i].id,
                                 make_entry(&p->entries[i])) == 0;
    json_t *root =
        json_pack("{s:i, s:o}", "format", FORMAT, "lessons", lessons);
    char *text = ok && root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    json_decref(root);
    return text;
}

static enum lab_status write_text(const char *path, const char *text)
{
    char temporary[LAB_PROGRESS_PATH_BYTES + 16];
    snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
    int fd = mkstemp(temporary);
    if (fd < 0)
        return lab_fail(LAB_E_IO, "[progress.create] %s: %s", temporary,
                        strerror(errno));
    FILE *f = fdopen(fd, "w");
    bool ok =
        f && fprintf(f, "%s\n", text) > 0 && fflush(f) == 0 && fsync(fd) == 0;
    int why = errno;
    if (f ? fclose(f) : close(fd)) {
        why = ok ? errno : why;
        ok = false;
    }
    if (ok && rename(temporary, path) == 0)
        return LAB_OK;
    why = ok ? errno : why;
    unlink(temporary);
    return lab_fail(LAB_E_IO, "[progress.write] %s: %s", path, strerror(why));
}

static enum lab_status merge_and_write(struct lab_progress *p)
{
    struct lab_progress there = {0};
    enum lab_status st = read_file(p->path, &there);
    if (st == LAB_E_PARSE)
        st = keep_aside(p);
    if (!st && there.newer)
        st =
            lab_fail(LAB_E_STATE,
                     "[progress.later] %s is from a later version: not changed",
                     p->path);
    for (size_t i = 0; !st && i < there.count; i++)
        st = lab_progress_update(p, &there.entries[i]);
    lab_free(there.entries);
    if (st)
        return st;
    char *text = make_text(p);
    st = text ? write_text(p->path, text)
              : lab_fail(LAB_E_NOMEM, "the progress as JSON");
    free(text); /* jansson's */
    return st;
}

enum lab_status lab_progress_save(struct lab_progress *p)
{
    char lock[LAB_PROGRESS_PATH_BYTES + 16];
    if (p->newer)
        return lab_fail(
            LAB_E_STATE,
            "[progress.later-changed] %s is from a later version: not changed",
            p->path);
    enum lab_status st = make_directories(p->path);
    if (st)
        return st;
    snprintf(lock, sizeof(lock), "%s.lock", p->path);
    int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return lab_fail(LAB_E_IO, "[progress.rename] %s: %s", lock,
                        strerror(errno));
    /* A file system without locks loses the merge's safety, not the file. */
    while (flock(fd, LOCK_EX) && errno == EINTR)
        continue;
    st = merge_and_write(p);
    close(fd);
    return st;
}

/* What `run`, the plain stepper and the screens note of a lesson that was
 * walked or trained. */

enum lab_status lab_seen_note(struct lab_progress *p, const char *lesson,
                              int64_t steps_seen, int64_t steps_total,
                              bool finished)
{
    time_t now = time(NULL);
    struct tm utc;
    struct lab_progress_entry entry = {.steps_seen = steps_seen,
                                       .steps_total = steps_total,
                                       .finished = finished};
    snprintf(entry.id, sizeof(entry.id), "%s", lesson);
    gmtime_r(&now, &utc);
    strftime(entry.opened, sizeof(entry.opened), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return lab_progress_update(p, &entry);
}

void lab_seen_keep(const char *lesson, int64_t steps_seen, int64_t steps_total,
                   bool finished)
{
    char path[LAB_PROGRESS_PATH_BYTES];
    struct lab_progress p = {0};
    enum lab_status st = lab_progress_path(path, sizeof(path));
    if (!st)
        st = lab_progress_load(&p, path);
    if (!st && p.note[0])
        lab_warn("%s", p.note);
    if (!st)
        st = lab_seen_note(&p, lesson, steps_seen, steps_total, finished);
    if (!st)
        st = lab_progress_save(&p);
    if (st)
        lab_warn("progress is not kept: %s", lab_error());
    lab_progress_release(&p);
}

bool lab_seen_trained(const struct lab_network_spec *spec,
                      const struct lab_snapshot *snap)
{
    const struct lab_data_facts facts = {.batches_per_epoch =
                                             snap->iterations_per_epoch};
    return snap->schedule && snap->train_target > 0 &&
           snap->train_done >= snap->train_target &&
           snap->iteration + 1 >= lab_train_iterations(spec, &facts, 0, 0);
}
