/* front_data.c -- the key `data` of the front matter: where samples come
 * from. */
#include "front.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* Which sources take which keys: bits by enum lab_data_source. */
enum {
    INLINE = 1 << LAB_DATA_INLINE,
    CSV = 1 << LAB_DATA_CSV,
    TEXT = 1 << LAB_DATA_TEXT,
    FIBONACCI = 1 << LAB_DATA_FIBONACCI,
    WORDS = 1 << LAB_DATA_WORDS,
    REVERSE = 1 << LAB_DATA_REVERSE,
    OTHERS = ((1 << LAB_DATA_SOURCE_COUNT) - 1) & ~INLINE
};

struct data_key {
    const char *name;
    unsigned sources;
    enum lab_status (*take)(struct lab_front *f, const struct lab_ynode *node);
};

static enum lab_status take_source(struct lab_front *f,
                                   const struct lab_ynode *node)
{
    const char *names[LAB_DATA_SOURCE_COUNT];
    size_t which = 0;
    for (int i = 0; i < LAB_DATA_SOURCE_COUNT; i++)
        names[i] = lab_data_source_name((enum lab_data_source)i);
    enum lab_status st = lab_y_choice(f->r, node, "source", names,
                                      LAB_DATA_SOURCE_COUNT, &which);
    if (!st)
        f->spec->data.source = (enum lab_data_source)which;
    return st;
}

/* Does a path lead out of the directory that it is looked up in? */
static bool leaves(const char *path)
{
    int depth = 0;
    for (const char *p = path; *p && depth >= 0;) {
        size_t n = strcspn(p, "/");
        bool up = n == 2 && strncmp(p, "..", 2) == 0;
        bool here = n == 0 || (n == 1 && *p == '.');
        depth += up ? -1 : !here;
        p += n + strspn(p + n, "/");
    }
    return path[0] == '/' || depth < 0;
}

static enum lab_status take_path(struct lab_front *f,
                                 const struct lab_ynode *node)
{
    char *path = NULL;
    enum lab_status st = lab_front_string(f, node, 4000, &path);
    if (st)
        return st;
    f->spec->data.path_leaves = leaves(path);
    if (path[0] != '/' && f->dir && f->dir[0]) {
        struct lab_str joined;
        lab_str_init(&joined);
        lab_str_addf(&joined, "%s/%s", f->dir, path);
        lab_free(path);
        path = lab_str_detach(&joined);
        if (!path)
            return lab_y_nomem(f->r);
    }
    lab_free(f->spec->data.path);
    f->spec->data.path = path;
    return LAB_OK;
}

static enum lab_status take_batch(struct lab_front *f,
                                  const struct lab_ynode *node)
{
    return lab_y_int(f->r, node, 1, 1 << 24, &f->spec->data.batch);
}

static enum lab_status take_split(struct lab_front *f,
                                  const struct lab_ynode *node)
{
    double share = 0;
    enum lab_status st = lab_y_number(f->r, node, &share, NULL);
    if (!st && !(share > 0 && share <= 1))
        st = lab_y_fail(f->r, node, LAB_E_RANGE,
                        "split: %s is not above 0 and at most 1: it is the "
                        "share that trains",
                        node->text);
    if (!st)
        f->spec->data.split = share;
    return st;
}

static enum lab_status take_shuffle(struct lab_front *f,
                                    const struct lab_ynode *node)
{
    return lab_y_bool(f->r, node, &f->spec->data.shuffle);
}

static enum lab_status take_context(struct lab_front *f,
                                    const struct lab_ynode *node)
{
    return lab_y_int(f->r, node, 1, 1 << 20, &f->spec->data.context);
}

static enum lab_status take_length(struct lab_front *f,
                                   const struct lab_ynode *node)
{
    return lab_y_int(f->r, node, 1, 1 << 20, &f->spec->data.length);
}

