/* lesson.c -- reads a lesson file: front matter, then Markdown, then checks
 * across both. */
#include "lesson/lesson.h"

#include <string.h>

#include "base/mem.h"
#include "markdown/md_read.h"
#include "front/front.h"
#include "source.h"

enum { TITLE_BYTES = 200, SUMMARY_BYTES = 1000, MAX_PREREQUISITES = 64 };

/* What belongs to a lesson and nobody else sees. */
struct memory {
    struct lab_arena arena;
};

struct loading {
    struct lab_front front;
    struct lab_lesson *lesson;
    const struct lab_ynode *data;
    const struct lab_ynode *network;
    const struct lab_ynode *loss;
    const struct lab_ynode *optimizer;
    const struct lab_ynode *parameters;
    const struct lab_ynode *variants;
    const struct lab_ynode *watch;
    const struct lab_ynode *breaks;
    const struct lab_ynode *printed;
};

/* ---- simple keys ---- */

static enum lab_status take_format(struct lab_reader *r,
                                   const struct lab_ynode *node, void *user)
{
    int64_t format = 0;
    (void)user;
    enum lab_status st = lab_y_int(r, node, 1, INT64_MAX, &format);
    if (!st && format != 1)
        st = lab_y_fail(r, node, LAB_E_PARSE,
                        "format %lld: this program reads format 1; a newer "
                        "version of it may read this lesson",
                        (long long)format);
    return st;
}

static enum lab_status take_title(struct lab_reader *r,
                                  const struct lab_ynode *node, void *user)
{
    struct loading *l = user;
    l->lesson->title_place = lab_front_key_place(node);
    enum lab_status st = lab_y_text(r, node, TITLE_BYTES, &l->lesson->title);
    if (st)
        return st;
    l->lesson->spec.title = lab_strdup(l->lesson->title);
    return l->lesson->spec.title ? LAB_OK : lab_y_nomem(r);
}

static enum lab_status take_summary(struct lab_reader *r,
                                    const struct lab_ynode *node, void *user)
{
    struct loading *l = user;
    return lab_y_text(r, node, SUMMARY_BYTES, &l->lesson->summary);
}

static enum lab_status take_order(struct lab_reader *r,
                                  const struct lab_ynode *node, void *user)
{
    struct loading *l = user;
    l->lesson->order_place = lab_front_key_place(node);
    return lab_y_int(r, node, 0, 1000000, &l->lesson->order);
}

static enum lab_status take_minutes(struct lab_reader *r,
                                    const struct lab_ynode *node, void *user)
{
    struct loading *l = user;
    return lab_y_int(r, node, 1, 10000, &l->lesson->minutes);
}

static enum lab_status take_prerequisites(struct lab_reader *r,
                                          const struct lab_ynode *node,
                                          void *user)
{
    struct lab_lesson *lesson = ((struct loading *)user)->lesson;
    enum lab_status st =
        lab_y_want(r, node, LAB_Y_LIST, "a list of lesson ids");
    if (!st && node->count > MAX_PREREQUISITES)
        st = lab_y_fail(r, node, LAB_E_RANGE, "more than %d prerequisites",
                        MAX_PREREQUISITES);
    if (st)
        return st;
    size_t n = (size_t)node->count;
    const char **ids = lab_arena_array(r->arena, n, sizeof(*ids));
    struct lab_place *places = lab_arena_array(r->arena, n, sizeof(*places));
    if (!ids || !places)
        return lab_y_nomem(r);
    lesson->prerequisites = ids;
    lesson->prerequisite_places = places;
    for (const struct lab_ynode *c = node->first; c; c = c->next) {
        int i = lesson->n_prerequisites;
        st = lab_y_text(r, c, TITLE_BYTES, &ids[i]);
        if (st)
            return st;
        places[i] = lab_front_place(c);
        lesson->n_prerequisites++;
    }
    return LAB_OK;
}

