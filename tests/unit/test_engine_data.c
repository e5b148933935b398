/* Rows: how they are split, dealt out and written into tensors. */
#include <zlib.h>

#include "test.h"
#include "place.h"

#include "base/mem.h"
#include "unit/net.h"

static void write_file(const char *path, const void *bytes, size_t n, bool zip)
{
    gzFile f = gzopen(path, zip ? "wb6" : "wbT");
    assert_non_null(f);
    assert_int_equal(gzwrite(f, bytes, (unsigned)n), n);
    assert_int_equal(gzclose(f), Z_OK);
}

/* Row r of the file is r, r + 0.5 and the label r % 3. */
static void write_rows(const char *path, int rows, bool header, bool zip)
{
    struct lab_str s;
    lab_str_init(&s);
    if (header)
        lab_str_add(&s, "a,b,label\n");
    for (int r = 0; r < rows; r++)
        lab_str_addf(&s, "%d,%d.5,%d%s", r, r, r % 3,
                     r % 5 == 4 ? "\r\n" : "\n");
    write_file(path, s.data, s.len, zip);
    lab_str_release(&s);
}

static void csv(struct net *n, const char *path, int64_t batch)
{
    net_init(n);
    n->spec.data.source = LAB_DATA_CSV;
    n->spec.data.path = path;
    n->spec.data.batch = batch;
    net_node(n, "fc dense units=3");
    net_loss(n, "softmax_cross_entropy");
}

static void built(struct net *n)
{
    assert_ok(net_build(n));
}

/* The rows of one batch, as write_rows() numbered them. */
static void batch_rows(struct net *n, int64_t iteration, int64_t *row)
{
    float x[64];
    int32_t y[32];
    struct lab_data_facts f;
    lab_data_get_facts(n->data, &f);
    assert_true(f.batch <= 32);
    assert_ok(lab_data_fill(n->data, n->plan, n->plan->x, iteration, x));
    assert_ok(lab_data_fill(n->data, n->plan, n->plan->y, iteration, y));
    for (int64_t i = 0; i < f.batch; i++) {
        row[i] = (int64_t)x[2 * i];
        assert_true(x[2 * i + 1] == x[2 * i] + 0.5f);
        assert_int_equal(y[i], row[i] % 3); /* x and y of the same row */
    }
}

NET_CASE(an_epoch_deals_a_row_at_most_once)
{
    struct lab_data_facts f;
    unsigned first_left = 0;
    bool left_differs = false;
    write_rows("rows.csv", 101, false, false);
    csv(n, "rows.csv", 7);
    n->spec.data.split = 0.75;
    built(n);
    lab_data_get_facts(n->data, &f);
    assert_int_equal(f.train_rows, 75);
    assert_int_equal(f.held_rows, 26);
    assert_int_equal(f.batches_per_epoch, 10);
    assert_int_equal(f.classes, 3);
    int seen_ever[101] = {0};
    for (int epoch = 0; epoch < 6; epoch++) {
        int seen[101] = {0};
        unsigned left = 0;
        for (int b = 0; b < 10; b++) {
            int64_t row[7];
            batch_rows(n, epoch * 10 + b, row);
            for (int i = 0; i < 7; i++) {
                assert_int_equal(seen[row[i]]++, 0);
                seen_ever[row[i]]++;
            }
        }
        for (int r = 0; r < 101; r++)
            left = left * 31 + (seen[r] == 0 ? (unsigned)r : 0);
        left_differs = left_differs || (epoch > 0 && left != first_left);
        first_left = left;
    }
    assert_true(left_differs); /* others are left out in the next epoch */
    /* What is held back is never dealt, and it is the rest. */
    int trained = 0;
    for (int r = 0; r < 101; r++)
        trained += seen_ever[r] > 0;
    assert_int_equal(trained, 75);
    for (int64_t r = 0; r < f.held_rows; r++) {
        float x[14];
        lab_data_fill_held(n->data, n->plan, n->plan->x, r, x);
        int64_t row = (int64_t)x[0];
        assert_int_equal(seen_ever[row]++, 0);
        assert_int_equal(lab_data_held_label(n->data, r), row % 3);
    }
    assert_int_equal(lab_data_held_label(n->data, 26), -1);
}

