/* Names of a comparison in little room. */
#include "test.h"

#include "report/compare_label.h"

enum { MOST = 300 };

static struct {
    char names[MOST][400];
    struct lab_time_sum sums[MOST];
    struct lab_compare_row rows[MOST];
    size_t list[MOST];
    size_t n;
    struct lab_labels labels;
} t;

static int clear(void **state)
{
    (void)state;
    lab_labels_release(&t.labels);
    memset(&t, 0, sizeof(t));
    return 0;
}

static void add(const char *name)
{
    snprintf(t.names[t.n], sizeof(t.names[t.n]), "%s", name);
    t.sums[t.n] = (struct lab_time_sum){
        .level = LAB_SUM_STEP, .name = t.names[t.n], .phase_id = 0};
    t.rows[t.n] = (struct lab_compare_row){.level = LAB_SUM_STEP,
                                           .side = {&t.sums[t.n], NULL}};
    t.list[t.n] = t.n;
    t.n++;
}

static size_t width(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

static void make(size_t room)
{
    lab_labels_release(&t.labels);
    assert_ok(lab_labels_make(&t.labels, room, t.rows, t.list, t.n));
    assert_int_equal(t.labels.count, t.n);
    for (size_t i = 0; i < t.n; i++) {
        const struct lab_compare_label *a = &t.labels.items[i];
        assert_non_null(strstr(a->whole, t.names[i]));
        assert_true(room < 16 || width(a->text) <= room);
        for (size_t k = 0; k < i; k++) {
            const struct lab_compare_label *b = &t.labels.items[k];
            if ((strcmp(a->text, b->text) == 0) !=
                (strcmp(a->whole, b->whole) == 0))
                fail_msg("'%s' and '%s' are '%s', '%s'", a->whole, b->whole,
                         a->text, b->text);
        }
    }
}

static const char *text(size_t i)
{
    return t.labels.items[i].text;
}

TEST_CASE_WITH(what_has_room_stays_whole, NULL, clear)
{
    add("fc1.matmul");
    add("a.name.that.is.far.longer.than.the.room.of.its.column");
    make(27);
    assert_string_equal(text(0), "fwd  fc1.matmul");
    assert_int_equal(width(text(1)), 27);
    assert_non_null(strstr(text(1), ".."));
    make(0);
    assert_string_equal(text(1), t.labels.items[1].whole);
}

/* Only the names that clash are cut elsewhere. */
TEST_CASE_WITH(a_clash_moves_the_cut, NULL, clear)
{
    add("encoder.layer17.attention.self.output");
    add("encoder.layer18.attention.self.output");
    add("decoder.of.something.else.altogether");
    make(27);
    assert_non_null(strstr(text(0), "layer17.."));
    assert_non_null(strstr(text(1), "layer18.."));
    char alone[LAB_COMPARE_LABEL];
    snprintf(alone, sizeof(alone), "%s", text(2));
    t.n = 0;
    add("decoder.of.something.else.altogether");
    make(27);
    assert_string_equal(text(0), alone);
}

/* They differ both before and after what any one cut leaves. */
TEST_CASE_WITH(what_no_cut_tells_apart_is_numbered, NULL, clear)
{
    char name[400];
    for (int i = 0; i < 256; i++) {
        snprintf(name, sizeof(name),
                 "%c.the.same.for.a.while.%c.and.then.%c.the.same.again.%c",
                 'a' + (i & 3), 'a' + (i >> 2 & 3), 'a' + (i >> 4 & 3),
                 'a' + (i >> 6 & 3));
        add(name);
    }
    for (size_t room = 16; room < 60; room += 11)
        make(room);
}

/* A step that ran with two variants has two rows: their variants tell them
 * apart, and a name that is there once goes without. */
TEST_CASE_WITH(variants_tell_rows_of_one_name_apart, NULL, clear)
{
    static struct lab_time_sum second;
    add("fc1.matmul");
    add("fc1.matmul");
    add("fc2.matmul");
    for (size_t i = 0; i < 3; i++)
        t.sums[i].variant = i ? "blas" : "naive";
    make(0);
    assert_string_equal(text(0), "fwd  fc1.matmul (naive)");
    assert_string_equal(text(1), "fwd  fc1.matmul (blas)");
    assert_string_equal(text(2), "fwd  fc2.matmul");
    make(22);
    assert_string_not_equal(text(0), text(1));
    /* of both runs where they differ */
    second = t.sums[0];
    second.variant = "tiled";
    t.rows[0].side[LAB_SIDE_B] = &second;
    make(0);
    assert_string_equal(text(0), "fwd  fc1.matmul (naive, tiled)");
}

/* The same name twice, of no known variant, is no clash. */
TEST_CASE_WITH(equal_names_stay_equal, NULL, clear)
{
    add("encoder.layer17.attention.self.output");
    add("encoder.layer17.attention.self.output");
    make(20);
    assert_string_equal(text(0), text(1));
    assert_null(strchr(text(0), '~'));
}

TEST_CASE_WITH(letters_of_several_bytes_are_one, NULL, clear)
{
    add("gr\xc3\xb6\xc3\x9f"
        "e.\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e.und.noch.viel.mehr.\xc3\xa9");
    make(20);
    assert_int_equal(width(text(0)), 20);
    assert_memory_equal(text(0) + strlen(text(0)) - 2, "\xc3\xa9", 2);
    make(1); /* no table has less than sixteen */
    assert_int_equal(width(text(0)), 16);
}

RUN_TESTS()
