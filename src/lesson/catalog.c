/* catalog.c -- finds lessons by id, path or number, and lists those
 * installed. */
#include "lesson/catalog.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/datadir.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/thread.h"

enum { MAX_LESSONS = 2000 };

static bool is_lesson_name(const char *name)
{
    size_t len = strlen(name);
    return len > 3 && name[0] != '.' && strcmp(name + len - 3, ".md") == 0 &&
           strcmp(name, "README.md") != 0;
}

static int by_name(const void *a, const void *b)
{
    const struct lab_catalog_entry *x = a;
    const struct lab_catalog_entry *y = b;
    return strcmp(x->path, y->path);
}

static int64_t order_of(const struct lab_catalog_entry *e)
{
    return e->lesson ? e->lesson->order : LAB_LESSON_NO_ORDER;
}

static int by_order(const void *a, const void *b)
{
    const struct lab_catalog_entry *x = a;
    const struct lab_catalog_entry *y = b;
    if (order_of(x) != order_of(y))
        return order_of(x) < order_of(y) ? -1 : 1;
    return by_name(a, b);
}

/* Of the first `installed` lessons, one with the id of a user's own gives it its place. */
static enum lab_status add_entry(struct lab_catalog *c, size_t *cap,
                                 size_t installed, const char *dir,
                                 const char *name)
{
    struct lab_catalog_entry new = {0};
    struct lab_str text;
    size_t at = 0;
    lab_str_init(&text);
    lab_lesson_id_of(name, &text);
    new.id = lab_str_detach(&text);
    lab_str_addf(&text, "%s/%s", dir, name);
    new.path = lab_str_detach(&text);
    enum lab_status st =
        new.id &&new.path ? LAB_OK : lab_no_memory("the list of lessons");
    while (!st && at < installed && strcmp(c->items[at].id, new.id) != 0)
        at++;
    if (!st && at < installed) {
        lab_free(c->items[at].id);
        lab_free(c->items[at].path);
        c->items[at] = new;
        return LAB_OK;
    }
    if (!st)
        st = lab_grow(&c->items, c->count, cap, sizeof(*c->items),
                      "the list of lessons");
    if (st) {
        lab_free(new.id);
        lab_free(new.path);
        return st;
    }
    c->items[c->count++] = new;
    return LAB_OK;
}

static enum lab_status list_directory(struct lab_catalog *c, size_t *cap,
                                      const char *dir)
{
    size_t installed = c->count;
    enum lab_status st = LAB_OK;
    DIR *d = opendir(dir);
    if (!d)
        return lab_fail(LAB_E_IO,
                        "[lesson.list] %s: cannot list the lessons: %s; name "
                        "the directory above it in LAPENNA_LAB_DATA_DIR",
                        dir, strerror(errno));
    struct dirent *e;
    while (!st && (e = readdir(d)) && c->count < MAX_LESSONS) {
        if (is_lesson_name(e->d_name))
            st = add_entry(c, cap, installed, dir, e->d_name);
    }
    closedir(d);
    return st;
}

/* What a user has of lessons; most have none. */
static enum lab_status list_own(struct lab_catalog *c, size_t *cap)
{
    char dir[PATH_MAX];
    int n = lab_user_path("XDG_DATA_HOME", ".local/share", "lessons", dir,
                          sizeof(dir));
    if (n < 0 || (size_t)n >= sizeof(dir) || access(dir, F_OK) != 0)
        return LAB_OK;
    return list_directory(c, cap, dir);
}

/* Lessons that several threads read, each the next one that none has begun. */
struct reading {
    struct lab_catalog *c;
    atomic_size_t next;
    atomic_bool no_memory;
};

static void *read_some(void *user)
{
    struct reading *r = user;
    for (;;) {
        const size_t i = atomic_fetch_add(&r->next, 1);
        if (i >= r->c->count || atomic_load(&r->no_memory))
            return NULL;
        struct lab_catalog_entry *e = &r->c->items[i];
        enum lab_status st = lab_lesson_load(&e->lesson, e->path);
        if (st && st != LAB_E_NOMEM)
            e->error = lab_strdup(lab_error());
        if (st && !e->error)
            atomic_store(&r->no_memory, true);
    }
}