TEST_CASE(a_batch_depends_on_seed_and_iteration_alone)
{
    struct net a;
    struct net b;
    int64_t ra[7];
    int64_t rb[7];
    int same = 0;
    write_rows("rows.csv", 101, false, false);
    csv(&a, "rows.csv", 7);
    csv(&b, "rows.csv", 7);
    built(&a);
    built(&b);
    for (int i = 0; i < 40; i++)
        batch_rows(&a, i, ra);
    for (int i = 40; i >= 0; i -= 13) { /* in any order */
        batch_rows(&a, i, ra);
        batch_rows(&b, i, rb);
        assert_memory_equal(ra, rb, sizeof(ra));
    }
    net_free(&b);
    csv(&b, "rows.csv", 7);
    b.spec.seed = 8;
    built(&b);
    for (int i = 0; i < 5; i++) {
        batch_rows(&a, i, ra);
        batch_rows(&b, i, rb);
        same += memcmp(ra, rb, sizeof(ra)) == 0;
    }
    assert_int_equal(same, 0);
    net_free(&a);
    net_free(&b);
}

NET_CASE(without_shuffle_the_order_is_the_files)
{
    int64_t row[7];
    write_rows("rows.csv", 101, false, false);
    csv(n, "rows.csv", 7);
    n->spec.data.shuffle = false;
    built(n);
    for (int i = 0; i < 22; i++) { /* 80 rows train: 11 batches an epoch */
        batch_rows(n, i, row);
        for (int k = 0; k < 7; k++)
            assert_int_equal(row[k], i % 11 * 7 + k);
    }
    float x[14];
    lab_data_fill_held(n->data, n->plan, n->plan->x, 0, x);
    assert_true(x[0] == 80.0f);
    /* Past the end the last row repeats. */
    lab_data_fill_held(n->data, n->plan, n->plan->x, 19, x);
    assert_true(x[0] == 99.0f && x[2] == 100.0f && x[4] == 100.0f);
}

NET_CASE(gzip_header_scale_and_label_column)
{
    float x[20];
    float y[10];
    write_rows("rows.csv.gz", 50, true, true);
    csv(n, "rows.csv.gz", 10);
    n->spec.data.header = true;
    n->spec.data.shuffle = false;
    n->spec.data.scale = 0.5;
    n->spec.data.label_column = 0;
    net_loss(n, "mse"); /* column 0 as a real target */
    n->spec.nodes[0].attr[0].i = 1;
    built(n);
    assert_ok(lab_data_fill(n->data, n->plan, n->plan->x, 0, x));
    assert_ok(lab_data_fill(n->data, n->plan, n->plan->y, 0, y));
    for (int i = 0; i < 10; i++) {
        assert_true(x[2 * i] == 0.5f * ((float)i + 0.5f));
        assert_true(x[2 * i + 1] == 0.5f * (float)(i % 3));
        assert_true(y[i] == (float)i);
    }
    struct lab_data_facts f;
    lab_data_get_facts(n->data, &f);
    assert_int_equal(f.classes, 0);
    assert_int_equal(lab_data_held_label(n->data, 0), -1);
}

