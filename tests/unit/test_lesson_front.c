/* All of format 1 arrives in the struct that the engine builds from. */
#include <locale.h>

#include "test.h"
#include "file.h"

#include "base/mem.h"
#include "lesson/lesson.h"

static const char whole[] = LAB_SOURCE_DIR "/tests/unit/lesson_whole.md";

static struct lab_lesson *load(const char *path)
{
    struct lab_lesson *lesson = NULL;
    if (lab_lesson_load(&lesson, path))
        print_error("%s\n", lab_error());
    assert_non_null(lesson);
    return lesson;
}

static struct lab_lesson *parse(const char *path, const char *text)
{
    struct lab_lesson *lesson = NULL;
    struct lab_findings found;
    lab_findings_init(&found);
    if (lab_lesson_parse(&lesson, path, text, strlen(text), &found))
        print_error("%s\n", lab_error());
    lab_findings_release(&found);
    assert_non_null(lesson);
    return lesson;
}

static const struct lab_node_spec *node(const struct lab_lesson *l,
                                        const char *id)
{
    for (int i = 0; i < l->spec.n_nodes; i++) {
        if (strcmp(l->spec.nodes[i].id, id) == 0)
            return &l->spec.nodes[i];
    }
    fail_msg("no node %s", id);
    return NULL;
}

static const struct lab_attr *attr(const struct lab_node_spec *n,
                                   const char *key)
{
    int i = lab_op_key(n->op, key);
    assert_true(i >= 0);
    return &n->attr[i];
}

TEST_CASE(about_the_lesson)
{
    struct lab_lesson *l = load(whole);
    assert_string_equal(l->id, "lesson_whole");
    assert_string_equal(l->title, "Every key: of format 1");
    assert_string_equal(l->summary, "Two lines of summary\n");
    assert_int_equal(l->order, 10);
    assert_int_equal(l->minutes, 20);
    assert_int_equal(l->n_prerequisites, 2);
    assert_string_equal(l->prerequisites[1], "dense-layer");
    assert_int_equal(l->prerequisite_places[1].line, 9);
    assert_int_equal(l->prerequisite_places[1].column, 26);
    assert_int_equal(l->spec.seed, 42);
    assert_int_equal(l->spec.layout, LAB_NHWC);
    assert_int_equal(l->spec.precision, LAB_BF16);
    assert_int_equal(l->spec.iterations, 100);
    assert_int_equal(l->spec.epochs, 0);
    assert_string_equal(l->spec.file, whole);
    lab_lesson_free(l);
}

TEST_CASE(inline_tensors)
{
    struct lab_lesson *l = load(whole);
    const struct lab_tensor_spec *t = l->spec.data.tensors;
    static const double x[] = {1, 2.5, -0.5, 3};
    assert_int_equal(l->spec.data.source, LAB_DATA_INLINE);
    assert_true(l->spec.data.gradient);
    assert_int_equal(l->spec.data.n_tensors, 4);
    assert_string_equal(t[0].name, "x");
    assert_int_equal(t[0].shape.rank, 2);
    assert_int_equal(t[0].count, 4);
    assert_memory_equal(t[0].values, x, sizeof(x));
    assert_false(t[0].integers);
    assert_true(t[1].integers);
    assert_int_equal(t[1].shape.rank, 1);
    assert_int_equal(t[2].shape.dim[1], 1);
    assert_true(t[2].values[0] == 1e-3 && t[2].values[1] == -2);
    assert_int_equal(t[3].count, 24);
    assert_null(t[3].values);
    assert_true(t[3].fill == 0.5);
    assert_int_equal(t[3].place.line, 17);
    assert_int_equal(t[3].place.column, 3);
    lab_lesson_free(l);
}

TEST_CASE(ids_and_inputs)
{
    struct lab_lesson *l = load(whole);
    assert_int_equal(l->spec.n_nodes, 28);
    assert_string_equal(l->spec.nodes[1].id, "relu1");
    assert_string_equal(l->spec.nodes[2].id, "relu2");
    assert_string_equal(l->spec.nodes[5].id, "conv2d2");
    assert_null(l->spec.nodes[1].from);
    assert_int_equal(node(l, "relu2")->n_from, 1);
    assert_int_equal(node(l, "block1-sum")->n_from, 2);
    assert_string_equal(node(l, "block1-sum")->from[1], "relu2");
    assert_string_equal(node(l, "embedding1")->from[0], "q");
    assert_int_equal(node(l, "relu2")->place.line, 22);
    assert_int_equal(node(l, "relu2")->from_place.line, 23);
    lab_lesson_free(l);
}