static enum lab_status take_kind(struct lab_reader *r,
                                 const struct lab_ynode *node, void *user)
{
    static const char *const names[] = {"lesson", "lab"};
    size_t which = 0;
    (void)user;
    return lab_y_choice(r, node, "kind", names, 2, &which);
}

/* A lab's own keys are read in their order (front_lab.c). */
static enum lab_status take_lab(struct lab_reader *r,
                                const struct lab_ynode *node, void *user)
{
    (void)r;
    (void)node;
    (void)user;
    return LAB_OK;
}

static enum lab_status take_seed(struct lab_reader *r,
                                 const struct lab_ynode *node, void *user)
{
    struct loading *l = user;
    int64_t seed = 0;
    enum lab_status st = lab_y_int(r, node, 0, INT64_MAX, &seed);
    if (!st)
        l->lesson->spec.seed = (uint64_t)seed;
    return st;
}

static enum lab_status take_layout(struct lab_reader *r,
                                   const struct lab_ynode *node, void *user)
{
    static const char *const names[] = {"nchw", "nhwc"};
    struct loading *l = user;
    size_t which = 0;
    enum lab_status st = lab_y_choice(r, node, "layout", names, 2, &which);
    if (!st)
        l->lesson->spec.layout = which ? LAB_NHWC : LAB_NCHW;
    return st;
}

static enum lab_status take_precision(struct lab_reader *r,
                                      const struct lab_ynode *node, void *user)
{
    struct loading *l = user;
    const char *names[LAB_FP64];
    size_t which = 0;
    for (int i = 0; i < LAB_FP64; i++)
        names[i] = lab_precision_name((enum lab_precision)i);
    enum lab_status st =
        lab_y_choice(r, node, "precision", names, LAB_FP64, &which);
    if (!st)
        l->lesson->spec.precision = (enum lab_precision)which;
    return st;
}

static enum lab_status take_iterations(struct lab_reader *r,
                                       const struct lab_ynode *node, void *user)
{
    struct loading *l = user;
    return lab_y_int(r, node, 1, INT32_MAX, &l->lesson->spec.iterations);
}

static enum lab_status take_epochs(struct lab_reader *r,
                                   const struct lab_ynode *node, void *user)
{
    struct loading *l = user;
    return lab_y_int(r, node, 1, INT32_MAX, &l->lesson->spec.epochs);
}

static enum lab_status take_run(struct lab_reader *r,
                                const struct lab_ynode *node, void *user)
{
    static const struct lab_ykey keys[] = {{"iterations", take_iterations},
                                           {"epochs", take_epochs}};
    enum lab_status st =
        lab_y_want(r, node, LAB_Y_MAP, "a mapping with iterations or epochs");
    if (!st)
        st = lab_y_keys(r, node, keys, 2, user);
    if (!st && node->count != 1)
        st = lab_y_fail(r, node, LAB_E_PARSE,
                        "run has iterations or epochs, one of the two");
    return st;
}

/* ---- parts that other parts refer to are read later, in order ---- */

#define KEEP(part)                                                             \
    static enum lab_status keep_##part(                                        \
        struct lab_reader *r, const struct lab_ynode *node, void *user)        \
    {                                                                          \
        (void)r;                                                               \
        ((struct loading *)user)->part = node;                                 \
        return LAB_OK;                                                         \
    }
KEEP(data)
KEEP(network)
KEEP(loss)
KEEP(optimizer)
KEEP(parameters)
KEEP(variants)
KEEP(watch)
KEEP(breaks)
KEEP(printed)
#undef KEEP

static const struct lab_ykey front_keys[] = {
    {"format", take_format},
    {"kind", take_kind},
    {"title", take_title},
    {"summary", take_summary},
    {"order", take_order},
    {"minutes", take_minutes},
    {"prerequisites", take_prerequisites},
    {"seed", take_seed},
    {"layout", take_layout},
    {"precision", take_precision},
    {"run", take_run},
    {"data", keep_data},
    {"network", keep_network},
    {"loss", keep_loss},
    {"optimizer", keep_optimizer},
    {"parameters", keep_parameters},
    {"variants", keep_variants},
    {"watch", keep_watch},
    {"break", keep_breaks},
    {"printed", keep_printed},
};

