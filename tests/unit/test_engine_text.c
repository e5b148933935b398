/* Text as data: characters, windows, what is held back, and the model that
 * counts. */
#include <unistd.h>

#include "test.h"
#include "file.h"
#include "place.h"

#include "base/mem.h"
#include "engine/session.h"
#include "engine/text.h"
#include "unit/net.h"

/* The text in a.txt: `vocab` ids in, as many scores out. */
static void describe(struct net *n, int64_t context, int64_t batch, int vocab)
{
    char node[64];
    net_init(n);
    n->spec.data.source = LAB_DATA_TEXT;
    n->spec.data.path = "a.txt";
    n->spec.data.context = context;
    n->spec.data.batch = batch;
    snprintf(node, sizeof(node), "e embedding vocab=%d dim=3", vocab);
    net_node(n, node);
    snprintf(node, sizeof(node), "fc dense units=%d", vocab);
    net_node(n, node);
    net_loss(n, "softmax_cross_entropy");
}

static void built(struct net *n)
{
    assert_ok(net_build(n));
    assert_ok(lab_data_check_labels(n->data, n->plan));
}

NET_CASE(characters_are_code_points)
{
    struct lab_str s;
    /* A mark, two line ends of Windows, a lone return, one character each of
     * two, three and four bytes. */
    test_write("a.txt", "\xEF\xBB\xBF"
                        "b\r\na\r\n\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\rb");
    describe(n, 2, 1, 16);
    n->spec.data.split = 1;
    built(n);
    const struct lab_text *t = lab_data_text(n->data);
    static const uint32_t codes[] = {'\n', '\r',   'a',    'b',
                                     0xE9, 0x20AC, 0x1F600};
    static const int32_t ids[] = {3, 0, 2, 0, 4, 5, 6, 1, 3};
    assert_int_equal(t->vocab, 7);
    assert_int_equal(t->count, 9);
    assert_memory_equal(t->code, codes, sizeof(codes));
    assert_memory_equal(t->id, ids, sizeof(ids));
    lab_str_init(&s);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(lab_text_find(t, codes[i]), i);
        lab_text_add(t, i, &s);
    }
    assert_string_equal(lab_str_text(&s),
                        "\n\rab\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
    assert_int_equal(lab_text_find(t, 'c'), -1);
    assert_int_equal(lab_text_find(t, 0x10FFFF), -1);
    lab_str_release(&s);
}

/* 0, 1, 2 ... as code points: the character at place i is i. */
static void write_places(int count)
{
    char text[1024];
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        int c = 0x100 + i;
        text[used++] = (char)(0xC0 | (c >> 6));
        text[used++] = (char)(0x80 | (c & 0x3F));
    }
    text[used] = '\0';
    test_write("a.txt", text);
}

enum { PLACES = 211, T = 7 };

/* x of sample i starts at this place; y is one further, everywhere. */
static int start_of(const struct net *n, const int32_t *x, const int32_t *y,
                    int i)
{
    (void)n;
    for (int k = 0; k < T; k++) {
        assert_int_equal(x[i * T + k], x[i * T] + k);
        assert_int_equal(y[i * T + k], x[i * T] + k + 1);
    }
    return x[i * T];
}

static void fill(struct net *n, int64_t iteration, int32_t *x, int32_t *y)
{
    assert_ok(lab_data_fill(n->data, n->plan, n->plan->x, iteration, x));
    assert_ok(lab_data_fill(n->data, n->plan, n->plan->y, iteration, y));
}

NET_CASE(windows_stand_one_behind_the_other)
{
    struct lab_data_facts f;
    int32_t x[3 * T];
    int32_t y[3 * T];
    write_places(PLACES);
    describe(n, T, 3, 256);
    n->spec.data.split = 0.7;
    n->spec.data.shuffle = false;
    built(n);
    lab_data_get_facts(n->data, &f);
    /* 147 characters train: 146 of them have a next one that trains. */
    assert_int_equal(f.train_rows, 146 / T);
    assert_int_equal(f.batches_per_epoch, 146 / T / 3);
    assert_int_equal(f.held_rows, (64 + T - 1) / T);
    assert_int_equal(f.classes, PLACES);
    assert_true(f.text);
    for (int64_t it = 0; it < 2 * f.batches_per_epoch; it++) {
        fill(n, it, x, y);
        for (int i = 0; i < 3; i++)
            assert_int_equal(start_of(n, x, y, i),
                             (it % f.batches_per_epoch * 3 + i) * T);
    }
    assert_true(isnan(lab_data_bits(&(struct lab_data_facts){0}, 1)));
    assert_float_equal(lab_data_bits(&f, log(8)), 3, 1e-6);
}

