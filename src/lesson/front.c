/* front.c -- the front matter of a lesson: its YAML as a tree, the tables of its
 * keys, the reading of values by their type, and functions for what a table
 * cannot express.
 *
 * lab_front_read() reads the whole mapping by front_table; its parts (data, a
 * breakpoint, a row of slide ...) have tables of their own. A function that
 * reads returns false after a mistake, which is then in f->found, and reading
 * goes on with the next key. lab_lesson_keys() prints the same tables for
 * docs/lesson-format.md. */
#include "front.h"

#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/format.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/ladder.h"
#include "engine/vocabulary.h"
#include "labs/cpu_variants.h"

/* ---- the front matter as a tree that knows its places ----
 *
 * libyaml reads it. It is a subset of YAML on purpose: mappings with plain names,
 * lists, scalars. No anchors, aliases, tags or second documents: no lesson needs
 * one, and each is a way to surprise. Places are those of the lesson file. */

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml {
    enum yaml_kind kind;
    struct lab_place at;
    bool plain;       /* of a scalar: written without quotes */
    const char *text; /* of a scalar */
    size_t len;
    const char *key; /* of a value in a mapping, else NULL */
    struct lab_place key_at;
    struct yaml *first; /* of a list or mapping, in the file's order */
    struct yaml *next;
    int64_t count; /* children */
};

/* The value of `key`, or NULL. */
static const struct yaml *get(const struct yaml *map, const char *key)
{
    const struct yaml *n = map->kind == YAML_MAP ? map->first : NULL;
    while (n && strcmp(n->key, key) != 0)
        n = n->next;
    return n;
}

enum { MAX_DEPTH = 32, MAX_KEYS = 4096 /* of one mapping */ };

/* A function that reads returns false after a mistake, which is in b->found by
 * then, or without memory. */
struct builder {
    struct lab_findings *found;
    struct lab_arena *arena;
    const struct lab_source *src;
    yaml_parser_t parser;
    yaml_event_t event; /* the current one; valid while have_event */
    bool have_event;
};

static struct lab_place place_of(const struct builder *b,
                                 const yaml_mark_t *mark)
{
    return (struct lab_place){(int)mark->line + b->src->yaml_line,
                              (int)mark->column + 1};
}

#define yaml_fail_at(b, mark, ...)                                             \
    lab_findings_add((b)->found, place_of(b, mark), LAB_E_PARSE, __VA_ARGS__)
#define yaml_fail(b, ...) yaml_fail_at(b, &(b)->event.start_mark, __VA_ARGS__)

static bool yaml_no_memory(struct builder *b)
{
    b->found->failed = true;
    return false;
}

static bool syntax_error(struct builder *b)
{
    const yaml_parser_t *p = &b->parser;
    if (p->error == YAML_MEMORY_ERROR)
        return yaml_no_memory(b);
    const char *problem = p->problem ? p->problem : "not understood";
    if (strstr(problem, "cannot start any token"))
        return yaml_fail_at(
            b, &p->problem_mark,
            "[lesson.yaml.character] YAML: this character cannot stand here (a "
            "tab cannot indent; quote a text that begins with @, ` or %%)");
    if (p->context && p->context_mark.line != p->problem_mark.line)
        return yaml_fail_at(b, &p->problem_mark,
                            "[lesson.yaml.context] YAML: %s (%s from line %d)",
                            problem, p->context,
                            place_of(b, &p->context_mark).line);
    return yaml_fail_at(b, &p->problem_mark,
                        "[lesson.yaml.syntax] YAML: %s%s%s", problem,
                        p->context ? " " : "", p->context ? p->context : "");
}

static bool advance(struct builder *b)
{
    if (b->have_event)
        yaml_event_delete(&b->event);
    b->have_event = yaml_parser_parse(&b->parser, &b->event) != 0;
    return b->have_event || syntax_error(b);
}

static struct yaml *new_node(struct builder *b, enum yaml_kind kind)
{
    struct yaml *node = lab_arena_take(b->arena, sizeof(*node));
    if (!node) {
        yaml_no_memory(b);
        return NULL;
    }
    node->kind = kind;
    node->at = place_of(b, &b->event.start_mark);
    return node;
}

static bool build_scalar(struct builder *b, struct yaml **out)
{
    const char *s = (const char *)b->event.data.scalar.value;
    size_t n = b->event.data.scalar.length;
    bool plain = b->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    /* A quoted scalar may write any character as an escape; what the file may
     * not hold, its texts may not hold either. */
    if (!plain && !lab_is_visible(s, n, true))
        return yaml_fail(b, "[lesson.yaml.control] this text holds an escaped "
                            "control character: remove it");
    struct yaml *node = new_node(b, YAML_SCALAR);
    if (!node)
        return false;
    node->plain = plain;
    node->len = n;
    node->text = lab_arena_text(b->arena, s, n);
    *out = node;
    return node->text || yaml_no_memory(b);
}

static bool check_properties(struct builder *b)
{
    const yaml_event_t *e = &b->event;
    const unsigned char *anchor = NULL;
    const unsigned char *tag = NULL;
    if (e->type == YAML_ALIAS_EVENT)
        return yaml_fail(
            b, "[lesson.yaml.alias] an alias (*%s): write the value out",
            (const char *)e->data.alias.anchor);
    if (e->type == YAML_SCALAR_EVENT) {
        anchor = e->data.scalar.anchor;
        tag = e->data.scalar.tag;
    } else if (e->type == YAML_SEQUENCE_START_EVENT) {
        anchor = e->data.sequence_start.anchor;
        tag = e->data.sequence_start.tag;
    } else if (e->type == YAML_MAPPING_START_EVENT) {
        anchor = e->data.mapping_start.anchor;
        tag = e->data.mapping_start.tag;
    }
    if (anchor)
        return yaml_fail(b,
                         "[lesson.yaml.anchor] an anchor (&%s): lessons have "
                         "none; remove it",
                         (const char *)anchor);
    return !tag ||
           yaml_fail(
               b, "[lesson.yaml.tag] a tag (%s): lessons have none; remove it",
               (const char *)tag);
}

static bool build_node(struct builder *b, int depth, struct yaml **out);

static bool build_key(struct builder *b, const struct yaml *map,
                      struct yaml **key)
{
    if (!check_properties(b))
        return false;
    if (b->event.type != YAML_SCALAR_EVENT)
        return yaml_fail(b, "[lesson.yaml.key-form] a key must be a plain "
                            "name, not a list or mapping");
    if (!build_scalar(b, key))
        return false;
    if (memchr((*key)->text, '\n', (*key)->len))
        return yaml_fail(b, "[lesson.yaml.key-lines] a key must be one line");
    const struct yaml *other = get(map, (*key)->text);
    return !other ||
           yaml_fail(b,
                     "[lesson.key.twice] the key %s is here and in line %d, "
                     "column %d: remove one",
                     other->key, other->key_at.line, other->key_at.column);
}

/* The items of a list, or the keys and values of a mapping, up to its end. */
static bool build_items(struct builder *b, int depth, enum yaml_kind kind,
                        struct yaml **out)
{
    bool map = kind == YAML_MAP;
    struct yaml *whole = new_node(b, kind);
    if (!whole)
        return false;
    *out = whole;
    for (struct yaml **tail = &whole->first;; tail = &(*tail)->next) {
        struct yaml *key = NULL;
        struct yaml *value = NULL;
        if (!advance(b))
            return false;
        if (b->event.type ==
            (map ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT))
            return true;
        if (map && whole->count >= MAX_KEYS)
            return yaml_fail(
                b, "[lesson.yaml.keys] more than %d keys in one mapping",
                MAX_KEYS);
        if (map && (!build_key(b, whole, &key) || !advance(b)))
            return false;
        if (!build_node(b, depth + 1, &value))
            return false;
        if (map) {
            value->key = key->text;
            value->key_at = key->at;
        }
        *tail = value;
        whole->count++;
    }
}

/* Reads the node that the current event begins. */
static bool build_node(struct builder *b, int depth, struct yaml **out)
{
    if (depth > MAX_DEPTH)
        return yaml_fail(b, "[lesson.yaml.depth] nested deeper than %d levels",
                         MAX_DEPTH);
    if (!check_properties(b))
        return false;
    switch (b->event.type) {
    case YAML_SCALAR_EVENT:
        return build_scalar(b, out);
    case YAML_SEQUENCE_START_EVENT:
        return build_items(b, depth, YAML_LIST, out);
    case YAML_MAPPING_START_EVENT:
        return build_items(b, depth, YAML_MAP, out);
    default:
        return yaml_fail(b, "[lesson.yaml.event] YAML: not understood");
    }
}

static bool read_stream(struct builder *b, struct yaml **out)
{
    bool begun = advance(b); /* the stream */
    if (!begun || !advance(b))
        return false;
    if (b->event.type == YAML_STREAM_END_EVENT)
        return yaml_fail(b, "[lesson.front.empty] the front matter is empty: "
                            "it needs format, title, network and loss");
    if (!advance(b) || !build_node(b, 1, out) || !advance(b) || !advance(b))
        return false;
    return b->event.type == YAML_STREAM_END_EVENT ||
           yaml_fail(b, "[lesson.yaml.documents] the front matter is one YAML "
                        "document, not several");
}

/* The front matter of `src` as a tree in `arena`. NULL: the YAML could not be
 * understood, the reason is in `found`; or found->failed, without memory. */
static const struct yaml *read_yaml(struct lab_findings *found,
                                    struct lab_arena *arena,
                                    const struct lab_source *src)
{
    struct builder b = {.found = found, .arena = arena, .src = src};
    struct yaml *root = NULL;
    if (!yaml_parser_initialize(&b.parser)) {
        yaml_no_memory(&b);
        return NULL;
    }
    yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&b.parser, (const unsigned char *)src->yaml,
                                 src->yaml_size);
    bool ok = read_stream(&b, &root);
    if (b.have_event)
        yaml_event_delete(&b.event);
    yaml_parser_delete(&b.parser);
    return ok ? root : NULL;
}

/* ---- reading by tables ---- */

enum {
    NAME_BYTES = 63, /* ids, variants */
    TENSOR_BYTES = 2 * NAME_BYTES,
    LABEL_BYTES = 80,
    TITLE_BYTES = 200,
    TEXT_BYTES = 2000,
    PATH_BYTES = 4000,
    SHOWN_BYTES = 40, /* of a word, in a message */
    MOST_WORDS = 64   /* of one choice */
};

struct front {
    struct lab_lesson *lesson;
    struct lab_network_spec *spec; /* the lesson's */
    struct lab_findings *found;
    struct lab_arena *arena; /* lives as long as the lesson */
    struct lab_arena *tree;  /* lives as long as the YAML tree */
    const struct yaml *root;
    unsigned kind; /* LESSON, LADDER, SWEEP or FIRST */
    const struct lab_operation *ladder;
};

/* Reads the value at `node` into the field of its key. The value of a key that
 * has a type is checked and stored already. */
typedef bool read_fn(struct front *f, const struct yaml *node, void *field);

/* What the value of a key is, and the type of its field. */
enum value {
    VALUE_ANY,    /* for the function alone */
    VALUE_INT,    /* int64_t */
    VALUE_NUMBER, /* double */
    VALUE_BOOL,   /* bool */
    VALUE_TEXT,   /* const char *, in the arena of the lesson */
    VALUE_CHOICE, /* int, an enum or bool: the index of the word */
    VALUE_WORD,   /* const char *: the word itself */
    VALUE_LIST,   /* for the function, when it is a list ... */
    VALUE_MAP     /* ... or a mapping; with `each`, every item of it */
};

struct key {
    const char *name;
    enum value value;
    size_t at;       /* offset of the field; 0 without one: the whole struct */
    size_t size;     /* of the field; 0: none */
    size_t each;     /* size of an item: the field is a list */
    size_t count_at; /* then the offset of the int that counts them */
    unsigned in;     /* bits: where the key is known; 0: everywhere */
    unsigned required; /* bits: where it must be there */
    bool later;        /* read after the others, in the order of the table */
    bool open_max;     /* NUMBER: below max */
    double min;
    double max; /* not above min: none; of a text bytes, of a choice words */
    const char *const *words;      /* of a choice, NULL after the last ... */
    const char *(*word)(size_t i); /* ... or word i, NULL after the last */
    read_fn *read;                 /* or NULL */
    const char *expects;           /* the value in a message */
    const char *fallback;          /* the default, for the reader */
    const char *doc;
};

/* One mapping of the front matter. */
struct table {
    const char *title;
    const char *whole; /* in "WHOLE has no KEY: add it" */
    const struct key *keys;
    size_t count;
    const char *(*where)(unsigned bit); /* the name of a bit of `in` */
    read_fn *other;                     /* reads unknown keys; NULL: an error */
};

