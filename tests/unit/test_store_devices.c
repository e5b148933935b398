/* The published peaks of cards against the arithmetic of what they come from. */
#include "test.h"

#include "store/devices.h"

enum { FIELDS = 15, LINE = 512 };

struct row {
    char text[LINE];
    char *field[FIELDS];
};

/* false: the end. Comments and the heading are passed over. */
static bool next_row(FILE *f, struct row *r)
{
    while (fgets(r->text, sizeof(r->text), f)) {
        char *at = r->text;
        int n = 0;
        r->text[strcspn(r->text, "\n")] = '\0';
        if (r->text[0] == '#' || strncmp(r->text, "name,", 5) == 0)
            continue;
        for (; n < FIELDS && at; n++) {
            r->field[n] = at;
            at = strchr(at, ',');
            if (at)
                *at++ = '\0';
        }
        if (n != FIELDS || at)
            fail_msg("%s: %d fields", r->field[0], n);
        return true;
    }
    return false;
}

static FILE *open_table(void)
{
    FILE *f = fopen(LAB_SOURCE_DIR "/profiles/devices.csv", "r");
    assert_non_null(f);
    return f;
}

static double number(const struct row *r, int i)
{
    char *end;
    double v = strtod(r->field[i], &end);
    if (!r->field[i][0])
        return NAN;
    if (*end || !(v > 0))
        fail_msg("%s: '%s' is no number", r->field[0], r->field[i]);
    return v;
}

static void check_near(const struct row *r, const char *what, double published,
                       double computed);

/* fp16 from the clocks; tf32 is half of it; bf16 is the same, where it is. */
static void check_tensor(const struct row *r)
{
    double fp16 = number(r, 11);
    check_near(r, "fp16", fp16, number(r, 13) * number(r, 14) / 1000);
    assert_int_equal(r->field[9][0] == '\0', r->field[10][0] == '\0');
    if (r->field[9][0]) {
        check_near(r, "tf32", number(r, 9), fp16 / 2);
        check_near(r, "bf16", number(r, 10), fp16);
    }
    assert_int_equal(r->field[11][0] == '\0', r->field[12][0] == '\0');
}

/* Makers round: a product brief prints 2.00 TB/s for 2.04. */
static void check_near(const struct row *r, const char *what, double published,
                       double computed)
{
    if (isnan(computed) || fabs(published / computed - 1) <= 0.02)
        return;
    fail_msg("%s: %s is %g, its arithmetic gives %g", r->field[0], what,
             published, computed);
}

TEST_CASE(peaks_are_what_they_come_from)
{
    FILE *f = open_table();
    struct row r;
    int rows = 0;
    int computed = 0;
    for (; next_row(f, &r); rows++) {
        double flop = 2 * number(&r, 5) * number(&r, 6) / 1000;
        double dram = number(&r, 7) * number(&r, 8) / 8000;
        check_near(&r, "fp32", number(&r, 1), flop);
        check_near(&r, "memory", number(&r, 3), dram);
        check_tensor(&r);
        computed += !isnan(flop) + !isnan(dram);
        /* A figure has a source, and a source a figure. */
        for (int k = 1; k < 5; k += 2)
            assert_int_equal(r.field[k][0] == '\0', r.field[k + 1][0] == '\0');
        assert_false(isnan(flop)); /* of every card */
    }
    fclose(f);
    assert_true(rows > 25 && computed >= 2 * rows - 5);
}

TEST_CASE(the_program_finds_each_and_no_more)
{
    FILE *f = open_table();
    struct row r;
    while (next_row(f, &r)) {
        struct lab_device_peaks p;
        char name[LINE + 8];
        snprintf(name, sizeof(name), "NVIDIA %s", r.field[0]);
        assert_true(lab_device_peaks_find(name, &p));
        assert_true(p.fp32_flop_per_s == number(&r, 1) * 1e9);
        assert_string_equal(p.fp32_source, r.field[2]);
        assert_string_equal(p.dram_source, r.field[4]);
        assert_string_equal(p.tensor_source, r.field[12]);
        if (r.field[11][0])
            assert_true(p.fp16_flop_per_s == number(&r, 11) * 1e9);
        if (r.field[9][0])
            assert_true(p.tf32_flop_per_s == number(&r, 9) * 1e9);
        else
            assert_true(isnan(p.tf32_flop_per_s));
        double dram = number(&r, 3) * 1e9;
        assert_true(isnan(dram) ? isnan(p.dram_bytes_per_s)
                                : p.dram_bytes_per_s == dram);
    }
    fclose(f);
}

/* One name, two cards: what differs between them is not known. */
TEST_CASE(a_name_of_two_cards_has_no_peak)
{
    struct lab_device_peaks p;
    assert_false(lab_device_peaks_find("NVIDIA GeForce RTX 3080", &p));
    assert_true(isnan(p.fp32_flop_per_s) && isnan(p.dram_bytes_per_s));
    assert_true(lab_device_peaks_find("NVIDIA GeForce RTX 3060", &p));
    assert_true(p.fp32_flop_per_s > 0 && isnan(p.dram_bytes_per_s));
    assert_string_equal(p.dram_source, "");
}

RUN_TESTS()