/* Every epoch: each window once, none into what is held back, not always at
 * the same places; the same again from the same seed. */
NET_CASE(shuffled_windows)
{
    struct lab_data_facts f;
    int32_t x[2 * T];
    int32_t y[2 * T];
    int begin[8];
    bool moved = false;
    write_places(PLACES);
    describe(n, T, 2, 256);
    n->spec.data.split = 0.7;
    n->spec.data.shuffle = true;
    n->spec.seed = 5;
    built(n);
    lab_data_get_facts(n->data, &f);
    for (int epoch = 0; epoch < 8; epoch++) {
        int seen[PLACES] = {0};
        begin[epoch] = PLACES;
        for (int b = 0; b < f.batches_per_epoch; b++) {
            fill(n, epoch * f.batches_per_epoch + b, x, y);
            for (int i = 0; i < 2; i++) {
                int at = start_of(n, x, y, i);
                assert_true(at + T < 147); /* the last target trains */
                assert_int_equal(seen[at]++, 0);
                begin[epoch] = at < begin[epoch] ? at : begin[epoch];
            }
        }
        for (int at = 0; at < PLACES; at++)
            assert_true(!seen[at] || at % T == begin[epoch] % T);
        moved = moved || begin[epoch] % T != begin[0] % T;
    }
    assert_true(moved);
    fill(n, 3, x, y);
    int third = start_of(n, x, y, 0);
    lab_data_reseed(n->data, 6);
    bool other = false;
    for (int it = 0; it < 8; it++) {
        fill(n, it, x, y);
        other = other || start_of(n, x, y, 0) != third;
    }
    assert_true(other);
    lab_data_reseed(n->data, 5);
    fill(n, 3, x, y);
    assert_int_equal(start_of(n, x, y, 0), third);
}

/* Each held-back character is a target once, whatever the lengths. */
TEST_CASE(held_back_windows_cover_the_end)
{
    for (int count = 60; count < 60 + 2 * T; count++) {
        struct net n;
        struct lab_data_facts f;
        int32_t x[4 * T];
        int32_t y[4 * T];
        int seen[PLACES] = {0};
        write_places(count);
        describe(&n, T, 4, 256);
        n.spec.data.split = 0.8;
        n.spec.data.shuffle = true;
        built(&n);
        lab_data_get_facts(n.data, &f);
        int64_t first = lab_data_text(n.data)->train_count;
        assert_int_equal(first, (int64_t)(count * 0.8));
        for (int64_t row = 0; row < f.held_rows; row++) {
            lab_data_fill_held(n.data, n.plan, n.plan->x, row, x);
            lab_data_fill_held(n.data, n.plan, n.plan->y, row, y);
            start_of(&n, x, y, 0);
            for (int64_t k = lab_data_held_skip(n.data, row); k < T; k++) {
                assert_int_equal(lab_data_held_next(n.data, row, k), y[k]);
                seen[y[k]]++;
            }
        }
        for (int at = 0; at < count; at++)
            assert_int_equal(seen[at], at >= first);
        assert_int_equal(lab_data_held_next(n.data, f.held_rows, 0), -1);
        net_free(&n);
    }
}

/* The mean over characters, with a last window that overlaps and a batch that
 * is not full: of the losses that the network's own scores give. */
NET_CASE(an_evaluation_is_a_mean_over_characters)
{
    struct lab_data_facts f;
    double loss;
    double accuracy;
    write_places(100);
    describe(n, T, 4, 100);
    n->spec.data.split = 0.8;
    net_walk(n, "cpu");
    net_steps(n, 5);
    struct net_moment *before = net_keep(n);
    assert_ok(lab_walk_evaluate(n->walk, &accuracy, &loss));
    lab_data_get_facts(n->data, &f);
    double *W = net_read(n, "e.W");
    double *V = net_read(n, "fc.W");
    double sum = 0;
    int right = 0;
    for (int at = 80; at < 100; at++) { /* scores of at, given at - 1 */
        double z[100];
        double total = 0;
        int best = 0;
        for (int c = 0; c < 100; c++) {
            z[c] = net_get(n, "fc.b", c);
            for (int d = 0; d < 3; d++)
                z[c] += W[(at - 1) * 3 + d] * V[d * 100 + c];
            total += exp(z[c]);
            best = z[c] > z[best] ? c : best;
        }
        sum += log(total) - z[at];
        right += best == at;
    }
    assert_float_equal(loss, sum / 20, 1e-5);
    assert_float_equal(accuracy, right / 20.0, 1e-12);
    net_still(n, "an evaluation", before);
    net_moment_free(before);
    lab_free(W);
    lab_free(V);
}