static enum lab_status take_alphabet(struct lab_front *f,
                                     const struct lab_ynode *node)
{
    return lab_y_int(f->r, node, 1, 1 << 20, &f->spec->data.alphabet);
}

static enum lab_status take_rows(struct lab_front *f,
                                 const struct lab_ynode *node)
{
    return lab_y_int(f->r, node, 1, 1 << 24, &f->spec->data.rows);
}

static enum lab_status take_label(struct lab_front *f,
                                  const struct lab_ynode *node)
{
    return lab_y_int(f->r, node, -1, 1 << 20, &f->spec->data.label_column);
}

static enum lab_status take_header(struct lab_front *f,
                                   const struct lab_ynode *node)
{
    return lab_y_bool(f->r, node, &f->spec->data.header);
}

static enum lab_status take_scale(struct lab_front *f,
                                  const struct lab_ynode *node)
{
    return lab_y_number(f->r, node, &f->spec->data.scale, NULL);
}

static enum lab_status take_gradient(struct lab_front *f,
                                     const struct lab_ynode *node)
{
    return lab_y_bool(f->r, node, &f->spec->data.gradient);
}

static enum lab_status take_model(struct lab_front *f,
                                  const struct lab_ynode *node)
{
    static const char *const names[] = {"cbow", "skip_gram"};
    size_t which = 0;
    enum lab_status st = lab_y_choice(f->r, node, "model", names, 2, &which);
    if (!st)
        f->spec->data.skip_gram = which == 1;
    return st;
}

static enum lab_status take_vocab(struct lab_front *f,
                                  const struct lab_ynode *node)
{
    return lab_y_int(f->r, node, 1, 1 << 24, &f->spec->data.most_words);
}

static const struct data_key keys[] = {
    {"source", INLINE | OTHERS, take_source},
    {"gradient", INLINE, take_gradient},
    {"path", OTHERS & ~FIBONACCI & ~REVERSE, take_path},
    {"batch", OTHERS, take_batch},
    {"split", OTHERS, take_split},
    {"shuffle", OTHERS, take_shuffle},
    {"context", TEXT | FIBONACCI | WORDS, take_context},
    {"length", REVERSE, take_length},
    {"alphabet", REVERSE, take_alphabet},
    {"rows", REVERSE, take_rows},
    {"label", CSV, take_label},
    {"header", CSV, take_header},
    {"scale", CSV, take_scale},
    {"model", WORDS, take_model},
    {"vocab", WORDS, take_vocab},
};
enum { KEY_COUNT = sizeof(keys) / sizeof(*keys) };

static const struct data_key *find_key(const char *name)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    }
    return NULL;
}

static enum lab_status unknown_key(struct lab_front *f,
                                   const struct lab_ynode *node)
{
    const char *names[KEY_COUNT + 2];
    size_t n = 0;
    unsigned source = 1u << f->spec->data.source;
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (keys[i].sources & source)
            names[n++] = keys[i].name;
    }
    if (f->spec->data.source == LAB_DATA_INLINE) {
        names[n++] = "x";
        names[n++] = "y";
    }
    return lab_y_fail_unknown(f->r, node, "key", node->key, names, n);
}

/* A key of inline data that is not one of ours is a tensor's name. */
static enum lab_status check_tensor_name(struct lab_front *f,
                                         const struct lab_ynode *node)
{
    const char *s = node->key;
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char rest[] = "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-";
    if (!strchr(letters, s[0]) || s[strspn(s, rest)] != '\0' ||
        strlen(s) > LAB_FRONT_NAME_BYTES)
        return lab_y_fail_key(f->r, node, LAB_E_PARSE,
                              "%.40s cannot name a tensor: a letter, then "
                              "letters, digits, - and _, at most %d",
                              s, LAB_FRONT_NAME_BYTES);
    if (strcmp(s, "loss") == 0)
        return lab_y_fail_key(f->r, node, LAB_E_PARSE,
                              "loss is the name of the loss: give this "
                              "tensor another");
    return LAB_OK;
}

