/* The profile command on databases made here; $LAB_EXE is the program. */
#include "test.h"

#include <jansson.h>
#include <sys/wait.h>

#include "profile_program.h"
#include "store_samples.h"
#include "trace/intern.h"

static bool is_null(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    assert_non_null(v);
    return json_is_null(v);
}

TEST_CASE_WITH(ceilings_are_measured_and_kept, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    static const char *const names[] = {"copy", "fp32", "tf32", "bf16",
                                        "fp16", "fma",  "int8"};
    /* the database is made */
    assert_int_equal(profile(db, "ceilings --backend cpu --json @"), 0);
    assert_string_equal(errors, "");
    for (int i = 0; i < 7; i++) {
        json_t *o = line_object(i);
        assert_string_equal(text_of(o, "type"), "ceiling");
        assert_string_equal(text_of(o, "name"), names[i]);
        assert_string_equal(text_of(o, "backend"), "cpu");
        if (i < 2 || i == 5) {
            assert_true(real_of(o, "best_per_s") >= real_of(o, "median_per_s"));
            assert_true(real_of(o, "worst_per_s") > 1e6);
            assert_true(int_of(o, "repeats") > 2);
            assert_true(is_null(o, "reason"));
        } else {
            assert_true(is_null(o, "best_per_s"));
            assert_true(strlen(text_of(o, "reason")) > 5);
        }
        assert_true(is_null(o, "datasheet_per_s")); /* no processor has one */
        json_decref(o);
    }
    assert_null(line_object(7));
    assert_rows(db, 3, "ceiling WHERE hostname <> '' AND version IS NOT NULL");
    assert_int_equal(profile(db, "ceilings --backend cpu @"), 0);
    assert_rows(db, 6, "ceiling");
}

TEST_CASE_WITH(vacuum_gives_the_room_of_deleted_runs_back, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    assert_ok(sample_run(db, 1, 2, NULL));
    assert_ok(sample_run(db, 3000, 2, NULL));
    assert_int_equal(profile(db, "delete 2 @"), 0);
    assert_true(sample_int(db, "PRAGMA freelist_count") > 10);
    assert_int_equal(profile(db, "vacuum --json @"), 0);
    json_t *o = line_object(0);
    assert_string_equal(text_of(o, "type"), "vacuum");
    assert_true(int_of(o, "after_bytes") * 2 < int_of(o, "before_bytes"));
    json_decref(o);
    assert_sql(db, 0, "PRAGMA freelist_count");
    assert_rows(db, 1, "run");
}

/* No byte of what the command prints acts on a terminal. */
static void is_only_shown(const char *db, const char *args)
{
    assert_int_equal(profile(db, args), 0);
    assert_true(strlen(output) > 0);
    for (const char *p = output; *p; p++) {
        unsigned char byte = (unsigned char)*p;
        if ((byte < 0x20 && byte != '\n') || byte == 0x9b || byte == 0xff)
            fail_msg("%s: byte %02X", args, byte);
    }
}

TEST_CASE_WITH(hostile_names_are_only_shown, NULL, sample_cleanup)
{
    static const char evil[] = "\033]0;owned\007\033[2J\xc2\x9b"
                               "31m\xff\r";
    const char *db = sample_path("runs.db");
    struct lab_run_summary summary;
    struct lab_run_info info;
    struct lab_writer *writer;
    lab_run_info_init(&info);
    lab_run_summary_init(&summary);
    info.row.lesson = info.row.title = info.row.lesson_path = info.row.backend =
        evil;
    info.device.name = info.row.variants = info.row.commit = evil;
    assert_ok(lab_writer_new(&writer, db, &info, NULL));
    struct lab_sink sink = lab_writer_sink(writer);
    struct lab_record r = sample_step(1, 0, 0, LAB_TIME_CUPTI, LAB_UNKNOWN);
    r.u.step.name = r.u.step.variant = lab_intern(evil);
    sink.push(sink.user, &r);
    r = sample_kernel(1, 5, 5);
    r.u.kernel.demangled_name = r.u.kernel.short_name = lab_intern(evil);
    sink.push(sink.user, &r);
    assert_ok(lab_writer_finish(writer, &summary));
    lab_writer_free(writer);
    static const char *const args[] = {"list @",
                                       "show 1 @",
                                       "kernels 1 @",
                                       "show 1 --ascii @",
                                       "list @ --json",
                                       "show 1 @ --json",
                                       "kernels 1 @ --json",
                                       "compare 1 1 @",
                                       "compare 1 1 @ --json"};
    for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++)
        is_only_shown(db, args[i]);
    sample_sql(db, "UPDATE run SET device = 'Caf\xc3\xa9'");
    setenv("LC_ALL", "C", 1);
    assert_int_equal(profile(db, "show 1 @"), 0);
    setenv("LC_ALL", "C.UTF-8", 1);
    assert_non_null(strstr(output, "Caf?"));
}

TEST_CASE_WITH(hostile_figures_are_only_shown, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    assert_ok(sample_run(db, 3, 2, NULL));
    sample_counters(db, 5);
    sample_sql(
        db,
        "INSERT INTO TARGET_INFO_GPU (uuid, runId) VALUES ('GPU-1', 1);"
        "INSERT INTO ceiling (backend, device, uuid, name, best_per_s, "
        "measured, measured_ns) VALUES ('cuda', 'NVIDIA H200', 'GPU-1', "
        "'copy', 9e999, '\033]0;x\007', 5), ('cuda', 'NVIDIA H200', "
        "'GPU-1', 'fp32', 1e12, '2026-01-02', 5);"
        "UPDATE StringIds SET value = '\033[2J' || value WHERE value "
        "LIKE 'fc%' OR value LIKE 'void%';"
        "UPDATE time_sum SET median_ns = 9e18, flop = -1, gridX = "
        "9223372036854775807, gridY = 9223372036854775807;"
        "UPDATE run SET counters = 'basic', device = '\033[31m', precision = "
        "'\xff\xff', countersReason = '\x9b'");
    static const char *const args[] = {"roofline 1 @", "roofline 1 --json @",
                                       "roofline 1 --ascii @"};
    for (size_t i = 0; i < 3; i++)
        is_only_shown(db, args[i]);
    /* more rows than a run can have made */
    sample_sql(db, "UPDATE time_sum SET stepIndex = 0, phase = 0, nameId = 1, "
                   "variantId = 2, backendId = 3");
    assert_int_equal(profile(db, "roofline 1 --json @"), 0);
}

RUN_TESTS()