static double order3(const char *text, double split)
{
    struct net n;
    double bits = 0;
    test_write("a.txt", text);
    describe(&n, 1, 1, 16);
    n.spec.data.split = split;
    built(&n);
    assert_ok(lab_text_order3_bits(lab_data_text(n.data), &bits));
    net_free(&n);
    return bits;
}

TEST_CASE(counting_by_hand)
{
    /* "aba" trains. After "a" came b once: (1 + 1 * p0) / 2, and without a
     * context (1 + 2 * 1/2) / 5 = 2/5. Nothing ever came after "ba". */
    assert_float_equal(order3("abab", 0.75), -log2(0.7), 1e-6);
    /* c: never; (0 + 2 * 1/3) / 5 = 2/15, then (0 + 1 * 2/15) / 2. Then b after
     * the unknown c: (1 + 2 * 1/3) / 5. */
    assert_float_equal(order3("abacb", 0.6), (log2(15) + log2(3)) / 2, 1e-6);
    /* "abcab" trains, c is held back: after "ab" came c, after "b" too.
     * p0 = (1 + 3 * 1/3) / 8 = 1/4; p1 = (1 + 1/4) / 2 = 5/8;
     * p2 = (1 + 5/8) / 2 = 13/16; "cab" had no next. */
    assert_float_equal(order3("abcabc", 5.0 / 6), -log2(13.0 / 16), 1e-6);
    assert_true(isnan(order3("abab", 1)));
}

/* The text that ships: plain ASCII, long enough, and with the project. */
NET_CASE(the_course_text)
{
    double bits = 0;
    setenv("LAPENNA_LAB_DATA_DIR", LAB_SOURCE_DIR, 1);
    describe(n, 64, 16, 128);
    n->spec.data.path = NULL;
    built(n);
    const struct lab_text *t = lab_data_text(n->data);
    assert_true(t->count > 150000);
    assert_int_equal(t->train_count, (int64_t)((double)t->count * 0.9));
    for (int64_t i = 0; i < t->vocab; i++)
        assert_true(t->code[i] < 0x7F && (t->code[i] >= 32 || i == 0));
    assert_ok(lab_text_order3_bits(t, &bits));
    assert_true(bits > 1.5 && bits < 3);
}

/* Beside a map of places stand the characters that were read there. */
NET_CASE(a_map_is_labelled_by_characters)
{
    static const char *const read[] = {"a",   "' '",      "\\n",
                                       "\\t", "\303\251", "b"};
    struct lab_session *session;
    struct lab_snapshot snap = {0};
    struct lab_command go = {.kind = LAB_DO_FINISH, .phase = -1};
    struct lab_command show = {.kind = LAB_DO_SHOW, .phase = -1};
    test_write("a.txt", "a \n\t\303\251ba \n\t\303\251ba \n\t\303\251b");
    describe(n, 6, 1, 6);
    struct lab_session_config config = {
        .setup = {.spec = &n->spec, .backend = "cpu"}};
    assert_ok(lab_session_new(&session, &config));
    assert_ok(lab_session_post(session, &go));
    assert_ok(lab_session_wait(session, INT64_C(20000000000)));
    assert_ok(lab_session_snapshot(session, &snap));
    if (!snap.plan)
        fail_msg("%s", snap.error);
    show.show.tensor = lab_plan_tensor(snap.plan, "e.out");
    assert_true(show.show.tensor >= 0);
    show.show.row_axis = 1;
    show.show.col_axis = 2;
    assert_ok(lab_session_post(session, &show));
    assert_ok(lab_session_wait(session, INT64_C(20000000000)));
    lab_snapshot_release(&snap);
    assert_ok(lab_session_snapshot(session, &snap));
    assert_int_equal(snap.plane.rows, 6);
    int first = 0; /* the window may begin with any of them */
    while (first < 6 && strcmp(snap.plane.row_label[0].text, read[first]) != 0)
        first++;
    assert_true(first < 6);
    for (int i = 0; i < 6; i++) {
        assert_true(snap.plane.row_label[i].symbol);
        assert_string_equal(snap.plane.row_label[i].text,
                            read[(first + i) % 6]);
    }
    assert_null(snap.plane.col_label);
    lab_snapshot_release(&snap);
    lab_session_free(session);
}

RUN_TESTS_IN(place_make, place_remove)