/* ---- the keys ---- */

#define FIELD(type, member)                                                    \
    .at = offsetof(struct type, member),                                       \
    .size = sizeof(((struct type *)0)->member)
#define EACH(type, member, n)                                                  \
    .at = offsetof(struct type, member),                                       \
    .each = sizeof(*((struct type *)0)->member),                               \
    .count_at = offsetof(struct type, n)
#define ONE_OF(...)                                                            \
    .words = (const char *const[])                                             \
    {                                                                          \
        __VA_ARGS__, NULL                                                      \
    }
#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define TABLE(array) .keys = array, .count = COUNT(array)

static read_fn read_format, keep_title, keep_precision, keep_order,
    read_prerequisites, read_run, read_data, read_network, read_single,
    read_parameter, read_variant, read_watch, read_break, read_printed,
    read_ladder, read_sizes, read_variants, read_slide, check_measures, read_of,
    read_precisions, join_path, read_split, read_validation, read_data_tensor,
    read_data_other, read_texts, check_name, read_when, read_at,
    read_printed_values, keep_updated, check_size;

static const char *phase_word(size_t i)
{
    return i < LAB_PHASE_COUNT ? lab_phase_name((enum lab_phase)i) : NULL;
}

static const char *precision_word(size_t i)
{
    return i < LAB_PRECISION_COUNT ? lab_precision_name((enum lab_precision)i)
                                   : NULL;
}

static const char *source_word(size_t i)
{
    return i < LAB_DATA_SOURCE_COUNT
               ? lab_data_source_name((enum lab_data_source)i)
               : NULL;
}

/* Kinds of lessons. A lab climbs a ladder, measures the network of a lesson
 * (SWEEP), or is one of the first kernels, by its key lab. */
enum { LESSON = 1, LADDER = 2, SWEEP = 4, FIRST = 8 };
enum { LABS = LADDER | SWEEP | FIRST, MEASURED = LADDER | SWEEP };

static const char *const measures[LAB_MEASURES + 1] = {
    [LAB_MEASURE_LADDER] = "ladder",        [LAB_MEASURE_TUNE] = "tune",
    [LAB_MEASURE_CALLS] = "calls",          [LAB_MEASURE_BATCH] = "batch-size",
    [LAB_MEASURE_NETWORK] = "network-size", [LAB_MEASURE_PRODUCTS] = "products",
    [LAB_MEASURE_BACKWARD] = "backward",
};

/* Fields of struct lab_lesson. */
static const struct key front_keys[] = {
    {"format", VALUE_ANY, .required = LESSON | LABS, .read = read_format,
     .expects = "1", .doc = "The version of this format."},
    {"kind", VALUE_CHOICE, FIELD(lab_lesson, kind), ONE_OF("lesson", "lab"),
     .fallback = "lesson",
     .doc = "A lab measures kernels, or the network of a lesson."},
    {"title", VALUE_TEXT, FIELD(lab_lesson, title), .required = LESSON | LABS,
     .max = TITLE_BYTES, .read = keep_title, .doc = "The lesson's heading."},
    {"summary", VALUE_TEXT, FIELD(lab_lesson, summary), .max = 1000,
     .doc = "One line about what the reader will see."},
    {"order", VALUE_INT, FIELD(lab_lesson, order), .max = 1000000,
     .read = keep_order, .fallback = "last",
     .doc = "The place in the course. No two lessons have the same."},
    {"minutes", VALUE_INT, FIELD(lab_lesson, minutes), .min = 1, .max = 10000,
     .doc = "The time that the lesson takes."},
    {"prerequisites", VALUE_LIST, .read = read_prerequisites,
     .expects = "a list of lesson ids", .fallback = "none",
     .doc = "Lessons to read before this one."},
    {"seed", VALUE_INT, FIELD(lab_lesson, spec.seed), .fallback = "1",
     .doc = "The seed of all random numbers of the run."},
    {"layout", VALUE_CHOICE, FIELD(lab_lesson, spec.layout), .in = LESSON,
     ONE_OF("nchw", "nhwc"), .fallback = "nchw",
     .doc = "The order of the dimensions of images."},
    {"precision", VALUE_CHOICE, FIELD(lab_lesson, spec.precision),
     .max = LAB_FP64, .word = precision_word, .read = keep_precision,
     .fallback = "fp32",
     .doc = "The precision of products and convolutions. This version runs "
            "networks in fp32: the others are refused when the network is "
            "built. Kernels of labs have all of them."},
    {"run", VALUE_MAP, FIELD(lab_lesson, spec), .in = LESSON, .read = read_run,
     .expects = "a mapping with iterations or epochs",
     .doc = "How long to train."},
    {"data", VALUE_MAP, FIELD(lab_lesson, spec.data), .in = LESSON,
     .later = true, .read = read_data, .expects = "a mapping",
     .fallback = "digits", .doc = "What the network reads."},
    {"network", VALUE_LIST, FIELD(lab_lesson, spec), .in = LESSON,
     .required = LESSON, .later = true, .read = read_network,
     .expects = "a list of nodes",
     .doc = "The nodes, each after those that it reads."},
    {"loss", VALUE_MAP, FIELD(lab_lesson, spec.loss), .in = LESSON,
     .required = LESSON, .later = true, .read = read_single,
     .expects = "a mapping, as in {op: mse}", .doc = "The loss."},
    {"optimizer", VALUE_MAP, FIELD(lab_lesson, spec.optimizer), .in = LESSON,
     .later = true, .read = read_single,
     .expects = "a mapping, as in {op: sgd, lr: 0.1}",
     .fallback = "sgd with lr 0.1", .doc = "The optimizer."},
    {"parameters", VALUE_MAP,
     EACH(lab_lesson, spec.parameters, spec.n_parameters), .in = LESSON,
     .later = true, .read = read_parameter,
     .expects = "a mapping from parameters to tensors",
     .doc = "Initial values instead of random ones."},
    {"variants", VALUE_MAP, EACH(lab_lesson, spec.variants, spec.n_variants),
     .in = LESSON, .later = true, .read = read_variant,
     .expects = "a mapping from nodes or ops to variants",
     .doc = "Kernels by node, by op, or for all (`*`)."},
    {"watch", VALUE_LIST, FIELD(lab_lesson, spec), .in = LESSON, .later = true,
     .read = read_watch, .expects = "a list of tensor names",
     .doc = "Tensors to show at each stop."},
    {"break", VALUE_LIST, EACH(lab_lesson, spec.breaks, spec.n_breaks),
     .in = LESSON, .later = true, .read = read_break,
     .expects = "a list of breakpoints", .doc = "Where to stop."},
    {"printed", VALUE_LIST, EACH(lab_lesson, spec.printed, spec.n_printed),
     .in = LESSON, .later = true, .read = read_printed,
     .expects = "a list of printed values",
     .doc = "Values that course material prints, shown beside the computed "
            "ones."},
    {"lab", VALUE_ANY, FIELD(lab_lesson, lab.ladder), .in = LABS,
     .required = LADDER, .later = true, .read = read_ladder,
     .expects = "the name of an operation",
     .doc = "The ladder to climb, as `lapenna-lab lab` lists them, or one of "
            "hello, scalar_add, vectors and index, which have no sizes."},
    {"sizes", VALUE_ANY, FIELD(lab_lesson, lab.sizes), .in = MEASURED,
     .later = true, .read = read_sizes, .expects = "a list",
     .fallback = "the ladder's", .doc = "Sizes on a GPU."},
    {"cpu_sizes", VALUE_ANY, FIELD(lab_lesson, lab.cpu_sizes), .in = MEASURED,
     .later = true, .read = read_sizes, .expects = "a list",
     .fallback = "the ladder's", .doc = "Sizes on a CPU."},
    {"variants", VALUE_LIST, FIELD(lab_lesson, lab.variants), .in = MEASURED,
     .later = true, .read = read_variants, .expects = "a list",
     .fallback = "all", .doc = "Variants on a GPU."},
    {"repeat", VALUE_INT, FIELD(lab_lesson, lab.repeat), .in = MEASURED,
     .later = true, .min = LAB_LADDER_REPEATS_MIN,
     .max = LAB_LADDER_REPEATS_MAX, .doc = "How often each variant is timed."},
    {"slide", VALUE_LIST, EACH(lab_lesson, lab.slides, lab.n_slides),
     .in = MEASURED, .later = true, .min = 1, .read = read_slide,
     .expects = "a list of rows", .doc = "Figures that the course prints."},
    {"measures", VALUE_CHOICE, FIELD(lab_lesson, lab.measures), .in = LABS,
     .later = true, .words = measures, .read = check_measures,
     .fallback = "ladder",
     .doc = "What is measured. The last four are about a lesson's network."},
    {"of", VALUE_ANY, FIELD(lab_lesson, lab), .in = LABS, .later = true,
     .read = read_of, .expects = "the id of a lesson",
     .doc = "The lesson with the network to measure; products and backward "
            "take `all`."},
    {"precisions", VALUE_LIST, FIELD(lab_lesson, lab.precisions),
     .in = MEASURED, .later = true, .read = read_precisions,
     .expects = "a list", .fallback = "all",
     .doc = "Precisions of the variants on a GPU."},
};

static const char *kind_name(unsigned bit)
{
    return bit == LESSON ? "lesson" : bit == LADDER ? "lab" : NULL;
}

static const struct table front_table = {.title = "The front matter",
                                         .whole = "the front matter",
                                         .where = kind_name,
                                         TABLE(front_keys)};

/* Fields of struct lab_network_spec. */
static const struct key run_keys[] = {
    {"iterations", VALUE_INT, FIELD(lab_network_spec, iterations), .min = 1,
     .max = INT32_MAX, .doc = "Batches to train on."},
    {"epochs", VALUE_INT, FIELD(lab_network_spec, epochs), .min = 1,
     .max = INT32_MAX, .doc = "Passes over the training data."},
    {"early_stop", VALUE_INT, FIELD(lab_network_spec, early_stop), .min = 1,
     .max = INT32_MAX,
     .doc =
         "So many evaluations without a lower validation loss end the "
         "training; at its end, which the iterations may bring first, the "
         "walk goes back to the network that had the lowest; in the stepper, "
         "where the patience ends one of several trainings, to the lowest "
         "of all of them. The network of a file that it goes on from counts, "
         "too. One that is stopped, or that a break stops, stays "
         "where it is."},
};
static const struct table run_table = {.title = "`run`", TABLE(run_keys)};

/* The sources of data: bits by enum lab_data_source. */
enum {
    INLINE = 1 << LAB_DATA_INLINE,
    CSV = 1 << LAB_DATA_CSV,
    TEXT = 1 << LAB_DATA_TEXT,
    FIBONACCI = 1 << LAB_DATA_FIBONACCI,
    WORDS = 1 << LAB_DATA_WORDS,
    REVERSE = 1 << LAB_DATA_REVERSE,
    OTHERS = ((1 << LAB_DATA_SOURCE_COUNT) - 1) & ~INLINE
};

static const char *source_name(unsigned bit)
{
    size_t i = 0;
    while (i < LAB_DATA_SOURCE_COUNT && bit != 1u << i)
        i++;
    return source_word(i);
}