static void check_required(struct lab_reader *r, const struct lab_ynode *root)
{
    static const char *const names[] = {"format", "title", "network", "loss"};
    static const char *const labs[] = {"format", "title", "lab"};
    bool lab = lab_front_is_lab(root);
    size_t n = lab_front_is_sweep(root) ? 2 : lab ? 3 : 4;
    for (size_t i = 0; i < n; i++) {
        if (!lab_y_get(root, lab ? labs[i] : names[i]))
            lab_y_fail(r, root, LAB_E_PARSE,
                       "the front matter has no %s: add it",
                       lab ? labs[i] : names[i]);
    }
}

static enum lab_status read_parts(struct loading *l)
{
    struct lab_front *f = &l->front;
    struct lab_network_spec *s = f->spec;
    enum lab_status st = LAB_OK;
    if (l->data)
        st = lab_front_data(f, l->data);
    else
        s->data.source = LAB_DATA_DIGITS;
    if (!st && l->network)
        st = lab_front_network(f, l->network);
    if (!st && l->loss)
        st = lab_front_single(f, l->loss, LAB_KIND_LOSS, &s->loss);
    if (!st && l->optimizer)
        st = lab_front_single(f, l->optimizer, LAB_KIND_OPTIMIZER,
                              &s->optimizer);
    if (!st && l->parameters)
        st = lab_front_parameters(f, l->parameters);
    if (!st && l->variants)
        st = lab_front_variants(f, l->variants);
    if (!st && l->watch)
        st = lab_front_watch(f, l->watch);
    if (!st && l->breaks)
        st = lab_front_breaks(f, l->breaks);
    if (!st && l->printed)
        st = lab_front_printed(f, l->printed);
    return st;
}

/* A lab has no network: other keys. */
static enum lab_status read_lab(struct loading *l, const struct lab_ynode *root)
{
    static const struct lab_ykey keys[] = {
        {"format", take_format},
        {"kind", take_kind},
        {"title", take_title},
        {"summary", take_summary},
        {"order", take_order},
        {"minutes", take_minutes},
        {"seed", take_seed},
        {"prerequisites", take_prerequisites},
        {"precision", take_precision},
        {"lab", take_lab},
        {"sizes", take_lab},
        {"cpu_sizes", take_lab},
        {"variants", take_lab},
        {"repeat", take_lab},
        {"slide", take_lab},
        {"measures", take_lab},
        {"of", take_lab},
        {"precisions", take_lab},
    };
    struct lab_lesson *lesson = l->lesson;
    lesson->kind = LAB_LESSON_LAB;
    enum lab_status st =
        lab_y_keys(l->front.r, root, keys, sizeof(keys) / sizeof(*keys), l);
    if (st != LAB_E_NOMEM)
        st = lab_front_lab(&l->front, root, &lesson->lab);
    return lab_front_pass(st);
}

static enum lab_status read_front(struct loading *l,
                                  const struct lab_source *src)
{
    struct lab_reader *r = l->front.r;
    struct lab_ynode *root = NULL;
    enum lab_status st = lab_ytree_read(r, l->front.tree, src, &root);
    if (st || !root)
        return st;
    st = lab_y_want(r, root, LAB_Y_MAP, "a mapping with format, title, ...");
    if (st)
        return lab_front_pass(st);
    check_required(r, root);
    if (lab_front_is_lab(root))
        return read_lab(l, root);
    st = lab_y_keys(r, root, front_keys,
                    sizeof(front_keys) / sizeof(*front_keys), l);
    if (st == LAB_E_NOMEM)
        return st;
    l->lesson->spec.loss.id = lab_strdup("loss");
    if (!l->lesson->spec.loss.id)
        return lab_y_nomem(r);
    return read_parts(l);
}

/* ---- the whole ---- */

