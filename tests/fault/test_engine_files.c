/* Data files that are damaged, cut short or not of the format that the lesson names: a
 * clear error with the file and the line, and nothing lost. */
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "test.h"
#include "file.h"
#include "place.h"

#include "unit/net.h"

static void write_packed(const char *path, const void *bytes, size_t n)
{
    gzFile f = gzopen(path, "wb6");
    assert_non_null(f);
    assert_int_equal(gzwrite(f, bytes, (unsigned)n), n);
    assert_int_equal(gzclose(f), Z_OK);
}

static enum lab_status open_data(enum lab_data_source source, const char *path,
                                 const char *loss)
{
    struct net n;
    net_init(&n);
    n.spec.data.source = source;
    n.spec.data.batch = 1;
    net_loss(&n, loss);
    struct lab_data *d = NULL;
    enum lab_status st = lab_data_open(&d, &n.spec, path, 0, NULL);
    assert_true((st == LAB_OK) == (d != NULL));
    lab_data_free(d);
    net_free(&n);
    return st;
}

/* ---- csv ---- */

struct bad_csv {
    const char *text;
    enum lab_status status;
    const char *error;
};

static void csv_is(const char *text, size_t n, enum lab_status want,
                   const char *error, const char *loss)
{
    test_write_bytes("bad.csv", text, n);
    enum lab_status st = open_data(LAB_DATA_CSV, "bad.csv", loss);
    if (st != want)
        fail_msg("'%s': status %d (%s)", text, st, st ? lab_error() : "read");
    if (st)
        assert_true(error_is(error));
}