/* Fields of struct lab_data_spec. */
static const struct key data_keys[] = {
    {"source", VALUE_CHOICE, FIELD(lab_data_spec, source), .word = source_word,
     .fallback = "inline", .doc = "Where the data come from."},
    {"gradient", VALUE_BOOL, FIELD(lab_data_spec, gradient), .in = INLINE,
     .fallback = "false", .doc = "Also the gradient of every input."},
    {"path", VALUE_TEXT, FIELD(lab_data_spec, path),
     .in = OTHERS & ~(FIBONACCI | REVERSE), .max = PATH_BYTES,
     .read = join_path,
     .doc = "The file or folder, from the lesson's folder on."},
    {"batch", VALUE_INT, FIELD(lab_data_spec, batch), .in = OTHERS, .min = 1,
     .max = 1 << 24, .fallback = "the source's",
     .doc = "Samples of an iteration."},
    {"split", VALUE_ANY, FIELD(lab_data_spec, split), .in = OTHERS,
     .read = read_split, .expects = "a number above 0, at most 1",
     .fallback = "the source's", .doc = "The share of samples that trains."},
    {"validation", VALUE_ANY, FIELD(lab_data_spec, validation),
     .in = OTHERS & ~TEXT, .read = read_validation,
     .expects = "a number above 0, below 1", .fallback = "no such set",
     .doc = "The share of all samples that is for validation; the rest of what "
            "`split` lets train still trains."},
    {"shuffle", VALUE_BOOL, FIELD(lab_data_spec, shuffle), .in = OTHERS,
     .fallback = "true", .doc = "A new order in every epoch."},
    {"context", VALUE_INT, FIELD(lab_data_spec, context),
     .in = TEXT | FIBONACCI | WORDS, .min = 1, .max = 1 << 20,
     .fallback = "text 64, fibonacci 8, words 2",
     .doc = "Characters or terms of a sample; words on each side."},
    {"length", VALUE_INT, FIELD(lab_data_spec, length), .in = REVERSE, .min = 1,
     .max = 1 << 20, .fallback = "8", .doc = "Symbols of a string."},
    {"alphabet", VALUE_INT, FIELD(lab_data_spec, alphabet), .in = REVERSE,
     .min = 1, .max = 1 << 20, .fallback = "10",
     .doc = "Different symbols: 2 to 36, 0-9 and a-z."},
    {"rows", VALUE_INT, FIELD(lab_data_spec, rows), .in = REVERSE, .min = 1,
     .max = 1 << 24, .fallback = "4096", .doc = "Strings."},
    {"label", VALUE_INT, FIELD(lab_data_spec, label_column), .in = CSV,
     .min = -1, .max = 1 << 20, .fallback = "-1",
     .doc = "The column of the class or target, from 0; -1 is the last."},
    {"header", VALUE_BOOL, FIELD(lab_data_spec, header), .in = CSV,
     .fallback = "false", .doc = "Skip the first line."},
    {"scale", VALUE_NUMBER, FIELD(lab_data_spec, scale), .in = CSV,
     .min = -INFINITY, .max = INFINITY, .fallback = "1",
     .doc = "Features are multiplied by it."},
    {"model", VALUE_CHOICE, FIELD(lab_data_spec, skip_gram), .in = WORDS,
     ONE_OF("cbow", "skip_gram"), .fallback = "cbow",
     .doc =
         "What is predicted: a word from those around it, or one of those from "
         "the word; see *Words*."},
    {"vocab", VALUE_INT, FIELD(lab_data_spec, most_words), .in = WORDS,
     .min = 1, .max = 1 << 24, .fallback = "all",
     .doc = "How many words, the most frequent, get a number of their own; the "
            "others are `<OOV>`."},
    {"x", VALUE_ANY, .in = INLINE, .read = read_data_tensor,
     .expects = "a TENSOR",
     .doc = "The input. Any other name is a tensor, too."},
    {"y", VALUE_ANY, .in = INLINE, .read = read_data_tensor,
     .expects = "a TENSOR", .doc = "What the loss compares with."},
};
static const struct table data_table = {.title = "`data`",
                                        .where = source_name,
                                        .other = read_data_other,
                                        TABLE(data_keys)};

/* Read by read_shaped(). */
static const struct key tensor_keys[] = {
    {"shape", VALUE_ANY, .required = ~0u, .expects = "a list of whole numbers",
     .doc = "The dimensions, 1 to 6."},
    {"values", VALUE_ANY, .expects = "a flat list",
     .doc = "All elements, row-major."},
    {"fill", VALUE_ANY, .expects = "a number",
     .doc = "The value of every element, instead of values."},
};
static const struct table tensor_table = {.title = "A TENSOR with a shape",
                                          TABLE(tensor_keys)};

enum form { FORM_IDS, FORM_ONE_HOT, FORM_COUNTS };

/* A tensor made of texts, on its way. */
struct wording {
    const char **texts;
    int64_t n;
    int form;
    struct lab_padding pad;
    struct lab_vocabulary_rule rule;
};

/* Bits of `in` that every tensor of texts has: the key belongs to form: ids, to
 * the tensor that makes the vocabulary. */
enum { OF_IDS = 1, OF_VOCABULARY = 2 };

/* Fields of struct wording. */
static const struct key words_keys[] = {
    {"texts", VALUE_LIST, .read = read_texts,
     .expects = "a list of texts in quotes",
     .doc = "One row of the tensor each."},
    {"form", VALUE_CHOICE, FIELD(wording, form),
     ONE_OF("ids", "one_hot", "counts"), .fallback = "ids",
     .doc = "The words' numbers, [texts,maxlen]; 1 in the column of each word "
            "of the text, [texts,words]; how often the text has it."},
    {"maxlen", VALUE_INT, FIELD(wording, pad.length), .in = OF_IDS, .min = 1,
     .max = 1 << 16, .fallback = "the longest text",
     .doc = "ids: the length of a row."},
    {"padding", VALUE_CHOICE, FIELD(wording, pad.after), .in = OF_IDS,
     ONE_OF("pre", "post"), .fallback = "pre",
     .doc = "ids: where the zeros go."},
    {"truncating", VALUE_CHOICE, FIELD(wording, pad.cut_end), .in = OF_IDS,
     ONE_OF("pre", "post"), .fallback = "pre",
     .doc = "ids: what a text that is too long loses."},
    {"oov", VALUE_BOOL, FIELD(wording, rule.unknown), .in = OF_VOCABULARY,
     .fallback = "true",
     .doc = "Words that the vocabulary does not have get the number 1, "
            "`<OOV>`; false: they are left out."},
    {"order", VALUE_CHOICE, FIELD(wording, rule.order), .in = OF_VOCABULARY,
     ONE_OF("frequency", "appearance"), .fallback = "frequency",
     .doc = "The order of the numbers: the most frequent word first, equally "
            "frequent ones as they occur; or all as they occur."},
};
static const struct table words_table = {
    .title = "A TENSOR of texts, in inline data", TABLE(words_keys)};

/* Where a node is: bits by enum lab_op_kind. */
enum {
    LAYER = 1 << LAB_KIND_LAYER,
    SINGLE = 1 << LAB_KIND_LOSS | 1 << LAB_KIND_OPTIMIZER
};

static const char *const op_kinds[] = {"network", "loss", "optimizer"};

static const char *op_kind_name(unsigned bit)
{
    size_t i = 0;
    while (i < COUNT(op_kinds) && bit != 1u << i)
        i++;
    return i < COUNT(op_kinds) ? op_kinds[i] : NULL;
}

/* Read by name_node(), read_op() and read_from(). */
static const struct key node_keys[] = {
    {"op", VALUE_ANY, .required = LAYER | SINGLE,
     .expects = "the name of an op",
     .doc = "What the node computes; its other keys are the op's."},
    {"id", VALUE_ANY, .in = LAYER, .expects = "a name", .fallback = "relu1 ...",
     .doc = "Its name: a letter or _, then letters, digits, - and _."},
    {"from", VALUE_ANY, .in = LAYER, .expects = "a name or a list of names",
     .fallback = "the node before", .doc = "The inputs: nodes or tensors."},
};
static const struct table node_table = {.title =
                                            "A node, the loss, the optimizer",
                                        .where = op_kind_name,
                                        TABLE(node_keys)};

/* Fields of struct lab_break_spec. */
static const struct key break_keys[] = {
    {"step", VALUE_TEXT, FIELD(lab_break_spec, step), .max = TENSOR_BYTES,
     .read = check_name, .doc = "At this step, or at the steps of this node."},
    {"phase", VALUE_CHOICE, FIELD(lab_break_spec, phase), .word = phase_word,
     .fallback = "any",
     .doc = "In this phase only; without a step, where it begins."},
    {"when", VALUE_ANY, .read = read_when,
     .expects = "nan, inf or loss > NUMBER",
     .doc = "Without step and phase: when a tensor has such a value, or the "
            "loss."},
};
static const struct table break_table = {.title = "A breakpoint of `break`",
                                         TABLE(break_keys)};

/* Fields of struct lab_course_values_spec. */
static const struct key printed_keys[] = {
    {"tensor", VALUE_TEXT, FIELD(lab_course_values_spec, tensor),
     .required = ~0u, .max = TENSOR_BYTES, .read = check_name,
     .doc = "The name of the tensor."},
    {"at", VALUE_LIST, FIELD(lab_course_values_spec, at), .read = read_at,
     .expects = "a list of whole numbers", .fallback = "the first element",
     .doc = "The index of the first value."},
    {"values", VALUE_LIST, .required = ~0u, .read = read_printed_values,
     .expects = "a flat list of numbers", .doc = "As they are printed."},
    {"tolerance", VALUE_NUMBER, FIELD(lab_course_values_spec, tolerance),
     .fallback = "none", .doc = "The difference that rounding explains."},
    {"where", VALUE_TEXT, FIELD(lab_course_values_spec, where),
     .max = TEXT_BYTES, .doc = "Where they are printed."},
    {"note", VALUE_TEXT, FIELD(lab_course_values_spec, note), .max = TEXT_BYTES,
     .doc = "Shown beside them."},
    {"phase", VALUE_CHOICE, .word = phase_word, .read = keep_updated,
     .doc = "With update, the values of a parameter after its update, not "
            "before."},
};
static const struct table printed_table = {.title = "An entry of `printed`",
                                           TABLE(printed_keys)};

/* Fields of struct lab_lesson_slide. */
static const struct key slide_keys[] = {
    {"label", VALUE_TEXT, FIELD(lab_lesson_slide, label), .required = LABS,
     .max = LABEL_BYTES, .doc = "What was measured."},
    {"size", VALUE_TEXT, FIELD(lab_lesson_slide, size), .required = LABS,
     .max = LABEL_BYTES, .read = check_size, .doc = "As in `sizes`."},
    {"value", VALUE_NUMBER, FIELD(lab_lesson_slide, value), .required = LABS,
     .doc = "The figure."},
    {"unit", VALUE_WORD, FIELD(lab_lesson_slide, unit), .required = LABS,
     ONE_OF("GFLOP/s", "TFLOP/s", "GB/s", "TB/s", "ns", "us", "ms", "s", "MB",
            "MiB"),
     .doc = "A rate, the time of one call, or its workspace."},
    {"machine", VALUE_TEXT, FIELD(lab_lesson_slide, machine), .required = LABS,
     .max = LABEL_BYTES, .doc = "Where it was measured."},
    {"source", VALUE_TEXT, FIELD(lab_lesson_slide, source), .required = LABS,
     .max = TEXT_BYTES, .doc = "Where it is printed."},
    {"rung", VALUE_TEXT, FIELD(lab_lesson_slide, variant), .max = NAME_BYTES,
     .fallback = "the fastest", .doc = "The variant to compare it with."},
    {"precision", VALUE_WORD, FIELD(lab_lesson_slide, precision),
     .word = precision_word,
     .fallback = "fp32; fp64 where the ladder has no fp32",
     .doc = "Compared only with variants of this precision."},
};
static const struct table slide_table = {
    .title = "A row of `slide`", .whole = "a row of slide", TABLE(slide_keys)};

/* ---- mistakes ---- */

/* Where the key of a value is. */
static struct lab_place at_key(const struct yaml *node)
{
    return node->key ? node->key_at : node->at;
}

#define fail_at(f, place, st, ...)                                             \
    lab_findings_add((f)->found, place, st, __VA_ARGS__)
#define fail(f, node, st, ...) fail_at(f, (node)->at, st, __VA_ARGS__)
#define fail_key(f, node, st, ...) fail_at(f, at_key(node), st, __VA_ARGS__)

/* Notes that memory was short, unless `ok`; returns `ok`. */
static bool has_memory(struct front *f, bool ok)
{
    f->found->failed = f->found->failed || !ok;
    return ok;
}

/* "unknown WHAT X; did you mean Y?", or the whole list when none is near. */
static bool fail_unknown(struct front *f, struct lab_place place,
                         const char *what, const char *word,
                         const char *const *names, size_t count)
{
    const char *near = lab_nearest(word, names, count);
    struct lab_str list;
    if (near)
        return fail_at(
            f, place, LAB_E_PARSE,
            "[lesson.word.unknown] unknown %s %.*s; did you mean %s?", what,
            SHOWN_BYTES, word, near);
    lab_str_init(&list);
    for (size_t i = 0; i < count; i++)
        lab_str_addf(&list, "%s%s", i ? ", " : "", names[i]);
    if (has_memory(f, !list.failed))
        fail_at(f, place, LAB_E_PARSE,
                "[lesson.word.unknown] unknown %s %.*s; known: %s", what,
                SHOWN_BYTES, word, lab_str_text(&list));
    lab_str_release(&list);
    return false;
}

static size_t digits(const char *s)
{
    return strspn(s, "0123456789");
}

static bool is_special(const char *s)
{
    static const char *const names[] = {
        ".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN",     "inf",
        "Inf",  "INF",  "nan",  "NaN",  "NAN",  "infinity", "Infinity"};
    s += *s == '-' || *s == '+';
    for (size_t i = 0; i < COUNT(names); i++) {
        if (strcmp(s, names[i]) == 0)
            return true;
    }
    return false;
}

enum number { NO_NUMBER, WHOLE, REAL, SPECIAL };

/* A number as YAML 1.2 writes it in decimals, or inf and nan. Hexadecimal, octal
 * and 1_000 are not taken: readers disagree about them. */