static enum lab_status take_other(struct lab_front *f,
                                  const struct lab_ynode *node)
{
    struct lab_data_spec *d = &f->spec->data;
    bool tensor = node->kind != LAB_Y_SCALAR;
    bool known = strcmp(node->key, "x") == 0 || strcmp(node->key, "y") == 0;
    if (d->source != LAB_DATA_INLINE && known)
        return lab_y_fail_key(f->r, node, LAB_E_PARSE,
                              "%s goes with source: inline; %s brings its own",
                              node->key, lab_data_source_name(d->source));
    if (d->source != LAB_DATA_INLINE || (!tensor && !known))
        return unknown_key(f, node);
    enum lab_status st = check_tensor_name(f, node);
    if (st)
        return st;
    struct lab_tensor_spec *t = &d->tensors[d->n_tensors++];
    if (node->kind == LAB_Y_MAP && lab_y_get(node, "texts"))
        return lab_front_words(f, node, t);
    return lab_front_tensor(f, node, t);
}

static enum lab_status take_key(struct lab_front *f,
                                const struct lab_ynode *node)
{
    const struct data_key *key = find_key(node->key);
    unsigned source = 1u << f->spec->data.source;
    if (!key)
        return take_other(f, node);
    if (!(key->sources & source)) {
        struct lab_str list;
        lab_str_init(&list);
        for (int i = 0; i < LAB_DATA_SOURCE_COUNT; i++) {
            if (key->sources & (1u << i))
                lab_str_addf(&list, "%s%s", list.len ? ", " : "",
                             lab_data_source_name((enum lab_data_source)i));
        }
        enum lab_status st = LAB_E_PARSE;
        if (list.failed)
            st = lab_y_nomem(f->r);
        else
            lab_y_fail_key(f->r, node, st,
                           "%s does not go with source: %s; it goes with %s",
                           node->key,
                           lab_data_source_name(f->spec->data.source),
                           lab_str_text(&list));
        lab_str_release(&list);
        return st;
    }
    return key->take == take_source ? LAB_OK : key->take(f, node);
}

static enum lab_status check_whole(struct lab_front *f,
                                   const struct lab_ynode *node)
{
    const struct lab_data_spec *d = &f->spec->data;
    bool wrong = f->r->found->errors > 0;
    bool has_y = d->source != LAB_DATA_INLINE;
    for (int i = 0; i < d->n_tensors; i++)
        has_y = has_y || strcmp(d->tensors[i].name, "y") == 0;
    if (!has_y && !wrong)
        return lab_y_fail(f->r, node, LAB_E_PARSE,
                          "inline data has no y, which the loss compares "
                          "with: add y");
    if ((d->source == LAB_DATA_CSV || d->source == LAB_DATA_WORDS) &&
        !d->path && !wrong)
        return lab_y_fail(f->r, node, LAB_E_PARSE,
                          "source: %s needs the path of its file",
                          lab_data_source_name(d->source));
    return LAB_OK;
}

enum lab_status lab_front_data(struct lab_front *f,
                               const struct lab_ynode *node)
{
    struct lab_data_spec *d = &f->spec->data;
    d->place = lab_front_key_place(node);
    enum lab_status st = lab_y_want(f->r, node, LAB_Y_MAP, "a mapping");
    const struct lab_ynode *source = lab_y_get(node, "source");
    if (!st && source)
        st = take_source(f, source);
    if (st)
        return lab_front_pass(st); /* the other keys hang on the source */
    d->tensors = lab_alloc_array((size_t)node->count, sizeof(*d->tensors));
    if (!d->tensors)
        return lab_y_nomem(f->r);
    for (const struct lab_ynode *n = node->first; n; n = n->next) {
        st = take_key(f, n);
        if (st == LAB_E_NOMEM)
            return st;
    }
    return lab_front_pass(check_whole(f, node));
}