TEST_CASE(keys_of_ops)
{
    struct lab_lesson *l = load(whole);
    const struct lab_node_spec *conv = node(l, "conv2d1");
    assert_int_equal(attr(node(l, "fc1"), "units")->i, 3);
    assert_true(attr(node(l, "fc1"), "bias")->b);
    assert_false(attr(node(l, "fc1"), "bias")->set);
    assert_false(attr(node(l, "last"), "bias")->b);
    assert_int_equal(attr(conv, "kernel")->n, 2);
    assert_int_equal(attr(conv, "kernel")->list[1], 5);
    assert_int_equal(attr(conv, "stride")->list[0], 2);
    assert_int_equal(attr(conv, "stride")->list[1], 2);
    assert_int_equal(attr(conv, "padding")->choice, 0);
    assert_int_equal(attr(node(l, "conv2d2"), "padding")->choice, -1);
    assert_int_equal(attr(node(l, "conv2d2"), "padding")->i, 1);
    assert_int_equal(attr(node(l, "conv2d2"), "kernel")->list[1], 3);
    assert_int_equal(attr(node(l, "gelu1"), "approximate")->choice, 1);
    assert_true(attr(node(l, "dropout1"), "p")->f == 0.25);
    assert_int_equal(attr(node(l, "rnn1"), "return")->choice, 1);
    assert_true(attr(node(l, "transformer_block1"), "eps")->f == 1e-4);
    assert_string_equal(l->spec.loss.op->name, "mse");
    assert_string_equal(l->spec.loss.id, "loss");
    assert_int_equal(attr(&l->spec.loss, "reduction")->choice, 2);
    assert_string_equal(l->spec.optimizer.op->name, "adamw");
    assert_true(attr(&l->spec.optimizer, "beta2")->f == 0.99);
    lab_lesson_free(l);
}

TEST_CASE(how_it_runs)
{
    struct lab_lesson *l = load(whole);
    const struct lab_network_spec *s = &l->spec;
    assert_int_equal(s->n_parameters, 2);
    assert_string_equal(s->parameters[0].name, "fc1.W");
    assert_true(s->parameters[0].values[5] == 6);
    assert_null(s->parameters[1].values);
    assert_int_equal(s->n_variants, 3);
    assert_string_equal(s->variants[1].target, "relu");
    assert_string_equal(s->variants[1].variant, "naive");
    assert_int_equal(s->n_watch, 5);
    assert_string_equal(s->watch[1], "fc1.W.grad");
    assert_int_equal(s->n_breaks, 6);
    assert_int_equal(s->breaks[0].kind, LAB_BREAK_STEP);
    assert_int_equal(s->breaks[0].phase, LAB_BACKWARD);
    assert_int_equal(s->breaks[1].phase, -1);
    assert_int_equal(s->breaks[2].kind, LAB_BREAK_PHASE);
    assert_int_equal(s->breaks[3].kind, LAB_BREAK_NAN);
    assert_int_equal(s->breaks[4].kind, LAB_BREAK_INF);
    assert_int_equal(s->breaks[5].kind, LAB_BREAK_LOSS_ABOVE);
    assert_true(s->breaks[5].value == 2.5);
    assert_int_equal(s->n_printed, 2);
    assert_true(s->printed[0].tolerance == 2.5e-5);
    assert_true(isnan(s->printed[1].tolerance));
    assert_int_equal(s->printed[1].at.rank, 1);
    assert_int_equal(s->printed[1].at.dim[0], 1);
    assert_int_equal(s->printed[1].n_values, 2);
    assert_null(s->printed[1].where);
    lab_lesson_free(l);
}

#define SHORT                                                                  \
    "---\nformat: 1\ntitle: T\nnetwork: [{op: softmax}]\n"                     \
    "loss: {op: mse}\n"

TEST_CASE(what_is_left_out_has_a_default)
{
    struct lab_lesson *l = parse("dir/07-short.md", SHORT "---\n");
    assert_string_equal(l->id, "short");
    assert_string_equal(l->summary, "");
    assert_int_equal(l->order, LAB_LESSON_NO_ORDER);
    assert_int_equal(l->spec.data.source, LAB_DATA_DIGITS);
    assert_null(l->spec.optimizer.op);
    assert_int_equal(l->spec.precision, LAB_FP32);
    assert_int_equal(l->n_sections, 1);
    lab_lesson_free(l);
}

TEST_CASE(paths_start_at_the_lesson)
{
    struct lab_lesson *l = parse(
        "dir/a.md", SHORT "data: {source: csv, path: d/x.csv, label: 0, "
                          "header: true, scale: 0.0625, split: 1}\n---\n");
    assert_string_equal(l->spec.data.path, "dir/d/x.csv");
    assert_int_equal(l->spec.data.label_column, 0);
    assert_true(l->spec.data.header);
    assert_true(l->spec.data.scale == 0.0625);
    assert_true(l->spec.data.split == 1);
    lab_lesson_free(l);
    l = parse("a.md", SHORT "data: {source: mnist, path: /data/m, "
                            "shuffle: false, batch: 5}\n---\n");
    assert_string_equal(l->spec.data.path, "/data/m");
    assert_false(l->spec.data.shuffle);
    assert_int_equal(l->spec.data.batch, 5);
    lab_lesson_free(l);
    l = parse("a.md", SHORT "data: {source: text, path: t, context: 8}\n---\n");
    assert_string_equal(l->spec.data.path, "t");
    assert_int_equal(l->spec.data.context, 8);
    lab_lesson_free(l);
}