static enum number number_of(const struct yaml *node)
{
    const char *s = node->text;
    if (node->kind != YAML_SCALAR || !node->plain || strlen(s) != node->len)
        return NO_NUMBER;
    if (is_special(s))
        return SPECIAL;
    s += *s == '-' || *s == '+';
    size_t whole = digits(s);
    s += whole;
    bool point = *s == '.';
    size_t fraction = point ? digits(s + 1) : 0;
    s += point + fraction;
    bool power = *s == 'e' || *s == 'E';
    if (power) {
        s++;
        s += *s == '-' || *s == '+';
        if (digits(s) == 0)
            return NO_NUMBER;
        s += digits(s);
    }
    if (whole + fraction == 0 || *s)
        return NO_NUMBER;
    return point || power ? REAL : WHOLE;
}

/* "KEY: " of a value in a mapping, else "". */
static const char *prefix(const struct yaml *node, char buf[SHOWN_BYTES + 3])
{
    snprintf(buf, SHOWN_BYTES + 3, "%.*s%s", SHOWN_BYTES,
             node->key ? node->key : "", node->key ? ": " : "");
    return buf;
}

/* "KEY: expected WHAT, found what is there". */
static bool fail_expected(struct front *f, const struct yaml *node,
                          const char *what)
{
    char key[SHOWN_BYTES + 3];
    char found[96];
    int shown = (int)(node->len < SHOWN_BYTES ? node->len : SHOWN_BYTES);
    const char *more = node->len > SHOWN_BYTES ? "..." : "";
    if (node->kind == YAML_LIST)
        snprintf(found, sizeof(found), "a list of %lld",
                 (long long)node->count);
    else if (node->kind == YAML_MAP)
        snprintf(found, sizeof(found), "a mapping");
    else if (node->plain && node->len == 0)
        snprintf(found, sizeof(found), "nothing");
    else if (number_of(node) != NO_NUMBER)
        snprintf(found, sizeof(found), "the number %.*s%s", shown, node->text,
                 more);
    else
        snprintf(found, sizeof(found), "the text \"%.*s%s\"", shown, node->text,
                 more);
    return fail(f, node, LAB_E_PARSE,
                "[lesson.value.kind] %sexpected %s, found %s",
                prefix(node, key), what, found);
}

/* ---- values by type ---- */

static bool want(struct front *f, const struct yaml *node, enum yaml_kind kind,
                 const char *what)
{
    return node->kind == kind || fail_expected(f, node, what);
}

static bool want_number(struct front *f, const struct yaml *node,
                        const char *what)
{
    char key[SHOWN_BYTES + 3];
    const char *s = node->text;
    enum number number = number_of(node);
    if (number == NO_NUMBER)
        return fail_expected(f, node, what);
    if (number == SPECIAL)
        return fail(f, node, LAB_E_RANGE,
                    "[lesson.value.not-finite] %sNaN or Inf (%s): expected a "
                    "finite number",
                    prefix(node, key), s);
    /* 010 is eight to one YAML reader and ten to the next. */
    s += *s == '-' || *s == '+';
    if (s[0] == '0' && digits(s) > 1)
        return fail(f, node, LAB_E_PARSE,
                    "[lesson.value.octal] the number %.*s begins with 0, which "
                    "some readers take for octal: write it without",
                    SHOWN_BYTES, node->text);
    return true;
}

static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;
static locale_t c_locale;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Any finite number. strtod() of the user's locale may want a comma. */
static bool take_number(struct front *f, const struct yaml *node, double *out)
{
    if (!want_number(f, node, "a number"))
        return false;
    pthread_once(&c_locale_once, make_c_locale);
    double value = c_locale ? strtod_l(node->text, NULL, c_locale)
                            : strtod(node->text, NULL);
    if (!isfinite(value))
        return fail(
            f, node, LAB_E_RANGE,
            "[lesson.value.large] the number %.*s is too large for any float",
            SHOWN_BYTES, node->text);
    *out = value;
    return true;
}

static bool fail_range(struct front *f, const struct yaml *node, int64_t least,
                       int64_t most)
{
    char key[SHOWN_BYTES + 3];
    char why[64] = " is 2^63 or more";
    if (most != INT64_MAX)
        snprintf(why, sizeof(why), " is not between %lld and %lld",
                 (long long)least, (long long)most);
    else if (node->text[0] == '-' || least > 0)
        snprintf(why, sizeof(why),
                 ": expected a whole number from %lld on, below 2^63",
                 (long long)least);
    return fail(f, node, LAB_E_RANGE, "[lesson.value.range] %s%.*s%s",
                prefix(node, key), SHOWN_BYTES, node->text, why);
}

static bool take_int(struct front *f, const struct yaml *node, int64_t least,
                     int64_t most, int64_t *out)
{
    if (!want_number(f, node, "a whole number"))
        return false;
    if (number_of(node) != WHOLE)
        return fail_expected(f, node, "a whole number");
    errno = 0;
    long long value = strtoll(node->text, NULL, 10);
    if (errno == ERANGE || value < least || value > most)
        return fail_range(f, node, least, most);
    *out = value;
    return true;
}

static bool take_real(struct front *f, const struct yaml *node,
                      const struct key *key, double *out)
{
    double value = 0;
    bool bounded = key->max > key->min;
    if (!take_number(f, node, &value))
        return false;
    if (!bounded && value < key->min)
        return fail(f, node, LAB_E_RANGE,
                    "[lesson.value.least] %s: %s is below %g", key->name,
                    node->text, key->min);
    bool above = key->open_max ? value >= key->max : value > key->max;
    if (bounded && (value < key->min || above))
        return fail(f, node, LAB_E_RANGE,
                    "[lesson.value.between] %s: %s is not between %g and %g%s",
                    key->name, node->text, key->min, key->max,
                    key->open_max ? " (without it)" : "");
    *out = value;
    return true;
}

static bool take_bool(struct front *f, const struct yaml *node, bool *out)
{
    bool plain = node->kind == YAML_SCALAR && node->plain;
    *out = plain && strcmp(node->text, "true") == 0;
    return *out || (plain && strcmp(node->text, "false") == 0) ||
           fail_expected(f, node, "true or false");
}

/* A text of 1 to `most` bytes: node->text is it. */
static bool want_text(struct front *f, const struct yaml *node, size_t most)
{
    if (node->kind != YAML_SCALAR || node->len == 0 ||
        strlen(node->text) != node->len)
        return fail_expected(f, node, "a text");
    return node->len <= most || fail(f, node, LAB_E_RANGE,
                                     "[lesson.value.length] this text has %zu "
                                     "bytes; at most %zu are taken",
                                     node->len, most);
}

static bool keep_text(struct front *f, const char *text, const char **out)
{
    *out = lab_arena_text(f->arena, text, strlen(text));
    return has_memory(f, *out != NULL);
}

static bool take_text(struct front *f, const struct yaml *node, size_t most,
                      const char **out)
{
    return want_text(f, node, most) && keep_text(f, node->text, out);
}

/* One of names[count]; *out is its index. */
static bool take_choice(struct front *f, const struct yaml *node,
                        const char *what, const char *const *names,
                        size_t count, size_t *out)
{
    if (node->kind != YAML_SCALAR || node->len == 0)
        return fail_expected(f, node, "a word");
    for (*out = 0; *out < count; ++*out) {
        if (strcmp(node->text, names[*out]) == 0)
            return true;
    }
    return fail_unknown(f, node->at, what, node->text, names, count);
}

/* The words that a key can choose from. */
static size_t words_of(const struct key *key, const char **names)
{
    size_t most = key->max > 0 ? (size_t)key->max : MOST_WORDS;
    size_t n = 0;
    while (n < most &&
           (names[n] = key->word ? key->word(n) : key->words[n]) != NULL)
        n++;
    return n;
}

static bool take_word(struct front *f, const struct yaml *node,
                      const struct key *key, void *field)
{
    const char *names[MOST_WORDS];
    size_t which = 0;
    if (!take_choice(f, node, key->name, names, words_of(key, names), &which))
        return false;
    if (key->value == VALUE_WORD)
        *(const char **)field = names[which];
    else if (key->size == sizeof(bool))
        *(bool *)field = which > 0;
    else if (key->size == sizeof(int))
        *(int *)field = (int)which;
    return true;
}

/* Every item of a list or mapping into an element of an array. */
static bool read_each(struct front *f, const struct key *key,
                      const struct yaml *node, void *out)
{
    char *items = lab_arena_array(f->arena, (size_t)node->count, key->each);
    int *n = (int *)(void *)((char *)out + key->count_at);
    bool ok = has_memory(f, items != NULL);
    memcpy((char *)out + key->at, &items, sizeof(items));
    if (ok && node->count < (int64_t)key->min)
        ok = fail(
            f, node, LAB_E_PARSE,
            "[lesson.list.rows] %s: an empty list: leave it out, or add a row",
            key->name);
    for (const struct yaml *c = node->first; items && c; c = c->next)
        ok = key->read(f, c, items + key->each * (size_t)(*n)++) && ok;
    return ok;
}

static int64_t limit(double x)
{
    return x >= 9.2e18 ? INT64_MAX : x <= -9.2e18 ? INT64_MIN : (int64_t)x;
}

static int64_t most_of(double min, double max)
{
    return max > min ? limit(max) : INT64_MAX;
}

static bool read_value(struct front *f, const struct key *key,
                       const struct yaml *node, void *out)
{
    void *field = (char *)out + key->at;
    bool ok = true;
    switch (key->value) {
    case VALUE_ANY:
        break;
    case VALUE_INT:
        ok = take_int(f, node, limit(key->min), most_of(key->min, key->max),
                      field);
        break;
    case VALUE_NUMBER:
        ok = take_real(f, node, key, field);
        break;
    case VALUE_BOOL:
        ok = take_bool(f, node, field);
        break;
    case VALUE_TEXT:
        ok = take_text(f, node, (size_t)key->max, field);
        break;
    case VALUE_CHOICE:
    case VALUE_WORD:
        ok = take_word(f, node, key, field);
        break;
    case VALUE_LIST:
        ok = want(f, node, YAML_LIST, key->expects);
        break;
    case VALUE_MAP:
        ok = want(f, node, YAML_MAP, key->expects);
        break;
    }
    if (ok && key->each)
        return read_each(f, key, node, out);
    return ok && (!key->read || key->read(f, node, field));
}

/* ---- mappings by table ---- */

static bool is_in(const struct key *key, unsigned in)
{
    return !key->in || (key->in & in);
}

static const struct key *find_key(const struct table *table, const char *name,
                                  unsigned in)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct key *key = &table->keys[i];
        if (is_in(key, in) && strcmp(key->name, name) == 0)
            return key;
    }
    return NULL;
}

static size_t key_names(const struct table *table, unsigned in,
                        const char **names)
{
    size_t n = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (is_in(&table->keys[i], in))
            names[n++] = table->keys[i].name;
    }
    return n;
}

static bool unknown_key(struct front *f, const struct table *table, unsigned in,
                        const struct yaml *node)
{
    const char *names[MOST_WORDS];
    size_t n = key_names(table, in, names);
    return fail_unknown(f, at_key(node), "key", node->key, names, n);
}

static const unsigned everywhere = ~0u;

/* Reads the keys of a mapping into `out`: those that depend on others last, for
 * which *in may have changed by then. */
static bool read_map(struct front *f, const struct yaml *map,
                     const struct table *table, const unsigned *in, void *out)
{
    bool ok = true;
    for (const struct yaml *n = map->first; n; n = n->next) {
        const struct key *key = find_key(table, n->key, *in);
        if (key && key->later)
            continue;
        ok = (key            ? read_value(f, key, n, out)
              : table->other ? table->other(f, n, out)
                             : unknown_key(f, table, *in, n)) &&
             ok;
    }
    for (size_t i = 0; i < table->count; i++) {
        const struct key *key = &table->keys[i];
        const struct yaml *n = get(map, key->name);
        if (key->later && n && is_in(key, *in))
            ok = read_value(f, key, n, out) && ok;
    }
    return ok;
}

/* Has the mapping an unknown key that is this one, misspelt? */
static bool is_misspelt(const struct yaml *map, const struct table *table,
                        unsigned in, const struct key *key)
{
    const char *names[MOST_WORDS];
    size_t n = key_names(table, in, names);
    for (const struct yaml *c = map->first; c; c = c->next) {
        const char *near =
            find_key(table, c->key, in) ? NULL : lab_nearest(c->key, names, n);
        if (near && strcmp(near, key->name) == 0)
            return true;
    }
    return false;
}