/* Half of what the home screen takes to come is this. */
static enum lab_status read_entries(struct lab_catalog *c)
{
    enum {
        HELPERS = 3,
        EACH = 8 /* lessons at least, or a thread costs more */
    };
    pthread_t helper[HELPERS];
    int n = 0;
    struct reading r = {.c = c};
    const int cores = lab_cores(); /* reads files */
    while (n < HELPERS && n + 1 < cores && c->count >= (size_t)(n + 2) * EACH &&
           lab_thread_start(&helper[n], read_some, &r) == LAB_OK)
        n++;
    read_some(&r);
    while (n > 0)
        pthread_join(helper[--n], NULL);
    if (atomic_load(&r.no_memory))
        return lab_no_memory("the list of lessons");
    if (c->count)
        qsort(c->items, c->count, sizeof(*c->items), by_order);
    return LAB_OK;
}

/* Lines "ORDER TITLE"; others are passed over. A list without chapters is as
 * good, so a file that cannot be read is no error. */
static enum lab_status read_chapters(struct lab_catalog *c)
{
    enum { MOST_CHAPTERS = 200 };
    struct lab_str path;
    char line[256];
    size_t cap = 0;
    enum lab_status st = LAB_OK;
    lab_str_init(&path);
    lab_str_addf(&path, "%s/chapters", c->dir);
    FILE *f = fopen(lab_str_text(&path), "r");
    lab_str_release(&path);
    while (f && !st && c->n_chapters < MOST_CHAPTERS &&
           fgets(line, sizeof(line), f)) {
        char *end;
        line[strcspn(line, "\r\n")] = '\0';
        long long order = strtoll(line, &end, 10);
        end += strspn(end, " ");
        if (end == line || !*end)
            continue;
        st = lab_grow(&c->chapters, c->n_chapters, &cap, sizeof(*c->chapters),
                      "the chapters of lessons");
        if (st)
            break;
        struct lab_chapter *one = &c->chapters[c->n_chapters];
        *one = (struct lab_chapter){order, lab_strdup(end)};
        c->n_chapters += one->title != NULL;
        st = one->title ? LAB_OK : lab_no_memory("the chapters of lessons");
    }
    if (f)
        fclose(f);
    return st;
}

int lab_catalog_chapter(const struct lab_catalog *catalog, int64_t order)
{
    int found = -1;
    for (size_t i = 0; i < catalog->n_chapters; i++)
        if (catalog->chapters[i].order <= order)
            found = (int)i;
    return found;
}

enum lab_status lab_catalog_list(struct lab_catalog **out, const char *dir)
{
    struct lab_str text;
    size_t cap = 0;
    struct lab_catalog *c = lab_alloc(sizeof(*c));
    if (!c)
        return lab_no_memory("the list of lessons");
    lab_str_init(&text);
    enum lab_status st = LAB_OK;
    if (dir)
        lab_str_add(&text, dir);
    else
        st = lab_data_path("lessons", &text);
    c->dir = lab_str_detach(&text);
    if (!st && !c->dir)
        st = lab_no_memory("the list of lessons");
    if (!st)
        st = list_directory(c, &cap, c->dir);
    if (!st && !dir)
        st = list_own(c, &cap);
    if (!st && c->count)
        qsort(c->items, c->count, sizeof(*c->items), by_name);
    if (st)
        lab_catalog_free(c);
    else
        *out = c;
    return st;
}

enum lab_status lab_catalog_load(struct lab_catalog **out, const char *dir)
{
    struct lab_catalog *c = NULL;
    enum lab_status st = lab_catalog_list(&c, dir);
    if (!st)
        st = read_entries(c);
    if (!st)
        st = read_chapters(c);
    if (st)
        lab_catalog_free(c);
    else
        *out = c;
    return st;
}