/* Windows' line ends and byte order mark are no mistakes. */
TEST_CASE(foreign_editors)
{
    struct lab_lesson *l =
        parse("a.md", "\xEF\xBB\xBF---\r\nformat: 1\r\ntitle: T\r\n"
                      "network: [{op: softmax}]\r\nloss: {op: mse}\r\n--- \r\n"
                      "Text.\r\n\r\n## node: softmax1\r\nMore.\r\n");
    assert_string_equal(l->title, "T");
    assert_int_equal(l->n_sections, 2);
    assert_string_equal(l->sections[1].name, "softmax1");
    assert_int_equal(l->sections[1].line, 9);
    lab_lesson_free(l);
}

/* A comma for the decimal point in the user's language changes nothing. */
TEST_CASE(numbers_do_not_depend_on_the_locale)
{
    char *old = lab_strdup(setlocale(LC_ALL, NULL));
    bool foreign = setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    struct lab_lesson *l = load(whole);
    assert_true(l->spec.data.tensors[0].values[1] == 2.5);
    lab_lesson_free(l);
    setlocale(LC_ALL, old);
    lab_free(old);
    if (!foreign)
        skip();
}

TEST_CASE(ids_come_from_file_names)
{
    static const char *const cases[][2] = {
        {"10-dense.md", "dense"},      {"a/b/07-x-y.md", "x-y"},
        {"dense.md", "dense"},         {"10-.md", "10-"},
        {"2024.md", "2024"},           {"3d-conv.md", "3d-conv"},
        {"/x/12-a.b.md", "a.b"},       {"readme", "readme"},
        {"10-20-third.md", "20-third"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct lab_str id;
        lab_str_init(&id);
        lab_lesson_id_of(cases[i][0], &id);
        assert_string_equal(lab_str_text(&id), cases[i][1]);
        lab_str_release(&id);
    }
}

TEST_CASE(findings_are_limited_and_counted)
{
    struct lab_str text;
    struct lab_findings found;
    struct lab_lesson *lesson = NULL;
    lab_str_init(&text);
    lab_findings_init(&found);
    lab_str_add(&text, SHORT);
    for (int i = 0; i < 300; i++)
        lab_str_addf(&text, "strange%d: 1\n", i);
    lab_str_add(&text, "---\n");
    assert_int_equal(
        lab_lesson_parse(&lesson, "a.md", text.data, text.len, &found),
        LAB_E_PARSE);
    assert_null(lesson);
    assert_int_equal(found.count, LAB_FINDINGS_MAX);
    assert_int_equal(found.errors, 300);
    assert_int_equal(found.skipped, 300 - LAB_FINDINGS_MAX);
    lab_findings_release(&found);
    lab_str_release(&text);
}

/* Whatever allocation fails, the answer is LAB_E_NOMEM and nothing is lost
 * (the sanitizer watches) or half made; with memory it is `want`. */
static void with_ever_more_memory(const char *path, enum lab_status want)
{
    bool ran_out = true;
    for (int64_t n = 1; ran_out; n++) {
        struct lab_lesson *lesson = NULL;
        lab_mem_fail_from(n);
        enum lab_status st = lab_lesson_load(&lesson, path);
        ran_out = lab_mem_count() >= n;
        lab_mem_fail_from(0);
        assert_int_equal(st, ran_out ? LAB_E_NOMEM : want);
        assert_true((st == LAB_OK) == (lesson != NULL));
        assert_in_range(n, ran_out ? 1 : 30, 99999);
        lab_lesson_free(lesson);
    }
}

TEST_CASE(every_allocation_may_fail)
{
    with_ever_more_memory(whole, LAB_OK);
    with_ever_more_memory(LAB_SOURCE_DIR
                          "/tests/fault/bad_lessons/unknown-key-far.md",
                          LAB_E_PARSE);
}

/* docs/lesson-format.md ends with the tables of the keys. LAB_GOLDEN_UPDATE=1
 * writes them. */
TEST_CASE(the_keys_are_documented)
{
    static const char path[] = LAB_SOURCE_DIR "/docs/lesson-format.md";
    struct lab_str keys;
    char *page = test_read(path);
    char *mark = strstr(page, "<!-- keys:");
    assert_non_null(mark);
    char *end = strstr(mark, "\n\n");
    assert_non_null(end);
    lab_str_init(&keys);
    lab_lesson_keys(&keys);
    assert_false(keys.failed);
    if (getenv("LAB_GOLDEN_UPDATE")) {
        end[2] = '\0';
        struct lab_str text;
        lab_str_init(&text);
        lab_str_addf(&text, "%s%s", page, lab_str_text(&keys));
        test_write(path, lab_str_text(&text));
        lab_str_release(&text);
    } else {
        assert_string_equal(end + 2, lab_str_text(&keys));
    }
    test_free(page);
    lab_str_release(&keys);
}

RUN_TESTS()