/* A key that is misspelt has its own finding, with the place. */
static void check_required(struct front *f, const struct yaml *map,
                           const struct table *table, unsigned in)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct key *key = &table->keys[i];
        if ((key->required & in) && !get(map, key->name) &&
            !is_misspelt(map, table, in, key))
            fail(f, map, LAB_E_PARSE,
                 "[lesson.key.missing] %s has no %s: add it", table->whole,
                 key->name);
    }
}

/* ---- about the lesson ---- */

static bool read_format(struct front *f, const struct yaml *node, void *field)
{
    int64_t format = 0;
    (void)field;
    if (!take_int(f, node, 1, INT64_MAX, &format))
        return false;
    return format == 1 ||
           fail(f, node, LAB_E_PARSE,
                "[lesson.format] format %lld: this program reads format 1; a "
                "newer version of it may read this lesson",
                (long long)format);
}

static bool keep_title(struct front *f, const struct yaml *node, void *field)
{
    (void)field;
    f->lesson->title_place = at_key(node);
    f->spec->title = f->lesson->title;
    return true;
}

static bool keep_precision(struct front *f, const struct yaml *node,
                           void *field)
{
    (void)field;
    f->spec->precision_place = node->at;
    return true;
}

static bool keep_order(struct front *f, const struct yaml *node, void *field)
{
    (void)field;
    f->lesson->order_place = at_key(node);
    return true;
}

static bool read_prerequisites(struct front *f, const struct yaml *node,
                               void *field)
{
    enum { MOST = 64 };
    struct lab_lesson *lesson = field;
    size_t n = (size_t)node->count;
    if (node->count > MOST)
        return fail(f, node, LAB_E_RANGE,
                    "[lesson.prerequisites.count] more than %d prerequisites",
                    MOST);
    const char **ids = lab_arena_array(f->arena, n, sizeof(*ids));
    struct lab_place *places = lab_arena_array(f->arena, n, sizeof(*places));
    if (!has_memory(f, ids && places))
        return false;
    lesson->prerequisites = ids;
    lesson->prerequisite_places = places;
    for (const struct yaml *c = node->first; c; c = c->next) {
        int i = lesson->n_prerequisites;
        if (!take_text(f, c, TITLE_BYTES, &ids[i]))
            return false;
        places[i] = c->at;
        lesson->n_prerequisites++;
    }
    return true;
}

static bool read_run(struct front *f, const struct yaml *node, void *field)
{
    return read_map(f, node, &run_table, &everywhere, field) &&
           (!get(node, "iterations") != !get(node, "epochs") ||
            fail(f, node, LAB_E_PARSE,
                 "[lesson.run.iterations-epochs] run has iterations or epochs, "
                 "one of the two"));
}

/* ---- names of nodes and tensors ---- */

/* The names of the network's nodes and, with `tensors`, of its data. */
static const char **known_names(struct front *f, bool tensors, size_t *count)
{
    const struct lab_network_spec *s = f->spec;
    const char *more = lab_data_source_more(s->data.source);
    size_t n = 0;
    const char **names = lab_arena_array(
        f->tree, (size_t)s->n_nodes + (size_t)s->data.n_tensors + 2,
        sizeof(*names));
    if (!has_memory(f, names != NULL))
        return NULL;
    for (int i = 0; i < s->n_nodes; i++) {
        if (s->nodes[i].id)
            names[n++] = s->nodes[i].id;
    }
    for (int i = 0; tensors && i < s->data.n_tensors; i++)
        names[n++] = s->data.tensors[i].name;
    if (tensors && s->data.source != LAB_DATA_INLINE)
        names[n++] = "x";
    if (tensors && more)
        names[n++] = more;
    *count = n;
    return names;
}

/* Is it the id of a node, or does it begin with one, as "fc1.W.grad" does? */
static bool has_node(const struct lab_network_spec *spec, const char *name)
{
    for (int i = 0; i < spec->n_nodes; i++) {
        const char *id = spec->nodes[i].id;
        size_t len = id ? strlen(id) : 0;
        if (len > 0 && strncmp(name, id, len) == 0 &&
            (name[len] == '\0' || name[len] == '.'))
            return true;
    }
    return false;
}

static bool check_node(struct front *f, struct lab_place place,
                       const char *name)
{
    size_t count = 0;
    if (f->spec->n_nodes == 0 || has_node(f->spec, name))
        return true;
    const char **names = known_names(f, false, &count);
    const char *id = lab_arena_text(f->tree, name, strcspn(name, "."));
    return has_memory(f, names && id) &&
           fail_unknown(f, place, "node", id, names, count);
}

static bool has_tensor(const struct lab_data_spec *d, const char *name,
                       size_t len)
{
    for (int i = 0; i < d->n_tensors; i++) {
        const char *own = d->tensors[i].name;
        if (strlen(own) == len && strncmp(own, name, len) == 0)
            return true;
    }
    return false;
}

/* The name of a tensor or step: of the data, of the loss or of a node. Update
 * steps are named like parameters. */
static bool check_name(struct front *f, const struct yaml *node, void *field)
{
    const char *name = node->text;
    size_t len = strcspn(name, ".");
    (void)field;
    return (len == 1 && (*name == 'x' || *name == 'y')) ||
           (len == 4 && strncmp(name, "loss", 4) == 0) ||
           has_tensor(&f->spec->data, name, len) ||
           check_node(f, node->at, name);
}

/* A letter, then letters and characters of `rest`. */
static bool is_word(const char *s, const char *rest)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    if (!*s || !strchr(letters, *s))
        return false;
    while (*s && (strchr(letters, *s) || strchr(rest, *s)))
        s++;
    return !*s;
}

/* ---- tensors ---- */

/* Reading nested lists: the shape is that of the first elements, and every
 * other list must have the same length at its depth. */
struct nest {
    struct front *f;
    const char *name;
    struct lab_tensor_spec *out;
    int64_t filled;
    int64_t at[LAB_MAX_RANK];
};

static bool take_element(struct front *f, const struct yaml *node, double *out,
                         bool *integers)
{
    if (!take_number(f, node, out))
        return false;
    *integers = *integers && number_of(node) == WHOLE;
    return fabs(*out) <= FLT_MAX || fail(f, node, LAB_E_RANGE,
                                         "[lesson.tensor.not-finite] %s is Inf "
                                         "in single precision: at most 3.4e38",
                                         node->text);
}

static void position(const struct nest *n, int depth, char *buf, size_t size)
{
    size_t len = (size_t)snprintf(buf, size, "%.*s", TENSOR_BYTES, n->name);
    for (int i = 0; i < depth && len < size; i++)
        len += (size_t)snprintf(buf + len, size - len, "[%lld]",
                                (long long)n->at[i]);
}

static bool fill_nest(struct nest *n, const struct yaml *node, int depth)
{
    char where[320];
    struct front *f = n->f;
    const struct lab_shape *shape = &n->out->shape;
    bool list = node->kind == YAML_LIST;
    if (depth == shape->rank && !list)
        return take_element(f, node, &n->out->values[n->filled++],
                            &n->out->integers);
    if (depth < shape->rank && list && node->count == shape->dim[depth]) {
        bool ok = true;
        n->at[depth] = 0;
        for (const struct yaml *c = node->first; c && ok; c = c->next) {
            ok = fill_nest(n, c, depth + 1);
            n->at[depth]++;
        }
        return ok;
    }
    position(n, depth, where, sizeof(where));
    if (depth == shape->rank)
        return fail(f, node, LAB_E_SHAPE,
                    "[lesson.tensor.ragged-list] ragged: a list at %s, where "
                    "the first element is a number",
                    where);
    if (!list)
        return fail(f, node, LAB_E_SHAPE,
                    "[lesson.tensor.ragged-number] ragged: %s is no list, the "
                    "first one is a list of %lld",
                    where, (long long)shape->dim[depth]);
    return fail(f, node, LAB_E_SHAPE,
                "[lesson.tensor.ragged-length] ragged: %s is %lld long, the "
                "first one %lld",
                where, (long long)node->count, (long long)shape->dim[depth]);
}

static bool read_nested(struct front *f, const struct yaml *node,
                        struct lab_tensor_spec *out)
{
    struct nest n = {.f = f, .name = node->key, .out = out};
    struct lab_shape *shape = &out->shape;
    for (const struct yaml *c = node; c && c->kind == YAML_LIST; c = c->first) {
        if (c->count == 0)
            return fail(f, c, LAB_E_SHAPE,
                        "[lesson.tensor.empty] an empty list: a tensor has at "
                        "least one element");
        if (shape->rank == LAB_MAX_RANK)
            return fail(f, c, LAB_E_SHAPE,
                        "[lesson.tensor.dimensions] more than %d dimensions",
                        LAB_MAX_RANK);
        shape->dim[shape->rank++] = c->count;
    }
    enum lab_status st = lab_shape_count(shape, &out->count);
    if (st)
        return fail(f, node, st, "%s", lab_error());
    /* Ragged lists may promise far more than the file holds. */
    if (out->count > LAB_SOURCE_MAX_BYTES)
        return fail(f, node, LAB_E_SHAPE,
                    "[lesson.tensor.ragged-total] ragged: the first lists "
                    "promise %lld elements",
                    (long long)out->count);
    out->values = lab_arena_array(f->arena, (size_t)out->count, sizeof(double));
    out->integers = true;
    return has_memory(f, out->values != NULL) && fill_nest(&n, node, 0);
}

/* The dimensions of a tensor, or an index into one. */
static bool read_shape(struct front *f, const struct yaml *node, int64_t least,
                       struct lab_shape *out)
{
    if (!want(f, node, YAML_LIST, "a list of whole numbers"))
        return false;
    if (node->count < 1 || node->count > LAB_MAX_RANK)
        return fail(f, node, LAB_E_SHAPE,
                    "[lesson.shape.dimensions] %lld numbers: a tensor has 1 to "
                    "%d dimensions",
                    (long long)node->count, LAB_MAX_RANK);
    for (const struct yaml *c = node->first; c; c = c->next) {
        if (!take_int(f, c, least, INT64_MAX, &out->dim[out->rank++]))
            return false;
    }
    return true;
}

/* A tensor that cannot be held is refused before anything is taken for it. */
static bool check_memory(struct front *f, const struct yaml *node,
                         int64_t count)
{
    enum { ALWAYS_THERE = 1 << 20 }; /* the limit costs three files to read */
    double need = (double)count * sizeof(float);
    if (count <= ALWAYS_THERE)
        return true;
    double has = (double)lab_host_memory();
    return has == 0 || need <= has ||
           fail(f, node, LAB_E_SHAPE,
                "[lesson.tensor.memory] %lld elements take %s; this "
                "machine has %s: make the tensor smaller",
                (long long)count, LAB_SIZE_TEXT(need), LAB_SIZE_TEXT(has));
}

static bool read_values(struct front *f, const struct yaml *node,
                        struct lab_tensor_spec *out)
{
    char text[LAB_SHAPE_TEXT];
    if (!want(f, node, YAML_LIST, "a flat list"))
        return false;
    if (node->count != out->count)
        return fail(f, node, LAB_E_SHAPE,
                    "[lesson.tensor.count] %lld values for the shape %s, which "
                    "has %lld elements",
                    (long long)node->count, lab_shape_text(&out->shape, text),
                    (long long)out->count);
    double *value =
        lab_arena_array(f->arena, (size_t)out->count, sizeof(double));
    out->values = value;
    bool ok = has_memory(f, value != NULL);
    for (const struct yaml *c = node->first; c && ok; c = c->next)
        ok = take_element(f, c, value++, &out->integers);
    return ok;
}

static bool read_shaped(struct front *f, const struct yaml *node,
                        struct lab_tensor_spec *out)
{
    const struct yaml *shape = get(node, "shape");
    const struct yaml *values = get(node, "values");
    const struct yaml *fill = get(node, "fill");
    if (!read_map(f, node, &tensor_table, &everywhere, out))
        return false;
    if (!shape || !values == !fill)
        return fail(f, node, LAB_E_PARSE,
                    "[lesson.tensor.form] a tensor has a shape and either "
                    "values or fill");
    if (!read_shape(f, shape, 1, &out->shape))
        return false;
    enum lab_status st = lab_shape_count(&out->shape, &out->count);
    if (st)
        return fail(f, shape, st, "%s", lab_error());
    out->integers = true;
    if (!check_memory(f, shape, out->count))
        return false;
    return values ? read_values(f, values, out)
                  : take_element(f, fill, &out->fill, &out->integers);
}

/* ---- tensors of texts ---- */

static bool read_texts(struct front *f, const struct yaml *node, void *field)
{
    struct wording *w = field;
    if (node->count == 0)
        return fail(
            f, node, LAB_E_SHAPE,
            "[lesson.texts.empty] an empty list: at least one text is needed");
    w->texts = lab_arena_array(f->tree, (size_t)node->count, sizeof(*w->texts));
    bool ok = has_memory(f, w->texts != NULL);
    for (const struct yaml *c = node->first; c && ok; c = c->next) {
        ok = want_text(f, c, LAB_SOURCE_MAX_BYTES);
        w->texts[w->n++] = c->text;
    }
    return ok;
}