TEST_CASE(every_bad_csv_names_its_line)
{
    static const struct bad_csv bad[] = {
        {"", LAB_E_PARSE, "[data.csv.empty] bad.csv: "},
        {"\n\n\r\n", LAB_E_PARSE, "[data.csv.empty] bad.csv: "},
        {"1,2,0\n1,2\n", LAB_E_PARSE,
         "[data.csv.column-count] bad.csv:2: has 2 "},
        {"1,2,0\n\n1,2,3,0\n", LAB_E_PARSE,
         "[data.csv.more-columns] bad.csv:3: "},
        {"1\n2\n", LAB_E_PARSE, "[data.csv.columns] bad.csv:1: has 1 "},
        {"1,2,0\n1,nan,0\n", LAB_E_PARSE,
         "[data.csv.number] bad.csv:2:3: 'nan'"},
        {"1,2,0\n1,-inf,0\n", LAB_E_PARSE,
         "[data.csv.number] bad.csv:2:3: '-inf'"},
        {"1,2,0\n1,1e999,0\n", LAB_E_PARSE,
         "[data.csv.number] bad.csv:2:3: '1e999'"},
        {"1,2,0\n1,1e99,0\n", LAB_E_RANGE,
         "[data.csv.large] bad.csv:2: 1e+99 "},
        {"1,two,0\n", LAB_E_PARSE, "[data.csv.number] bad.csv:1:3: 'two'"},
        {"1,,0\n", LAB_E_PARSE, "[data.csv.number] bad.csv:1:3: ''"},
        {"1,0x10,0\n", LAB_E_PARSE, "[data.csv.number] bad.csv:1:3: '0x10'"},
        {"1,2,0\n1, -0X1p3,0\n", LAB_E_PARSE,
         "[data.csv.number] bad.csv:2:3: ' -0X1p3'"},
        {"\xEF\xBB\xBF\n", LAB_E_PARSE, "[data.csv.empty] bad.csv: "},
        {"1,2,0\n\xEF\xBB\xBF"
         "3,4,0\n",
         LAB_E_PARSE, "[data.csv.number] bad.csv:2:1: "},
        {"1,2 3,0\n", LAB_E_PARSE, "[data.csv.number] bad.csv:1:3: '2 3'"},
        {"1,2,0,\n", LAB_E_PARSE, "[data.csv.number] bad.csv:1:7: "},
        {"1;2;0\n", LAB_E_PARSE, "[data.csv.columns] bad.csv:1: has 1 "},
        {"1,2,-1\n", LAB_E_RANGE, "[data.csv.label] bad.csv:1: the label -1"},
        {"1,2,0.5\n", LAB_E_RANGE, "[data.csv.label] bad.csv:1: the label 0.5"},
        {"1,2,1e7\n", LAB_E_RANGE,
         "[data.csv.label] bad.csv:1: the label 1e+07"},
        {"1,\033[31mred,0\n", LAB_E_PARSE,
         "[data.csv.number] bad.csv:1:3: '^[[31mred'"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        csv_is(bad[i].text, strlen(bad[i].text), bad[i].status, bad[i].error,
               "softmax_cross_entropy");
    csv_is("1,2,1e99\n", 9, LAB_E_RANGE, "[data.csv.large] bad.csv:1: 1e+99",
           "mse");
}

TEST_CASE(what_is_unusual_and_right_is_read)
{
    static const char *const good[] = {
        "1,2,0\n3,4,1",           /* no newline at the end */
        "1,2,0\r\n3,4,1\r\n",     /* from another system */
        " 1 ,\t2, 0 \n3,4,1\n\n", /* blanks */
        "\n1e3,-.5,0\n+3,4.,1\n", /* forms of numbers */
        "\xEF\xBB\xBF"
        "1,2,0\n3,4,1\n", /* of a spreadsheet */
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        csv_is(good[i], strlen(good[i]), LAB_OK, "", "softmax_cross_entropy");
}

TEST_CASE(a_nul_byte_is_no_text)
{
    csv_is("1,2\0,3,0\n4,5,6,0\n", 18, LAB_E_PARSE,
           "[data.csv.nul] bad.csv:1: ", "mse");
    csv_is("1,2,0\n3,4,1\n\0\0\0\0", 16, LAB_E_PARSE,
           "[data.csv.nul] bad.csv:3: ", "mse");
}

TEST_CASE(a_line_longer_than_any_buffer)
{
    struct lab_str s;
    lab_str_init(&s);
    for (int row = 0; row < 2; row++) {
        for (int i = 0; i < 12000; i++)
            lab_str_add(&s, "0.125,");
        lab_str_add(&s, row ? "1\n" : "0\n");
    }
    csv_is(s.data, s.len, LAB_OK, "", "mse");
    /* The second row lacks one cell, the 12001st. */
    s.len -= 3;
    csv_is(s.data, s.len, LAB_E_PARSE,
           "[data.csv.column-count] bad.csv:2: has 12000 ", "mse");
    lab_str_release(&s);
}

NET_CASE(a_label_column_outside)
{
    struct lab_data *d = NULL;
    test_write_bytes("three.csv", "1,2,0\n", 6);
    n->spec.data.source = LAB_DATA_CSV;
    n->spec.data.label_column = 3;
    net_loss(n, "mse");
    assert_int_equal(lab_data_open(&d, &n->spec, "three.csv", 1, NULL),
                     LAB_E_PARSE);
    assert_true(error_is("[data.csv.label-column] three.csv:1: "));
    assert_non_null(strstr(lab_error(), ": label 3 is outside"));
    assert_null(d);
}

TEST_CASE(files_that_cannot_be_read)
{
    assert_int_equal(open_data(LAB_DATA_CSV, "none.csv", "mse"), LAB_E_IO);
    assert_true(error_is("[file.open] none.csv: "));
    assert_int_equal(open_data(LAB_DATA_CSV, NULL, "mse"), LAB_E_PARSE);
    assert_true(error_is("[data.csv.path] "));
    assert_int_equal(mkdir("folder.csv", 0700), 0);
    assert_int_equal(open_data(LAB_DATA_CSV, "folder.csv", "mse"), LAB_E_IO);
    assert_true(error_is("[file.kind] folder.csv: "));
}

/* A packed csv with one byte changed or missing at any place is refused, or
 * (in the few bytes of the header that say nothing) read as it was. */
TEST_CASE(packed_csv_damaged_anywhere)
{
    struct lab_str s;
    unsigned char bad[4096];
    size_t n;
    lab_str_init(&s);
    for (int i = 0; i < 200; i++)
        lab_str_addf(&s, "%d,%d,%d\n", i * 7 % 13, i * 5 % 11, i % 3);
    write_packed("good.csv.gz", s.data, s.len);
    char *bytes = test_read_bytes("good.csv.gz", &n);
    assert_true(n > 100 && n < sizeof(bad));
    int refused = 0;
    for (size_t cut = 1; cut < n; cut++) {
        test_write_bytes("cut.csv.gz", bytes, cut);
        enum lab_status st = open_data(LAB_DATA_CSV, "cut.csv.gz", "mse");
        if (st == LAB_OK)
            fail_msg("%zu of %zu bytes were taken for the file", cut, n);
        assert_non_null(strstr(lab_error(), "cut.csv.gz"));
    }
    for (size_t at = 0; at < n; at++) {
        memcpy(bad, bytes, n);
        bad[at] ^= 0x10;
        test_write_bytes("bad.csv.gz", bad, n);
        enum lab_status st = open_data(LAB_DATA_CSV, "bad.csv.gz", "mse");
        refused += st != LAB_OK;
        /* Before the check sum a bit or more fills the byte up. */
        if (st == LAB_OK && (at < 4 || at > 9) && at != n - 9)
            fail_msg("byte %zu was changed and was not noticed", at);
    }
    assert_true(refused > (int)n - 9);
    test_free(bytes);
    lab_str_release(&s);
}

TEST_CASE(digits_of_another_width)
{
    test_write_bytes("digits.csv", "1,2,3,0\n", 8);
    assert_int_equal(
        open_data(LAB_DATA_DIGITS, "digits.csv", "softmax_cross_entropy"),
        LAB_E_SHAPE);
    assert_true(error_is("[data.digits.features] digits.csv"));
    assert_non_null(strstr(lab_error(), "3 features"));
}

NET_CASE(a_batch_or_split_that_rows_do_not_give)
{
    struct lab_data *d = NULL;
    test_write_bytes("two.csv", "1,2,0\n3,4,1\n", 12);
    n->spec.data.source = LAB_DATA_CSV;
    net_loss(n, "mse");
    n->spec.data.batch = 3;
    assert_int_equal(lab_data_open(&d, &n->spec, "two.csv", 0, NULL),
                     LAB_E_RANGE);
    assert_true(error_is("[data.batch] net.md:9:3: batch 3"));
    n->spec.data.batch = 1; /* the other number comes from an option */
    assert_int_equal(lab_data_open(&d, &n->spec, "two.csv", 3, NULL),
                     LAB_E_RANGE);
    assert_true(error_is("[data.batch] net.md: batch 3"));
    n->spec.data.split = 1.5;
    assert_int_equal(lab_data_open(&d, &n->spec, "two.csv", 1, NULL),
                     LAB_E_RANGE);
    assert_true(error_is("[data.split] split 1.5"));
    n->spec.data.split = 1;
    assert_ok(lab_data_open(&d, &n->spec, "two.csv", 2, NULL));
    lab_data_free(d);
}

/* ---- MNIST ---- */

enum { FILES = 4, ROOM = 128 };
static const char *const idx_name[FILES] = {
    "train-images-idx3-ubyte", "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

/* Five images of 2x3, five labels; the same again. */
static size_t idx_bytes(int file, unsigned char *out)
{
    const unsigned char images[16] = {0, 0, 8, 3, 0, 0, 0, 5,
                                      0, 0, 0, 2, 0, 0, 0, 3};
    const unsigned char labels[8] = {0, 0, 8, 1, 0, 0, 0, 5};
    size_t n = file % 2 ? 8 : 16;
    memcpy(out, file % 2 ? labels : images, n);
    for (int i = 0; i < (file % 2 ? 5 : 30); i++)
        out[n++] = (unsigned char)(i % 10);
    return n;
}

static void write_set(void)
{
    unsigned char bytes[ROOM];
    for (int i = 0; i < FILES; i++)
        test_write_bytes(idx_name[i], bytes, idx_bytes(i, bytes));
}

static void mnist_is(enum lab_status want, const char *file, const char *error)
{
    enum lab_status st =
        open_data(LAB_DATA_MNIST, ".", "softmax_cross_entropy");
    if (st != want)
        fail_msg("status %d (%s), not %d", st, st ? lab_error() : "read", want);
    if (st && !strstr(lab_error(), file))
        fail_msg("%s is not in: %s", file, lab_error());
    if (st)
        assert_true(error_is(error));
}

TEST_CASE(idx_cut_anywhere)
{
    unsigned char bytes[ROOM];
    for (int i = 0; i < FILES; i++) {
        size_t n = idx_bytes(i, bytes);
        for (size_t cut = 0; cut < n; cut++) {
            write_set();
            test_write_bytes(idx_name[i], bytes, cut);
            mnist_is(LAB_E_IO, idx_name[i],
                     cut < (i % 2 ? 8 : 16) ? "[data.mnist.cut-part] "
                                            : "[data.mnist.cut] ");
        }
    }
    write_set();
    mnist_is(LAB_OK, "", "");
    for (int i = 0; i < FILES; i++) {
        size_t n = idx_bytes(i, bytes);
        bytes[n] = 0;
        write_set();
        test_write_bytes(idx_name[i], bytes, n + 1);
        mnist_is(LAB_E_PARSE, idx_name[i], "[data.mnist.more] the 5 ");
    }
}

TEST_CASE(idx_headers_that_lie)
{
    static const struct {
        int file;
        int byte;
        unsigned char value;
        enum lab_status status;
        const char *error;
    } lie[] = {
        {0, 3, 1, LAB_E_PARSE, "[data.mnist.magic] 2049"},
        {0, 0, 1, LAB_E_PARSE, "[data.mnist.magic] "},
        {1, 3, 3, LAB_E_PARSE, "[data.mnist.magic] 2051"},
        {0, 7, 0, LAB_E_PARSE, "[data.mnist.claims] "},
        {0, 11, 0, LAB_E_PARSE, "[data.mnist.claims] "},
        {2, 12, 1, LAB_E_PARSE, "[data.mnist.claims] "},
        {0, 4, 5, LAB_E_IO, "[data.mnist.cut] 83886085"}, /* 2 GiB of floats */
        {0, 4, 255, LAB_E_PARSE, "[data.mnist.claims] "},
        {0, 14, 15, LAB_E_IO, "[data.mnist.cut] 5 items of 2x3843"},
        {3, 5, 90, LAB_E_IO, "[data.mnist.cut] 5898245"},
        {1, 9, 10, LAB_E_RANGE, "[data.mnist.label] label 1 is 10"},
        {3, 12, 255, LAB_E_RANGE, "[data.mnist.label] label 4 is 255"},
    };
    for (size_t i = 0; i < sizeof(lie) / sizeof(lie[0]); i++) {
        unsigned char bytes[ROOM];
        size_t n = idx_bytes(lie[i].file, bytes);
        write_set();
        bytes[lie[i].byte] = lie[i].value;
        test_write_bytes(idx_name[lie[i].file], bytes, n);
        mnist_is(lie[i].status, idx_name[lie[i].file], lie[i].error);
    }
}

TEST_CASE(idx_files_that_do_not_belong_together)
{
    unsigned char bytes[ROOM];
    write_set();
    size_t n = idx_bytes(1, bytes);
    bytes[7] = 4;
    test_write_bytes(idx_name[1], bytes, n - 1);
    mnist_is(LAB_E_SHAPE, "5 images", "[data.mnist.counts] 4 labels");
    write_set();
    n = idx_bytes(2, bytes);
    bytes[11] = 3;
    bytes[15] = 2;
    test_write_bytes(idx_name[2], bytes, n);
    mnist_is(LAB_E_SHAPE, ".: ", "[data.mnist.sizes] ");
    write_set();
    for (int i = 0; i < FILES; i++) {
        assert_int_equal(unlink(idx_name[i]), 0);
        mnist_is(LAB_E_IO, idx_name[i], "[data.mnist.missing] ");
        write_set();
    }
    /* Without a directory: digits that ship. */
    assert_int_equal(open_data(LAB_DATA_MNIST, NULL, "softmax_cross_entropy"),
                     LAB_OK);
    assert_int_equal(
        open_data(LAB_DATA_MNIST, "nowhere", "softmax_cross_entropy"),
        LAB_E_IO);
    assert_true(error_is("[data.mnist.missing] nowhere"));
}

TEST_CASE(packed_idx_cut_or_claiming)
{
    unsigned char bytes[ROOM];
    size_t m;
    write_set();
    size_t n = idx_bytes(0, bytes);
    assert_int_equal(unlink(idx_name[0]), 0);
    write_packed("train-images-idx3-ubyte.gz", bytes, n);
    mnist_is(LAB_OK, "", "");
    char *packed = test_read_bytes("train-images-idx3-ubyte.gz", &m);
    for (size_t cut = 1; cut < m; cut++) {
        test_write_bytes("train-images-idx3-ubyte.gz", packed, cut);
        enum lab_status st =
            open_data(LAB_DATA_MNIST, ".", "softmax_cross_entropy");
        if (st != LAB_E_IO && st != LAB_E_PARSE)
            fail_msg("%zu of %zu bytes: status %d", cut, m, st);
        assert_non_null(strstr(lab_error(), "train-images-idx3-ubyte.gz"));
    }
    /* The sum is looked at, though the pixels do not need it. */
    packed[m - 6] ^= 1;
    test_write_bytes("train-images-idx3-ubyte.gz", packed, m);
    test_free(packed);
    mnist_is(LAB_E_IO, "train-images-idx3-ubyte.gz", "[data.mnist.cut-part] ");
    bytes[5] = 200; /* 13 million images in 60 bytes */
    write_packed("train-images-idx3-ubyte.gz", bytes, n);
    mnist_is(LAB_E_IO, "train-images-idx3-ubyte.gz",
             "[data.mnist.cut] 13107205 ");
    assert_int_equal(unlink("train-images-idx3-ubyte.gz"), 0);
}

/* Returns true from its `after`th call. */
static bool ask(void *user)
{
    int *left = user;
    return --*left < 0;
}

/* Reading every source is stopped where it is asked for. */
TEST_CASE(reading_is_stopped)
{
    static const struct {
        enum lab_data_source source;
        const char *path;
    } all[] = {{LAB_DATA_CSV, "long.csv"},
               {LAB_DATA_TEXT, "long.csv"},
               {LAB_DATA_WORDS, "long.csv"},
               {LAB_DATA_DIGITS, NULL},
               {LAB_DATA_MNIST, "."}};
    FILE *f = fopen("long.csv", "w");
    assert_non_null(f);
    for (int i = 0; i < 30000; i++)
        fputs("1.5,2.5,1\n", f);
    assert_int_equal(fclose(f), 0);
    write_set();
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        int looks = 1000000;
        for (int after = 0; after < 4; after++) {
            struct net n;
            struct lab_data *d = NULL;
            int left = after < 3 ? after : looks;
            const struct lab_stop stop = {ask, &left};
            net_init(&n);
            n.spec.data.source = all[i].source;
            n.spec.data.batch = 1;
            net_loss(&n, "softmax_cross_entropy");
            enum lab_status st =
                lab_data_open(&d, &n.spec, all[i].path, 0, &stop);
            if (st != (after < 3 ? LAB_E_CANCELLED : LAB_OK))
                fail_msg("source %zu, stopped after %d looks: %d (%s)", i,
                         after, st, lab_error());
            lab_data_free(d);
            net_free(&n);
        }
    }
}

RUN_TESTS_IN(place_make, place_remove)