static void directory_of(const char *path, struct lab_str *out)
{
    const char *slash = strrchr(path, '/');
    if (slash)
        lab_str_add_bytes(out, path,
                          slash == path ? 1 : (size_t)(slash - path));
}

static struct lab_lesson *new_lesson(const char *path)
{
    struct lab_str id;
    struct lab_lesson *lesson = lab_alloc(sizeof(*lesson));
    if (!lesson)
        return NULL;
    lab_str_init(&id);
    lab_network_spec_init(&lesson->spec);
    lab_lesson_id_of(path, &id);
    lesson->id = lab_str_detach(&id);
    lesson->path = lab_strdup(path);
    lesson->spec.file = lab_strdup(path);
    lesson->title = "";
    lesson->summary = "";
    lesson->order = LAB_LESSON_NO_ORDER;
    lesson->memory = lab_alloc(sizeof(struct memory));
    if (!lesson->id || !lesson->path || !lesson->spec.file || !lesson->memory) {
        lab_lesson_free(lesson);
        return NULL;
    }
    return lesson;
}

static enum lab_status read_lesson(struct lab_lesson *lesson,
                                   const struct lab_source *src,
                                   struct lab_findings *found)
{
    struct memory *memory = lesson->memory;
    struct lab_arena tree = {0};
    struct lab_str dir;
    struct lab_reader r = {
        .file = src->name, .found = found, .arena = &memory->arena};
    struct loading l = {.lesson = lesson};
    lab_str_init(&dir);
    directory_of(lesson->path, &dir);
    l.front = (struct lab_front){.r = &r,
                                 .spec = &lesson->spec,
                                 .dir = lab_str_text(&dir),
                                 .tree = &tree};
    enum lab_status st = dir.failed ? lab_y_nomem(&r) : LAB_OK;
    if (!st && src->yaml)
        st = read_front(&l, src);
    lesson->watch_places = l.front.watch_places;
    if (!st && src->yaml)
        st = lab_sections_read(lesson, &memory->arena, src->body,
                               src->body_size, src->body_line, found);
    lab_arena_release(&tree);
    lab_str_release(&dir);
    return st;
}

static enum lab_status finish(struct lab_lesson **out, const char *path,
                              struct lab_source *src,
                              struct lab_findings *found, enum lab_status st)
{
    *out = NULL;
    struct lab_lesson *lesson = st ? NULL : new_lesson(path);
    if (!st && !lesson)
        st = lab_fail(LAB_E_NOMEM, "no memory left to read %s", path);
    if (!st)
        st = read_lesson(lesson, src, found);
    lab_source_release(src);
    lab_findings_sort(found);
    if (st == LAB_E_NOMEM)
        found->failed = true;
    enum lab_status errors = lab_findings_status(found);
    if (errors)
        st = errors;
    if (st)
        lab_lesson_free(lesson);
    else
        *out = lesson;
    return st;
}

enum lab_status lab_lesson_check(struct lab_lesson **out, const char *path,
                                 struct lab_findings *found)
{
    struct lab_source src;
    enum lab_status st = lab_source_read(&src, path, found);
    return finish(out, path, &src, found, st);
}

enum lab_status lab_lesson_parse(struct lab_lesson **out, const char *path,
                                 const char *bytes, size_t size,
                                 struct lab_findings *found)
{
    struct lab_source src;
    enum lab_status st = lab_source_copy(&src, path, bytes, size, found);
    return finish(out, path, &src, found, st);
}

enum lab_status lab_lesson_load(struct lab_lesson **out, const char *path)
{
    struct lab_findings found;
    lab_findings_init(&found);
    enum lab_status st = lab_lesson_check(out, path, &found);
    lab_findings_release(&found);
    return st;
}

void lab_lesson_free(struct lab_lesson *lesson)
{
    if (!lesson)
        return;
    struct memory *memory = lesson->memory;
    if (memory)
        lab_arena_release(&memory->arena);
    lab_free(memory);
    lab_network_spec_release(&lesson->spec);
    lab_free(lesson->id);
    lab_free(lesson->path);
    lab_free(lesson);
}