static bool read_wording(struct front *f, const struct yaml *node,
                         struct wording *w)
{
    const struct yaml *of_ids = NULL;
    const struct yaml *of_rule = NULL;
    if (!read_map(f, node, &words_table, &everywhere, w))
        return false;
    for (const struct yaml *n = node->first; n; n = n->next) {
        unsigned in = find_key(&words_table, n->key, everywhere)->in;
        of_ids = in == OF_IDS ? n : of_ids;
        of_rule = in == OF_VOCABULARY ? n : of_rule;
    }
    if (of_ids && w->form != FORM_IDS)
        return fail_key(f, of_ids, LAB_E_PARSE,
                        "[lesson.texts.ids-key] %s goes with form: ids",
                        of_ids->key);
    return !of_rule || !f->spec->data.words ||
           fail_key(f, of_rule, LAB_E_PARSE,
                    "[lesson.texts.first-key] %s belongs to the first tensor "
                    "with texts, which makes the vocabulary",
                    of_rule->key);
}

/* A column for every number but that of the padding. */
static void fill_columns(const struct wording *w, const int32_t *ids, int64_t n,
                         double *row)
{
    for (int64_t k = 0; k < n; k++) {
        double *element = &row[ids[k] - 1];
        *element = w->form == FORM_COUNTS ? *element + 1 : 1;
    }
}

static bool fill_words(struct front *f, struct wording *w,
                       const struct yaml *node, int32_t **ids, const int64_t *n,
                       struct lab_tensor_spec *out)
{
    bool is_ids = w->form == FORM_IDS;
    int64_t longest = 1;
    for (int64_t i = 0; i < w->n; i++)
        longest = n[i] > longest ? n[i] : longest;
    if (w->pad.length == 0)
        w->pad.length = longest;
    int64_t columns = is_ids ? w->pad.length : f->spec->data.words->n - 1;
    out->shape = (struct lab_shape){2, {w->n, columns}};
    enum lab_status st = lab_shape_count(&out->shape, &out->count);
    if (!st && out->count > LAB_SOURCE_MAX_BYTES * 8)
        st = lab_fail(
            LAB_E_SHAPE,
            "[lesson.texts.count] %lld texts of %lld numbers are too many",
            (long long)w->n, (long long)columns);
    if (st)
        return fail(f, node, st, "%s", lab_error());
    out->values = lab_arena_array(f->arena, (size_t)out->count, sizeof(double));
    if (!has_memory(f, out->values != NULL))
        return false;
    for (int64_t i = 0; i < w->n; i++) {
        double *row = out->values + i * columns;
        if (is_ids)
            lab_vocabulary_pad(ids[i], n[i], &w->pad, row);
        else
            fill_columns(w, ids[i], n[i], row);
    }
    out->integers = true;
    out->words = is_ids ? LAB_WORD_IDS : LAB_WORD_COLUMNS;
    return true;
}

/* Numbers the words of every text and fills the tensor with them. */
static bool number_words(struct front *f, struct wording *w,
                         const struct yaml *node, struct lab_tensor_spec *out)
{
    int32_t **ids = lab_alloc_array((size_t)w->n, sizeof(*ids));
    int64_t *n = lab_alloc_array((size_t)w->n, sizeof(*n));
    bool ok = has_memory(f, ids && n);
    for (int64_t i = 0; i < w->n && ok; i++)
        ok = has_memory(
            f, !lab_encode(f->spec->data.words, w->texts[i], &ids[i], &n[i]));
    ok = ok && fill_words(f, w, node, ids, n, out);
    for (int64_t i = 0; ids && i < w->n; i++)
        lab_free(ids[i]);
    lab_free(ids);
    lab_free(n);
    return ok;
}

static bool read_words(struct front *f, const struct yaml *node,
                       struct lab_tensor_spec *out)
{
    struct lab_data_spec *d = &f->spec->data;
    struct wording w = {.rule = {.unknown = true}};
    if (!read_wording(f, node, &w))
        return false;
    enum lab_status st = d->words ? LAB_OK
                                  : lab_vocabulary_make(&d->words, w.texts,
                                                        (size_t)w.n, &w.rule);
    if (st && has_memory(f, st != LAB_E_NOMEM))
        fail(f, node, st, "%s", lab_error());
    return !st && number_words(f, &w, node, out);
}

/* The tensor under a key; with `texts` it may be made of texts. */
static bool read_tensor(struct front *f, const struct yaml *node,
                        struct lab_tensor_spec *out, bool texts)
{
    out->place = at_key(node);
    if (node->kind == YAML_LIST)
        return read_nested(f, node, out);
    if (node->kind == YAML_MAP)
        return texts && get(node, "texts") ? read_words(f, node, out)
                                           : read_shaped(f, node, out);
    return want(f, node, YAML_LIST,
                "a tensor (nested lists, or shape with values or fill)");
}

/* ---- data ---- */

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

/* A path starts at the lesson's directory. */
static bool join_path(struct front *f, const struct yaml *node, void *field)
{
    const char **path = field;
    const char *lesson = f->lesson->path;
    const char *slash = strrchr(lesson, '/');
    struct lab_str joined;
    f->spec->data.path_leaves = leaves(*path);
    if (node->text[0] == '/' || !slash)
        return true;
    lab_str_init(&joined);
    lab_str_addf(&joined, "%.*s/%s",
                 slash == lesson ? 1 : (int)(slash - lesson), lesson, *path);
    bool ok = has_memory(f, !joined.failed) &&
              keep_text(f, lab_str_text(&joined), path);
    lab_str_release(&joined);
    return ok;
}

static bool read_split(struct front *f, const struct yaml *node, void *field)
{
    double *share = field;
    return take_number(f, node, share) &&
           ((*share > 0 && *share <= 1) ||
            fail(f, node, LAB_E_RANGE,
                 "[lesson.data.split] split: %s is not above 0 and at most 1: "
                 "it is the share that trains",
                 node->text));
}

static bool read_validation(struct front *f, const struct yaml *node,
                            void *field)
{
    double *share = field;
    return take_number(f, node, share) &&
           ((*share > 0 && *share < 1) ||
            fail(f, node, LAB_E_RANGE,
                 "[lesson.data.validation] validation: %s is not above 0 and "
                 "below 1: it is the share of all samples",
                 node->text));
}

/* A tensor of inline data, under its name. */
static bool read_data_tensor(struct front *f, const struct yaml *node,
                             void *field)
{
    struct lab_data_spec *d = field;
    const char *name = node->key;
    if (!is_word(name, "0123456789-") || strlen(name) > NAME_BYTES)
        return fail_key(f, node, LAB_E_PARSE,
                        "[lesson.tensor.name] %.40s cannot name a tensor: a "
                        "letter or _, then letters, digits, - and _, at most "
                        "%d",
                        name, NAME_BYTES);
    if (strcmp(name, "loss") == 0)
        return fail_key(f, node, LAB_E_PARSE,
                        "[lesson.tensor.name-loss] loss is the name of the "
                        "loss: give this tensor another");
    struct lab_tensor_spec *t = &d->tensors[d->n_tensors];
    d->n_tensors++;
    return keep_text(f, name, &t->name) && read_tensor(f, node, t, true);
}

/* A key that the source does not have. */
static bool read_data_other(struct front *f, const struct yaml *node,
                            void *field)
{
    struct lab_data_spec *d = field;
    const struct key *key = find_key(&data_table, node->key, everywhere);
    const char *source = lab_data_source_name(d->source);
    struct lab_str list;
    if (!key && d->source == LAB_DATA_INLINE && node->kind != YAML_SCALAR)
        return read_data_tensor(f, node, field);
    if (!key)
        return unknown_key(f, &data_table, 1u << d->source, node);
    if (key->read == read_data_tensor)
        return fail_key(f, node, LAB_E_PARSE,
                        "[lesson.data.inline-key] %s goes with source: inline; "
                        "%s brings its own",
                        node->key, source);
    lab_str_init(&list);
    for (size_t i = 0; i < LAB_DATA_SOURCE_COUNT; i++) {
        if (key->in & (1u << i))
            lab_str_addf(&list, "%s%s", list.len ? ", " : "", source_word(i));
    }
    if (has_memory(f, !list.failed))
        fail_key(
            f, node, LAB_E_PARSE,
            "[lesson.data.key] %s does not go with source: %s; it goes with %s",
            node->key, source, lab_str_text(&list));
    lab_str_release(&list);
    return false;
}

static bool read_data(struct front *f, const struct yaml *node, void *field)
{
    struct lab_data_spec *d = field;
    const struct yaml *source = get(node, "source");
    d->place = at_key(node);
    d->tensors =
        lab_arena_array(f->arena, (size_t)node->count, sizeof(*d->tensors));
    if (!has_memory(f, d->tensors != NULL))
        return false;
    if (source && !read_value(f, &data_keys[0], source, d))
        return false; /* the other keys depend on it */
    unsigned in = 1u << d->source;
    if (!read_map(f, node, &data_table, &in, d) || f->found->errors > 0)
        return false;
    if (d->source == LAB_DATA_INLINE && !has_tensor(d, "y", 1))
        return fail(f, node, LAB_E_PARSE,
                    "[lesson.data.no-y] inline data has no y, which the loss "
                    "compares with: add y");
    return d->path ||
           (d->source != LAB_DATA_CSV && d->source != LAB_DATA_WORDS) ||
           fail(f, node, LAB_E_PARSE,
                "[lesson.data.path] source: %s needs the path of its file",
                lab_data_source_name(d->source));
}

/* ---- ops and their keys ---- */

/* Whole numbers of an op: one for all dimensions, or a list. */
static bool read_ints(struct front *f, const struct yaml *node,
                      const struct lab_key_def *def, struct lab_attr *attr)
{
    int64_t least = limit(def->min);
    int64_t most = most_of(def->min, def->max);
    attr->n = def->max_items;
    if (node->kind == YAML_SCALAR) {
        bool ok = take_int(f, node, least, most, &attr->list[0]);
        for (int i = 1; i < attr->n; i++)
            attr->list[i] = attr->list[0];
        return ok;
    }
    if (!want(f, node, YAML_LIST, "a whole number or a list of them"))
        return false;
    if (node->count != def->max_items && def->min_items == def->max_items)
        return fail(
            f, node, LAB_E_PARSE,
            "[lesson.list.length] %s: a list of %lld; it takes %d numbers",
            def->name, (long long)node->count, def->max_items);
    if (node->count < def->min_items || node->count > def->max_items)
        return fail(f, node, LAB_E_PARSE,
                    "[lesson.list.lengths] %s: a list of %lld; it takes %d to "
                    "%d numbers",
                    def->name, (long long)node->count, def->min_items,
                    def->max_items);
    attr->n = 0;
    for (const struct yaml *c = node->first; c; c = c->next) {
        if (!take_int(f, c, least, most, &attr->list[attr->n++]))
            return false;
    }
    return true;
}

/* The value of an op's key: its table is the op's (engine/op.h). */
static bool read_attr(struct front *f, const struct yaml *node,
                      const struct lab_key_def *def, struct lab_attr *attr)
{
    static const struct key as[] = {
        [LAB_KEY_INT] = {"", VALUE_INT, FIELD(lab_attr, i)},
        [LAB_KEY_FLOAT] = {"", VALUE_NUMBER, FIELD(lab_attr, f)},
        [LAB_KEY_BOOL] = {"", VALUE_BOOL, FIELD(lab_attr, b)},
        [LAB_KEY_CHOICE] = {"", VALUE_CHOICE, FIELD(lab_attr, choice)},
        [LAB_KEY_PADDING] = {"", VALUE_CHOICE, FIELD(lab_attr, choice)},
    };
    attr->set = true;
    attr->line = node->at.line;
    attr->column = node->at.column;
    if (def->type == LAB_KEY_INTS)
        return read_ints(f, node, def, attr);
    if (def->type == LAB_KEY_PADDING && number_of(node) != NO_NUMBER) {
        attr->choice = -1;
        return take_int(f, node, 0, 1 << 20, &attr->i);
    }
    struct key key = as[def->type];
    key.name = def->name;
    key.min = def->min;
    key.max = def->choices ? 0 : def->max;
    key.open_max = def->open_max;
    key.words = def->choices;
    return read_value(f, &key, node, attr);
}

