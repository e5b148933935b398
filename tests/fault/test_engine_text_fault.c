/* Texts and networks that do not fit: each named with file, line and byte or
 * with the lesson's place. And memory that ends at the Nth allocation. */
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "test.h"
#include "file.h"
#include "place.h"

#include "base/mem.h"
#include "engine/generate.h"
#include "engine/text.h"
#include "unit/net.h"

static void describe(struct net *n, int64_t context, int64_t batch,
                     const char *embedding, const char *dense)
{
    net_init(n);
    n->spec.data.source = LAB_DATA_TEXT;
    n->spec.data.path = "a.txt";
    n->spec.data.context = context;
    n->spec.data.batch = batch;
    n->spec.data.place = (struct lab_place){7, 3};
    net_nodes(n, embedding, dense);
    net_loss(n, "softmax_cross_entropy");
}

static enum lab_status open_with(int64_t context, int64_t batch, double split)
{
    struct net n;
    describe(&n, context, batch, "e embedding vocab=300 dim=2",
             "fc dense units=300");
    n.spec.data.split = split;
    enum lab_status st = net_build(&n);
    if (!st)
        st = lab_data_check_labels(n.data, n.plan);
    net_free(&n);
    return st;
}

static void text_is(const char *text, size_t n, enum lab_status want,
                    const char *error)
{
    test_write_bytes("a.txt", text, n);
    enum lab_status st = open_with(2, 1, 1);
    if (st != want)
        fail_msg("'%s': status %d (%s)", text, st, st ? lab_error() : "read");
    assert_true(error_is(error));
}

TEST_CASE(every_bad_text_names_its_line)
{
    static const struct {
        const char *text;
        const char *error;
    } bad[] = {
        {"", "[data.text.empty] a.txt: "},
        {"\xEF\xBB\xBF", "[data.text.empty] a.txt: "},
        {"ab\ncd\xFF"
         "e",
         "[data.text.byte] a.txt:2: the byte at offset 5 (0xFF) "},
        {"\n\n\xE2\x82",
         "[data.text.byte] a.txt:3: the byte at offset 2 (0xE2) "},
        {"abc\xC0\xAF",
         "[data.text.byte] a.txt:1: the byte at offset 3 (0xC0) "},
        {"abc\xED\xA0\x80", "[data.text.byte] offset 3 (0xED) "},
        {"gr\xFC\xDF"
         "e\n",
         "[data.text.byte] a.txt:1: the byte at offset 2 (0xFC) "},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        text_is(bad[i].text, strlen(bad[i].text), LAB_E_PARSE, bad[i].error);
    text_is("abc\nd\0ef", 8, LAB_E_PARSE,
            "[data.text.byte] a.txt:2: the byte at offset 5 (0x00) ");
}

TEST_CASE(too_short_for_its_windows)
{
    test_write_bytes("a.txt", "abcdefghij", 10);
    assert_ok(open_with(9, 1, 1));
    assert_int_equal(open_with(10, 1, 1), LAB_E_RANGE);
    assert_true(error_is("[data.text.short] net.md:7:3: a.txt: has 10 "
                         "characters; with context 10 "));
    assert_ok(open_with(5, 1, 0.6));
    assert_int_equal(open_with(5, 1, 0.5), LAB_E_RANGE);
    assert_true(error_is("[data.text.train-short] net.md:7:3: a.txt: of its 10 "
                         "characters 5 train (split 0.5)"));
    assert_int_equal(open_with(0, 1, 1), LAB_E_RANGE);
    assert_true(error_is("[data.text.short] context 64"));
    assert_int_equal(open_with(4, 2, 1), LAB_E_RANGE);
    assert_true(error_is(
        "[data.text.batch] net.md:7:3: batch 2 is more than the 1 samples "));
    assert_int_equal(open_with(2, 1, 1.5), LAB_E_RANGE);
    assert_true(error_is("[data.text.split] split 1.5"));
}

static enum lab_status check(const char *embedding, const char *dense)
{
    struct net n;
    describe(&n, 2, 1, embedding, dense);
    n.spec.data.split = 1;
    enum lab_status st = net_build(&n);
    if (!st)
        st = lab_data_check_labels(n.data, n.plan);
    net_free(&n);
    return st;
}

/* Larger than needed is no error: another text may be read with it. */
TEST_CASE(a_vocabulary_that_is_too_small)
{
    test_write_bytes("a.txt", "abcdefghij", 10);
    assert_ok(check("e embedding vocab=10 dim=2", "fc dense units=10"));
    assert_ok(check("e embedding vocab=99 dim=2", "fc dense units=11"));
    assert_int_equal(check("e embedding vocab=9 dim=2", "fc dense units=10"),
                     LAB_E_RANGE);
    assert_true(
        error_is("[data.text.vocabulary] net.md:100:5: the text has 10 "));
    assert_non_null(strstr(lab_error(), "vocab: 10"));
    assert_int_equal(check("e embedding vocab=10 dim=2", "fc dense units=9"),
                     LAB_E_RANGE);
    assert_true(error_is("[data.text.scores] net.md:101:5: the text has 10 "));
    assert_non_null(strstr(lab_error(), "units: 10"));
}

NET_CASE(other_files_and_losses)
{
    unlink("a.txt");
    assert_int_equal(open_with(2, 1, 1), LAB_E_IO);
    assert_true(error_is("[file.open] a.txt: "));
    assert_int_equal(mkdir("a.txt", 0700), 0);
    assert_int_equal(open_with(2, 1, 1), LAB_E_IO);
    assert_true(error_is("[file.kind] a.txt: "));
    assert_int_equal(rmdir("a.txt"), 0);
    test_write_bytes("a.txt", "abcdefghij", 10);
    n->spec.data.source = LAB_DATA_TEXT;
    n->spec.data.path = "a.txt";
    n->spec.data.place = (struct lab_place){7, 3};
    net_node(n, "e embedding vocab=10 dim=2");
    net_loss(n, "mse");
    assert_int_equal(net_build(n), LAB_E_PARSE);
    assert_true(error_is("[data.text.loss] net.md:7:3: "));
}

TEST_CASE(packed_text)
{
    char bytes[4096];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)('a' + i * i % 23);
    gzFile f = gzopen("a.txt", "wb6");
    assert_int_equal(gzwrite(f, bytes, sizeof(bytes)), sizeof(bytes));
    assert_int_equal(gzclose(f), Z_OK);
    assert_ok(open_with(2, 1, 1));
    struct stat info;
    assert_int_equal(stat("a.txt", &info), 0);
    assert_int_equal(truncate("a.txt", info.st_size - 9), 0);
    assert_int_equal(open_with(2, 1, 1), LAB_E_IO);
    assert_true(error_is("[data.cut] a.txt"));
}