TEST_CASE(digits_with_mse_are_one_hot)
{
    struct net n;
    struct net other;
    net_init(&n);
    n.spec.data.source = LAB_DATA_DIGITS;
    n.spec.data.batch = 12;
    net_node(&n, "fc dense units=10");
    net_loss(&n, "mse");
    net_walk(&n, "cpu");
    net_init(&other);
    other.spec.data.source = LAB_DATA_DIGITS;
    other.spec.data.batch = 12;
    net_node(&other, "fc dense units=10");
    net_loss(&other, "softmax_cross_entropy");
    net_walk(&other, "cpu");
    double *hot = net_read(&n, "y");
    double *label = net_read(&other, "y");
    double *x = net_read(&n, "x");
    for (int i = 0; i < 12; i++) {
        for (int c = 0; c < 10; c++)
            assert_true(hot[10 * i + c] == (c == (int)label[i]));
    }
    for (int i = 0; i < 12 * 64; i++)
        assert_true(x[i] >= 0 && x[i] <= 1 && x[i] * 16 == floor(x[i] * 16));
    struct lab_data_facts f;
    lab_data_get_facts(lab_walk_data(n.walk), &f);
    assert_int_equal(f.train_rows + f.held_rows, 1797);
    assert_int_equal(f.classes, 10);
    lab_free(hot);
    lab_free(label);
    lab_free(x);
    net_free(&n);
    net_free(&other);
}

/* ---- MNIST ---- */

enum { H = 3, W = 2, TRAIN = 20, TEST = 8 };

static size_t idx(unsigned char *out, int count, bool images, int salt)
{
    unsigned char head[16] = {
        0, 0, 8, images ? 3 : 1, 0, 0, 0, 0, 0, 0, 0, H, 0, 0, 0, W};
    size_t n = images ? 16 : 8;
    head[7] = (unsigned char)count;
    memcpy(out, head, n);
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < (images ? H * W : 1); k++)
            out[n++] = images ? (unsigned char)(i * 10 + k)
                              : (unsigned char)((i + salt) % 10);
    }
    return n;
}

static void write_mnist(const char *form, bool zip)
{
    static const char *const name[] = {"train-images", "train-labels",
                                       "t10k-images", "t10k-labels"};
    for (int i = 0; i < 4; i++) {
        unsigned char bytes[256];
        char path[64];
        size_t n = idx(bytes, i < 2 ? TRAIN : TEST, i % 2 == 0, i / 2 * 3);
        snprintf(path, sizeof(path), "%s%sidx%d-ubyte%s", name[i], form,
                 i % 2 ? 1 : 3, zip ? ".gz" : "");
        write_file(path, bytes, n, zip);
    }
}

static void mnist_is_read(const char *form, bool zip)
{
    struct net n;
    float x[5 * H * W];
    int32_t y[5];
    struct lab_data_facts f;
    write_mnist(form, zip);
    net_init(&n);
    n.spec.data.source = LAB_DATA_MNIST;
    n.spec.data.path = ".";
    n.spec.data.batch = 5;
    n.spec.data.shuffle = false;
    net_node(&n, "fc dense units=10");
    net_loss(&n, "softmax_cross_entropy");
    built(&n);
    lab_data_get_facts(n.data, &f);
    assert_int_equal(f.train_rows, TRAIN); /* the set's own test rows */
    assert_int_equal(f.held_rows, TEST);
    assert_int_equal(f.classes, 10);
    assert_int_equal(n.shapes.x.dim[1], H * W);
    assert_int_equal(n.shapes.x_image.dim[2], H);
    assert_ok(lab_data_fill(n.data, n.plan, n.plan->x, 1, x));
    assert_ok(lab_data_fill(n.data, n.plan, n.plan->y, 1, y));
    for (int i = 0; i < 5; i++) {
        assert_int_equal(y[i], (i + 5) % 10);
        for (int k = 0; k < H * W; k++)
            assert_true(x[i * H * W + k] == (float)((i + 5) * 10 + k) / 255.0f);
    }
    lab_data_fill_held(n.data, n.plan, n.plan->x, 7, x);
    assert_true(x[0] == 70 / 255.0f);
    assert_int_equal(lab_data_held_label(n.data, 7), 0);
    net_free(&n);
    assert_int_equal(system("rm -f train-* t10k-*"), 0);
}