static bool unknown_op(struct front *f, const struct yaml *node,
                       enum lab_op_kind kind)
{
    int count = 0;
    size_t n = 0;
    const struct lab_op_def *const *table = lab_op_table(&count);
    const char **names =
        lab_arena_array(f->tree, (size_t)count, sizeof(*names));
    if (!has_memory(f, names != NULL))
        return false;
    for (int i = 0; i < count; i++) {
        if (table[i]->internal)
            continue;
        if (table[i]->kind == kind)
            names[n++] = table[i]->name;
        else if (strcmp(table[i]->name, node->text) == 0)
            return fail(f, node, LAB_E_PARSE,
                        "[lesson.op.place] %s belongs under %s", node->text,
                        op_kinds[table[i]->kind]);
    }
    return fail_unknown(f, node->at, "op", node->text, names, n);
}

static bool read_op(struct front *f, const struct yaml *node,
                    enum lab_op_kind kind, struct lab_node_spec *out)
{
    const struct yaml *op = get(node, "op");
    out->place = node->at;
    if (!op)
        return fail(f, node, LAB_E_PARSE,
                    "[lesson.op.missing] no op: name one, as in %s",
                    kind == LAB_KIND_LAYER  ? "{op: relu}"
                    : kind == LAB_KIND_LOSS ? "{op: mse}"
                                            : "{op: sgd}");
    if (!want_text(f, op, NAME_BYTES))
        return false;
    const struct lab_op_def *def = lab_op_find(op->text, kind);
    if (!def || def->internal)
        return unknown_op(f, op, kind);
    out->op = def;
    lab_op_defaults(def, out->attr);
    return true;
}

static bool unknown_op_key(struct front *f, const struct yaml *node,
                           const struct lab_op_def *op)
{
    const char *names[LAB_MAX_KEYS + COUNT(node_keys)];
    char what[96];
    size_t n = 0;
    for (int i = 0; i < op->n_keys; i++)
        names[n++] = op->keys[i].name;
    n += key_names(&node_table, 1u << op->kind, names + n);
    snprintf(what, sizeof(what), "key of %s:", op->name);
    return fail_unknown(f, at_key(node), what, node->key, names, n);
}

/* The op's own keys. */
static void read_op_keys(struct front *f, const struct yaml *node,
                         struct lab_node_spec *out)
{
    const struct lab_op_def *op = out->op;
    bool strange = false; /* a misspelt key may be the one that is missing */
    for (const struct yaml *n = node->first; n; n = n->next) {
        if (find_key(&node_table, n->key, 1u << op->kind))
            continue;
        int key = lab_op_key(op, n->key);
        strange = strange || key < 0;
        if (key < 0)
            unknown_op_key(f, n, op);
        else
            read_attr(f, n, &op->keys[key], &out->attr[key]);
    }
    for (int i = 0; i < op->n_keys; i++) {
        if (op->keys[i].required && !out->attr[i].set && !strange)
            fail(f, node, LAB_E_PARSE, "[lesson.op.key-missing] %s needs %s",
                 op->name, op->keys[i].name);
    }
}

/* The loss or the optimizer. */
static bool read_single(struct front *f, const struct yaml *node, void *field)
{
    bool loss = field == &f->spec->loss;
    if (!read_op(f, node, loss ? LAB_KIND_LOSS : LAB_KIND_OPTIMIZER, field))
        return false;
    read_op_keys(f, node, field);
    return true;
}

/* ---- the network ---- */

static bool is_tensor(const struct lab_network_spec *spec, const char *name)
{
    const char *more = lab_data_source_more(spec->data.source);
    return strcmp(name, "x") == 0 || strcmp(name, "y") == 0 ||
           strcmp(name, "loss") == 0 || (more && strcmp(name, more) == 0) ||
           has_tensor(&spec->data, name, strlen(name));
}

/* The first of nodes[first .. end) with that id, or NULL. */
static const struct lab_node_spec *find_id(const struct lab_network_spec *s,
                                           int first, int end, const char *id)
{
    for (int i = first; i < end; i++) {
        if (s->nodes[i].id && strcmp(s->nodes[i].id, id) == 0)
            return &s->nodes[i];
    }
    return NULL;
}

/* `node` is where the id is written, or the node when it was made up. */
static bool check_id(struct front *f, const struct yaml *node, int index)
{
    const struct lab_network_spec *s = f->spec;
    const char *id = s->nodes[index].id;
    const struct lab_node_spec *other = find_id(s, 0, index, id);
    if (!is_word(id, "0123456789-"))
        return fail(f, node, LAB_E_PARSE,
                    "[lesson.id.form] %.40s cannot be an id: a letter or _, "
                    "then letters, digits, - and _",
                    id);
    if (is_tensor(s, id))
        return fail(f, node, LAB_E_PARSE,
                    "[lesson.id.tensor] the id %s is the name of a tensor "
                    "already: choose another",
                    id);
    return !other || fail(f, node, LAB_E_PARSE,
                          "[lesson.id.twice] two nodes have the id %s, here "
                          "and in line %d, column %d",
                          id, other->place.line, other->place.column);
}

/* "relu2" for the second relu of the network, named or not. */
static bool make_id(struct front *f, int index)
{
    struct lab_node_spec *out = &f->spec->nodes[index];
    int ordinal = 1;
    for (int i = 0; i < index; i++)
        ordinal += f->spec->nodes[i].op == out->op;
    char id[TENSOR_BYTES];
    snprintf(id, sizeof(id), "%s%d", out->op->name, ordinal);
    return keep_text(f, id, &out->id);
}

static bool check_input(struct front *f, const struct yaml *node, int index)
{
    const struct lab_network_spec *s = f->spec;
    const char *name = node->text;
    size_t count = 0;
    if (find_id(s, 0, index, name))
        return true;
    if (find_id(s, index, s->n_nodes, name))
        return fail(f, node, LAB_E_PARSE,
                    "[lesson.from.later] %s does not stand before this node: a "
                    "node reads what earlier ones made",
                    name);
    const char **names = known_names(f, true, &count);
    if (!names)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return fail_unknown(f, node->at, "node or tensor", name, names, count);
}

static bool read_from(struct front *f, const struct yaml *node, int index)
{
    struct lab_node_spec *out = &f->spec->nodes[index];
    bool list = node->kind == YAML_LIST;
    int64_t count = list ? node->count : 1;
    out->from_place = node->at;
    if (count < 1 || count > LAB_STEP_IN)
        return fail(
            f, node, LAB_E_PARSE,
            "[lesson.from.count] from: a list of %lld; it takes 1 to %d names",
            (long long)count, LAB_STEP_IN);
    out->from = lab_arena_array(f->arena, (size_t)count, sizeof(*out->from));
    if (!has_memory(f, out->from != NULL))
        return false;
    const struct yaml *c = list ? node->first : node;
    for (int64_t i = 0; i < count; i++, c = c->next) {
        if (!take_text(f, c, NAME_BYTES, &out->from[out->n_from++]) ||
            !check_input(f, c, index))
            return false;
    }
    return true;
}

static bool check_inputs(struct front *f, const struct yaml *node, int index)
{
    const struct lab_node_spec *out = &f->spec->nodes[index];
    const struct lab_data_spec *d = &f->spec->data;
    const struct lab_op_def *op = out->op;
    int n = out->from ? out->n_from : 1;
    if (n < op->min_inputs || n > op->max_inputs) {
        char least[24] = "";
        if (op->min_inputs < op->max_inputs)
            snprintf(least, sizeof(least), "%d to ", op->min_inputs);
        return fail(f, node, LAB_E_PARSE,
                    "[lesson.from.inputs] %s takes %s%d input%s, not %d: name "
                    "them in from",
                    op->name, least, op->max_inputs,
                    op->max_inputs == 1 ? "" : "s", n);
    }
    return out->from || index > 0 || f->found->errors ||
           d->source != LAB_DATA_INLINE || has_tensor(d, "x", 1) ||
           fail(f, node, LAB_E_PARSE,
                "[lesson.from.no-x] the first node reads x, and the data has "
                "none: add x, or name it with from");
}

/* First round: what every node is and how it is called, so that the second
 * can tell an unknown name from one that comes too late. */
static bool name_node(struct front *f, const struct yaml *node, int index)
{
    struct lab_node_spec *out = &f->spec->nodes[index];
    const struct yaml *id = get(node, "id");
    if (!want(f, node, YAML_MAP,
              "a mapping, as in {id: fc1, op: dense, units: 3}"))
        return false;
    bool ok = read_op(f, node, LAB_KIND_LAYER, out);
    if (!id && !ok)
        return false;
    return (id ? take_text(f, id, NAME_BYTES, &out->id) : make_id(f, index)) &&
           check_id(f, id ? id : node, index) && ok;
}

static bool read_node(struct front *f, const struct yaml *node, int index)
{
    struct lab_node_spec *out = &f->spec->nodes[index];
    const struct yaml *from = get(node, "from");
    bool ok = !from || read_from(f, from, index);
    if (!out->op)
        return false;
    read_op_keys(f, node, out);
    return ok && check_inputs(f, node, index);
}

static bool read_network(struct front *f, const struct yaml *node, void *field)
{
    struct lab_network_spec *s = field;
    enum { MOST = 4096 };
    bool ok = true;
    if (node->count < 1 || node->count > MOST)
        return fail(f, node, LAB_E_PARSE,
                    "[lesson.network.count] %lld nodes: a network has 1 to %d",
                    (long long)node->count, MOST);
    s->nodes =
        lab_arena_array(f->arena, (size_t)node->count, sizeof(*s->nodes));
    if (!has_memory(f, s->nodes != NULL))
        return false;
    s->n_nodes = (int)node->count;
    int index = 0;
    for (const struct yaml *n = node->first; n; n = n->next)
        ok = name_node(f, n, index++) && ok;
    index = 0;
    for (const struct yaml *n = node->first; n; n = n->next)
        ok = read_node(f, n, index++) && ok;
    return ok;
}

/* ---- parameters, variants, watches, breakpoints, printed values ---- */

static bool read_parameter(struct front *f, const struct yaml *node, void *slot)
{
    struct lab_tensor_spec *out = slot;
    bool ok = check_node(f, at_key(node), node->key);
    return keep_text(f, node->key, &out->name) &&
           read_tensor(f, node, out, false) && ok;
}

static bool read_variant(struct front *f, const struct yaml *node, void *slot)
{
    struct lab_variant_spec *out = slot;
    const char *target = node->key;
    bool known = strcmp(target, "*") == 0 || strcmp(target, "loss") == 0 ||
                 lab_op_find(target, LAB_KIND_LAYER) ||
                 lab_op_find(target, LAB_KIND_LOSS) ||
                 lab_op_find(target, LAB_KIND_OPTIMIZER);
    out->place = at_key(node);
    return keep_text(f, target, &out->target) &&
           (known || check_node(f, at_key(node), target)) &&
           take_text(f, node, NAME_BYTES, &out->variant);
}

static bool read_watch(struct front *f, const struct yaml *node, void *field)
{
    struct lab_network_spec *s = field;
    size_t n = (size_t)node->count;
    struct lab_place *places = lab_arena_array(f->arena, n, sizeof(*places));
    s->watch = lab_arena_array(f->arena, n, sizeof(*s->watch));
    bool ok = has_memory(f, s->watch && places);
    f->lesson->watch_places = places;
    for (const struct yaml *c = ok ? node->first : NULL; c; c = c->next) {
        const char **name = &s->watch[s->n_watch];
        places[s->n_watch++] = c->at;
        ok =
            take_text(f, c, TENSOR_BYTES, name) && check_name(f, c, name) && ok;
    }
    return ok;
}

/* The bound of "loss > 2.5" as a scalar of its own, so that it is read like
 * every other number. */
static bool read_loss_bound(struct front *f, const struct yaml *node,
                            struct lab_break_spec *b)
{
    const char *s = node->text + strlen("loss");
    struct yaml number = *node;
    s += strspn(s, " ");
    if (*s != '>')
        return fail(
            f, node, LAB_E_PARSE,
            "[lesson.break.when] when: expected nan, inf or loss > NUMBER");
    number.text = s + 1 + strspn(s + 1, " ");
    number.len = strlen(number.text);
    number.plain = true;
    number.key = NULL;
    b->kind = LAB_BREAK_LOSS_ABOVE;
    return take_number(f, &number, &b->value);
}

static bool read_when(struct front *f, const struct yaml *node, void *field)
{
    static const char *const names[] = {"nan", "inf", "loss > NUMBER"};
    struct lab_break_spec *b = field;
    size_t which = 0;
    if (node->kind == YAML_SCALAR && strncmp(node->text, "loss", 4) == 0)
        return read_loss_bound(f, node, b);
    bool ok = take_choice(f, node, "condition", names, COUNT(names), &which);
    b->kind = which == 0 ? LAB_BREAK_NAN : LAB_BREAK_INF;
    return ok;
}