/* ---- memory ---- */

static enum lab_status read_and_count(struct net *n)
{
    double bits;
    enum lab_status st = net_build(n);
    return st ? st : lab_text_order3_bits(lab_data_text(n->data), &bits);
}

TEST_CASE(reading_with_ever_more_memory)
{
    test_write_bytes("a.txt", "the text and the text and the", 29);
    for (int64_t nth = 1;; nth++) {
        struct net n;
        describe(&n, 4, 2, "e embedding vocab=16 dim=3", "fc dense units=16");
        lab_mem_fail_from(nth);
        enum lab_status st = read_and_count(&n);
        int64_t used = lab_mem_count();
        lab_mem_fail_from(0);
        if (st != LAB_OK && st != LAB_E_NOMEM)
            fail_msg("allocation %lld: status %d, %s", (long long)nth, st,
                     lab_error());
        net_free(&n);
        if (st == LAB_OK && used < nth)
            return;
        assert_true(nth < 5000);
    }
}

static enum lab_status write_some(struct net *n)
{
    const struct lab_sampling how = {.temperature = 1, .seed = 3};
    struct lab_generator *g = NULL;
    struct lab_str text;
    lab_str_init(&text);
    enum lab_status st = lab_generator_new(&g, n->walk);
    if (!st)
        st = lab_generator_begin(g, "the", &how);
    for (int i = 0; i < 9 && !st; i++)
        st = lab_generator_next(g, &text);
    lab_generator_free(g);
    lab_str_release(&text);
    return st;
}

NET_CASE(writing_with_ever_more_memory)
{
    describe(n, 4, 2, "e embedding vocab=16 dim=3", "fc dense units=16");
    net_walk(n, "cpu");
    net_steps(n, 6);
    struct net_moment *before = net_keep(n);
    for (int64_t nth = 1;; nth++) {
        lab_mem_fail_from(nth);
        enum lab_status st = write_some(n);
        int64_t used = lab_mem_count();
        lab_mem_fail_from(0);
        assert_true(st == LAB_OK || st == LAB_E_NOMEM);
        if (st == LAB_OK && used < nth)
            break;
        assert_true(nth < 5000);
    }
    net_still(n, "after all that", before);
    net_moment_free(before);
}

RUN_TESTS_IN(place_make, place_remove)