TEST_CASE(mnist_plain_and_packed_in_both_spellings)
{
    mnist_is_read("-", false);
    mnist_is_read("-", true);
    mnist_is_read(".", false);
    mnist_is_read(".", true);
}

/* Where the lesson's directory is not there: the digits that ship, 20 by 20 in the
 * middle of 28 by 28, each as dark as it was. */
TEST_CASE(digits_stand_in_for_mnist)
{
    enum { SIDE = 28, SIZE = SIDE * SIDE, DIGIT = 64, SCALE = 20 * 20 };
    struct net n;
    struct net small;
    struct lab_data_facts f;
    float x[SIZE];
    float eight[DIGIT];
    net_init(&n);
    n.spec.data.source = LAB_DATA_MNIST;
    n.spec.data.path = "no-such-directory";
    n.spec.data.batch = 1;
    n.spec.data.shuffle = false;
    net_node(&n, "fc dense units=10");
    net_loss(&n, "softmax_cross_entropy");
    built(&n);
    lab_data_get_facts(n.data, &f);
    assert_true(f.stand_in);
    assert_int_equal(f.train_rows, 1437);
    assert_int_equal(f.held_rows, 360);
    net_init(&small);
    small.spec.data.source = LAB_DATA_DIGITS;
    small.spec.data.batch = 1;
    small.spec.data.shuffle = false;
    net_node(&small, "fc dense units=10");
    net_loss(&small, "softmax_cross_entropy");
    built(&small);
    assert_ok(lab_data_fill(n.data, n.plan, n.plan->x, 0, x));
    assert_ok(lab_data_fill(small.data, small.plan, small.plan->x, 0, eight));
    double dark = 0;
    double before = 0;
    for (int i = 0; i < SIZE; i++) {
        int row = i / SIDE;
        int column = i % SIDE;
        if (row < 4 || row >= 24 || column < 4 || column >= 24)
            assert_true(x[i] == 0);
        assert_true(fabs((double)x[i] * 255 - round((double)x[i] * 255)) <
                    1e-4);
        dark += (double)x[i] / SCALE;
    }
    for (int i = 0; i < DIGIT; i++)
        before += (double)eight[i] / DIGIT;
    assert_true(dark > 0.9 * before && dark < 1.1 * before);
    net_free(&n);
    net_free(&small);
}

/* ---- inline ---- */

NET_CASE(inline_rows_are_cut_into_batches)
{
    float x[8];
    net_tensor(n, "x 9,2", NULL);
    net_labels(n, "y 9", 3);
    net_node(n, "fc dense units=3");
    net_loss(n, "softmax_cross_entropy");
    n->spec.data.batch = 4;
    built(n);
    assert_int_equal(n->plan->batch, 4);
    for (int i = 0; i < 5; i++) { /* the ninth row is left out */
        assert_ok(lab_data_fill(n->data, n->plan, n->plan->x, i, x));
        for (int k = 0; k < 8; k++)
            assert_true(x[k] ==
                        (float)n->spec.data.tensors[0].values[i % 2 * 8 + k]);
    }
}

NET_CASE(inline_batches_must_fit)
{
    net_tensor(n, "x 9,2", NULL);
    net_labels(n, "y 9", 3);
    net_tensor(n, "q 4,2", NULL);
    net_node(n, "fc dense units=3");
    net_loss(n, "softmax_cross_entropy");
    n->spec.data.batch = 4;
    assert_int_equal(net_build(n), LAB_E_SHAPE);
    assert_true(error_is("[data.inline.rows] net.md:12:3: "));
    n->spec.data.batch = 10;
    n->spec.data.tensors[2].shape.dim[0] = 9;
    assert_int_equal(net_build(n), LAB_E_RANGE);
    assert_true(error_is("[data.inline.batch] batch 10"));
    assert_non_null(strstr(lab_error(), "9 rows"));
}

RUN_TESTS_IN(place_make, place_remove)