void lab_catalog_free(struct lab_catalog *catalog)
{
    if (!catalog)
        return;
    for (size_t i = 0; i < catalog->count; i++) {
        lab_free(catalog->items[i].id);
        lab_free(catalog->items[i].path);
        lab_free(catalog->items[i].error);
        lab_lesson_free(catalog->items[i].lesson);
    }
    for (size_t i = 0; i < catalog->n_chapters; i++)
        lab_free(catalog->chapters[i].title);
    lab_free(catalog->chapters);
    lab_free(catalog->items);
    lab_free(catalog->dir);
    lab_free(catalog);
}

const struct lab_catalog_entry *
lab_catalog_find(const struct lab_catalog *catalog, const char *id)
{
    for (size_t i = 0; i < catalog->count; i++) {
        if (strcmp(catalog->items[i].id, id) == 0)
            return &catalog->items[i];
    }
    return NULL;
}

static enum lab_status not_found(const struct lab_catalog *c, const char *id,
                                 const struct lab_catalog *models)
{
    size_t n = 0;
    size_t most = c->count + (models ? models->count : 0);
    const char **names = lab_alloc_array(most, sizeof(*names));
    struct lab_str safe;
    if (!names)
        return lab_no_memory("the list of lessons");
    for (size_t i = 0; i < c->count; i++)
        names[n++] = c->items[i].id;
    for (size_t i = 0; models && i < models->count; i++)
        names[n++] = models->items[i].id;
    const char *near = lab_nearest(id, names, n);
    lab_str_init(&safe);
    lab_str_add_visible(&safe, id, strlen(id), false);
    enum lab_status st =
        lab_fail(LAB_E_NOTFOUND,
                 "[lesson.missing] no lesson %s%s%s; `lapenna-lab lesson list` "
                 "shows all",
                 id[0] ? lab_str_text(&safe) : "''",
                 near ? "; did you mean " : "", near ? near : "");
    lab_str_release(&safe);
    lab_free(names);
    return st;
}

/* Networks that are counted more than run: lessons/models/ID.md. They are in no
 * list of lessons. NULL: there are none. */
static struct lab_catalog *list_models(const struct lab_catalog *c)
{
    struct lab_catalog *models = NULL;
    struct lab_str dir;
    lab_str_init(&dir);
    lab_str_addf(&dir, "%s/models", c->dir);
    if (lab_str_check(&dir, "a path") ||
        lab_catalog_list(&models, lab_str_text(&dir)))
        models = NULL;
    lab_str_release(&dir);
    return models;
}

void lab_catalog_models(struct lab_str *out)
{
    struct lab_catalog *c = NULL;
    if (lab_catalog_list(&c, NULL))
        return;
    struct lab_catalog *models = list_models(c);
    for (size_t i = 0; models && i < models->count; i++)
        lab_str_addf(out, "%s%s", i ? ", " : "", models->items[i].id);
    lab_catalog_free(models);
    lab_catalog_free(c);
}

enum lab_status lab_lesson_find(const char *id_or_path, struct lab_str *out)
{
    struct lab_catalog *c = NULL;
    if (strchr(id_or_path, '/') || is_lesson_name(id_or_path)) {
        lab_str_add(out, id_or_path);
        return lab_str_check(out, "the list of lessons");
    }
    enum lab_status st = lab_catalog_list(&c, NULL);
    if (st)
        return st;
    const struct lab_catalog_entry *e = lab_catalog_find(c, id_or_path);
    struct lab_catalog *models = e ? NULL : list_models(c);
    if (models)
        e = lab_catalog_find(models, id_or_path);
    if (e)
        lab_str_add(out, e->path);
    else
        st = not_found(c, id_or_path, models);
    lab_catalog_free(models);
    lab_catalog_free(c);
    return !st && out->failed ? lab_no_memory("the list of lessons") : st;
}

enum lab_status lab_lesson_open(struct lab_lesson **out, const char *id_or_path)
{
    struct lab_str path;
    *out = NULL;
    lab_str_init(&path);
    enum lab_status st = lab_lesson_find(id_or_path, &path);
    if (!st)
        st = lab_lesson_load(out, lab_str_text(&path));
    lab_str_release(&path);
    return st;
}