static bool read_break(struct front *f, const struct yaml *node, void *slot)
{
    struct lab_break_spec *b = slot;
    b->phase = -1;
    b->place = node->at;
    if (!want(f, node, YAML_MAP, "a mapping with step, phase or when") ||
        !read_map(f, node, &break_table, &everywhere, b))
        return false;
    bool when = get(node, "when") != NULL;
    if (when == (b->step || b->phase >= 0))
        return fail(f, node, LAB_E_PARSE,
                    "[lesson.break.empty] a breakpoint has a step, a phase, "
                    "both, or when alone");
    if (!when)
        b->kind = b->step ? LAB_BREAK_STEP : LAB_BREAK_PHASE;
    return true;
}

static bool read_at(struct front *f, const struct yaml *node, void *field)
{
    return read_shape(f, node, 0, field);
}

static bool read_printed_values(struct front *f, const struct yaml *node,
                                void *field)
{
    struct lab_course_values_spec *p = field;
    if (node->count == 0)
        return fail(f, node, LAB_E_PARSE,
                    "[lesson.printed.values] values: an empty list");
    p->values =
        lab_arena_array(f->arena, (size_t)node->count, sizeof(*p->values));
    bool ok = has_memory(f, p->values != NULL);
    for (const struct yaml *n = node->first; n && ok; n = n->next)
        ok = take_number(f, n, &p->values[p->n_values++]);
    return ok;
}

static bool keep_updated(struct front *f, const struct yaml *node, void *field)
{
    struct lab_course_values_spec *p = field;
    (void)f;
    p->updated = strcmp(node->text, lab_phase_name(LAB_UPDATE)) == 0;
    return true;
}

static bool read_printed(struct front *f, const struct yaml *node, void *slot)
{
    struct lab_course_values_spec *p = slot;
    p->tolerance = NAN; /* not given */
    p->place = node->at;
    return want(f, node, YAML_MAP, "a mapping with tensor and values") &&
           read_map(f, node, &printed_table, &everywhere, p) &&
           ((p->tensor && p->values) ||
            fail(f, node, LAB_E_PARSE,
                 "[lesson.printed.incomplete] a printed value needs a tensor "
                 "and values"));
}

/* ---- labs ---- */

const char *lab_measure_name(enum lab_measure m)
{
    return (unsigned)m < LAB_MEASURES ? measures[m] : "?";
}

/* LAB_MEASURES: not the name of a measure. */
static enum lab_measure find_measure(const struct yaml *node)
{
    int m = 0;
    while (m < LAB_MEASURES &&
           (node->kind != YAML_SCALAR || strcmp(node->text, measures[m]) != 0))
        m++;
    return (enum lab_measure)m;
}

static bool is_sweep(const struct yaml *root)
{
    const struct yaml *node = get(root, "measures");
    enum lab_measure m = node ? find_measure(node) : LAB_MEASURE_LADDER;
    return m >= LAB_MEASURE_BATCH && m < LAB_MEASURES;
}

static bool is_lab(const struct yaml *root)
{
    const struct yaml *kind = get(root, "kind");
    return kind && kind->kind == YAML_SCALAR && strcmp(kind->text, "lab") == 0;
}

static bool check_measures(struct front *f, const struct yaml *node,
                           void *field)
{
    (void)field;
    return f->lesson->lab.measures < LAB_MEASURE_BATCH || get(f->root, "of") ||
           fail(f, node, LAB_E_PARSE,
                "[lesson.lab.needs-of] %s is of a lesson: name it with of:",
                node->text);
}

static bool read_of(struct front *f, const struct yaml *node, void *field)
{
    struct lab_lesson_lab *lab = field;
    const struct yaml *measure = get(f->root, "measures");
    if (measure && find_measure(measure) == LAB_MEASURES)
        return false;
    if (lab->measures < LAB_MEASURE_BATCH)
        return fail(f, node, LAB_E_PARSE,
                    "[lesson.lab.of] of: belongs to measures: batch-size, "
                    "network-size, products or backward");
    if (!want(f, node, YAML_SCALAR, "the id of a lesson"))
        return false;
    lab->of_place = node->at;
    return keep_text(f, node->text, &lab->of);
}

/* An operation, or one of the first kernels (first/first.h), which has no
 * ladder to climb. */
static bool read_ladder(struct front *f, const struct yaml *node, void *field)
{
    static const char *const of_a_ladder[] = {"sizes", "cpu_sizes", "variants",
                                              "repeat"};
    const char *names[MOST_WORDS];
    const struct lab_variant *first;
    size_t n = 0;
    size_t which = 0;
    for (; n < MOST_WORDS && lab_operation_at((int)n); n++)
        names[n] = lab_operation_at((int)n)->name;
    size_t ladders = n;
    for (int i = 0; n < MOST_WORDS && (first = lab_cpu_variant("first", i));
         i++)
        names[n++] = first->name;
    if (f->kind == SWEEP && get(f->root, "of"))
        fail(f, node, LAB_E_PARSE,
             "[lesson.lab.ladder-key] %s is of a lesson, not of a ladder: "
             "leave lab out",
             get(f->root, "measures")->text);
    if (!take_choice(f, node, "lab", names, n, &which))
        return false;
    *(const char **)field = names[which];
    if (which < ladders) {
        f->ladder = lab_operation_at((int)which);
        return true;
    }
    f->kind = FIRST;
    for (size_t i = 0; i < COUNT(of_a_ladder); i++) {
        const struct yaml *key = get(f->root, of_a_ladder[i]);
        if (key)
            return fail(f, key, LAB_E_PARSE,
                        "[lesson.lab.kernel-key] %s is one kernel, not a "
                        "ladder: leave `%s` out",
                        names[which], of_a_ladder[i]);
    }
    return true;
}

static bool want_items(struct front *f, const struct yaml *node)
{
    return node->count > 0 ||
           fail(f, node, LAB_E_PARSE,
                "[lesson.list.empty] an empty list: leave it out, or name one");
}

/* A size of the ladder, or of a sweep: a batch or a width. */
static bool check_item_size(struct front *f, const struct yaml *node)
{
    const char *s = node->text;
    bool count = *s >= '1' && *s <= '9' && !s[digits(s)] && strlen(s) < 11 &&
                 strtoll(s, NULL, 10) <= LAB_COUNT_MAX;
    if (f->kind == SWEEP && !count)
        return fail(f, node, LAB_E_RANGE,
                    "[lesson.lab.number] '%s' is no whole number from 1 to %d",
                    s, LAB_COUNT_MAX);
    return check_size(f, node, NULL);
}

/* A list as one text with commas, as the command line has it. */
static bool read_items(struct front *f, const struct yaml *node, bool sizes,
                       const char **out)
{
    struct lab_str text;
    bool ok = want_items(f, node);
    lab_str_init(&text);
    for (const struct yaml *n = node->first; n && ok; n = n->next) {
        ok = want(f, n, YAML_SCALAR, sizes && f->ladder ? "a size" : "a name");
        if (ok && strchr(n->text, ','))
            ok = fail(f, n, LAB_E_PARSE,
                      "[lesson.lab.comma] '%s' holds a comma: make two of it",
                      n->text);
        ok = ok && (!sizes || check_item_size(f, n));
        lab_str_addf(&text, "%s%s", text.len ? "," : "", ok ? n->text : "");
    }
    ok = ok && has_memory(f, !text.failed) &&
         keep_text(f, lab_str_text(&text), out);
    lab_str_release(&text);
    return ok;
}

static bool read_sizes(struct front *f, const struct yaml *node, void *field)
{
    return (!f->ladder && f->kind != SWEEP) ||
           (want(f, node, YAML_LIST, "a list") &&
            read_items(f, node, true, field));
}

static bool read_variants(struct front *f, const struct yaml *node, void *field)
{
    f->lesson->lab.variants_place = node->at;
    return read_items(f, node, false, field);
}

static bool read_precisions(struct front *f, const struct yaml *node,
                            void *field)
{
    static const struct key key = {"precision", VALUE_CHOICE,
                                   .size = sizeof(int), .word = precision_word};
    bool ok = want_items(f, node);
    for (const struct yaml *n = node->first; n && ok; n = n->next) {
        int which = 0;
        ok = take_word(f, n, &key, &which);
        *(unsigned *)field |= 1u << which;
    }
    return ok;
}

static bool check_size(struct front *f, const struct yaml *node, void *field)
{
    struct lab_ladder_size size;
    (void)field;
    return !f->ladder ||
           !lab_ladder_size(f->ladder, node->text, node->len, &size) ||
           fail(f, node, LAB_E_RANGE, "%s", lab_error());
}

static bool read_slide(struct front *f, const struct yaml *node, void *slot)
{
    struct lab_lesson_slide *out = slot;
    out->value = NAN;
    out->place = node->at;
    if (!want(f, node, YAML_MAP,
              "a mapping with label, size, value, unit, machine, source"))
        return false;
    bool ok = read_map(f, node, &slide_table, &everywhere, out);
    check_required(f, node, &slide_table, LABS);
    return ok;
}

/* ---- the whole ---- */

void lab_front_read(struct lab_lesson *lesson, const struct lab_source *src,
                    struct lab_findings *found)
{
    struct lab_arena tree = {0};
    struct front f = {.lesson = lesson,
                      .spec = &lesson->spec,
                      .found = found,
                      .arena = &lesson->spec.memory,
                      .tree = &tree};
    f.root = read_yaml(found, &tree, src);
    if (f.root &&
        want(&f, f.root, YAML_MAP, "a mapping with format, title, ...")) {
        bool sweep = is_sweep(f.root);
        f.kind = !is_lab(f.root) ? LESSON : sweep ? SWEEP : LADDER;
        check_required(&f, f.root, &front_table, sweep ? SWEEP : f.kind);
        if (f.kind == LESSON) {
            if (!get(f.root, "data"))
                f.spec->data.source = LAB_DATA_DIGITS;
            f.spec->loss.id = "loss";
        }
        read_map(&f, f.root, &front_table, &f.kind, lesson);
    }
    lab_arena_release(&tree);
}

/* ---- documentation ---- */

static void add_value(struct lab_str *out, const struct key *key)
{
    const char *names[MOST_WORDS];
    size_t n = 0;
    if (key->value == VALUE_CHOICE || key->value == VALUE_WORD)
        n = words_of(key, names);
    for (size_t i = 0; i < n; i++)
        lab_str_addf(out, "%s`%s`", i ? ", " : "", names[i]);
    if (key->value == VALUE_INT || key->value == VALUE_NUMBER)
        lab_str_addf(out, "a %snumber",
                     key->value == VALUE_INT ? "whole " : "");
    if (key->value == VALUE_INT && key->max > key->min)
        lab_str_addf(out, ", %.0f to %.0f", key->min, key->max);
    else if (key->value == VALUE_INT ||
             (key->value == VALUE_NUMBER && !key->max))
        lab_str_addf(out, ", at least %.0f", key->min);
    if (key->value == VALUE_BOOL)
        lab_str_add(out, "true or false");
    if (key->value == VALUE_TEXT)
        lab_str_addf(out, "a text of at most %.0f bytes", key->max);
    if (key->expects)
        lab_str_add(out, key->expects);
}

/* Where a key is known: "all", "csv", "all but inline". */
static void add_where(struct lab_str *out, const struct table *table,
                      unsigned in)
{
    const char *with[32];
    const char *without[32];
    size_t n = 0;
    size_t rest = 0;
    for (unsigned bit = 1; bit; bit <<= 1) {
        const char *name = table->where(bit);
        if (name && (!in || (in & bit)))
            with[n++] = name;
        else if (name)
            without[rest++] = name;
    }
    bool most = n > rest + 1;
    lab_str_add(out, !rest ? "all" : most ? "all but " : "");
    for (size_t i = 0; rest && i < (most ? rest : n); i++)
        lab_str_addf(out, "%s%s", i ? ", " : "", most ? without[i] : with[i]);
    lab_str_add(out, " | ");
}

void lab_lesson_keys(struct lab_str *out)
{
    static const struct table *const tables[] = {
        &front_table, &run_table,   &data_table,    &tensor_table, &words_table,
        &node_table,  &break_table, &printed_table, &slide_table};
    for (size_t t = 0; t < COUNT(tables); t++) {
        const struct table *table = tables[t];
        lab_str_addf(out, "%s### %s\n\n| key | %svalue | default | meaning |\n",
                     t ? "\n" : "", table->title, table->where ? "of | " : "");
        lab_str_addf(out, "|-|-|-|-|%s\n", table->where ? "-|" : "");
        for (size_t i = 0; i < table->count; i++) {
            const struct key *key = &table->keys[i];
            lab_str_addf(out, "| `%s` | ", key->name);
            if (table->where)
                add_where(out, table, key->in);
            add_value(out, key);
            lab_str_addf(out, " | %s | %s |\n",
                         key->required   ? "required"
                         : key->fallback ? key->fallback
                                         : "",
                         key->doc);
        }
    }
}
