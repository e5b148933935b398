/* `profile export` as JSON Lines, and into files; $LAB_EXE is the program. */
#include <fcntl.h>
#include "test.h"
#include "file.h"

#include <sys/stat.h>
#include <unistd.h>

#include "export_sample.h"
#include "profile_program.h"
#include "store/export.h"
#include "store_samples.h"

/* ---- JSON Lines ---- */

PROFILE_CASE(lines_are_those_of_show)
{
    char shown[1 << 16];
    int n = 0;
    assert_int_equal(profile(db, "show 1 --json @"), 0);
    assert_true(strlen(output) < sizeof(shown));
    strcpy(shown, output);
    assert_int_equal(profile(db, "export 1 --format jsonl --output - @"), 0);
    assert_int_equal(strncmp(output, shown, strlen(shown)), 0);
    for (json_t *o; (o = line_object(n)); n++)
        json_decref(o);
    assert_int_equal(n, 1 + 4 + 3 + 25);
}

/* ---- files ---- */

static int files_there(void)
{
    char command[600];
    int n = -1;
    snprintf(command, sizeof(command), "ls -A '%s' | grep -vc -e db -e stderr",
             sample_dir());
    FILE *p = popen(command, "r");
    assert_non_null(p);
    assert_int_equal(fscanf(p, "%d", &n), 1);
    pclose(p);
    return n;
}

PROFILE_CASE(nothing_is_overwritten)
{
    char args[1024];
    static const char *const formats[] = {"csv", "nsys"};
    for (int i = 0; i < 2; i++) {
        test_write(sample_path("mine"), "precious");
        snprintf(args, sizeof(args), "export 1 --format %s --output '%s' @",
                 formats[i], sample_path("mine"));
        assert_int_equal(profile(db, args), 3);
        assert_non_null(strstr(errors, "--force"));
        char *text = test_read(sample_path("mine"));
        assert_string_equal(text, "precious");
        test_free(text);
        strcat(args, " --force");
        assert_int_equal(profile(db, args), 0);
        text = test_read(sample_path("mine"));
        assert_null(strstr(text, "precious"));
        test_free(text);
        assert_int_equal(files_there(), 1); /* nothing is left beside it */
    }
    assert_int_equal(profile(db, "export 1 --format csv --output /nowhere/x @"),
                     3);
    snprintf(args, sizeof(args), "export 1 --format csv --output '%s' @",
             sample_dir());
    assert_int_equal(profile(db, args), 3);
    assert_non_null(strstr(errors, "directory"));
    assert_int_equal(
        profile(db, "export 1 --format csv --output - @ >/dev/full"), 3);
}

/* Exports to `name` with --force: refused with `word`, and as it was. */
static void is_refused(const char *db, const char *name, const char *word)
{
    static const char *const formats[] = {"csv", "nsys"};
    struct stat before;
    struct stat after;
    char args[1024];
    const char *path = sample_path(name);
    bool there = lstat(path, &before) == 0;
    for (int i = 0; i < 2; i++) {
        snprintf(args, sizeof(args),
                 "export 1 --format %s --output '%s' --force @", formats[i],
                 path);
        if (profile(db, args) != 3 || !strstr(errors, word))
            fail_msg("%s: %s", name, errors);
        assert_int_equal(lstat(path, &after) == 0, there);
        if (!there)
            continue;
        assert_int_equal(after.st_ino, before.st_ino);
        assert_int_equal(after.st_mode, before.st_mode);
    }
}

PROFILE_CASE(force_is_for_files_only)
{
    struct lab_export_file file;
    struct stat info;
    const char *pipe = sample_path("pipe.db"); /* .db: see files_there() */
    assert_int_equal(mkfifo(pipe, 0600), 0);
    is_refused(db, "pipe.db", "a pipe");
    assert_int_equal(symlink("pipe.db", sample_path("link.db")), 0);
    is_refused(db, "link.db", "a pipe");
    assert_int_equal(mkdir(sample_path("dir.db"), 0700), 0);
    is_refused(db, "dir.db", "a directory");
    assert_int_equal(files_there(), 0);
    /* a pipe that comes while the file is written */
    const char *late = sample_path("late.db");
    assert_ok(lab_export_open(&file, late, NULL, true, true));
    assert_int_equal(mkfifo(late, 0600), 0);
    assert_int_equal(lab_export_close(&file, LAB_OK), LAB_E_IO);
    assert_int_equal(lstat(late, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
}

PROFILE_CASE(the_database_is_not_overwritten)
{
    static const char *const parts[] = {"runs.db", "runs.db-wal", "runs.db-shm",
                                        "runs.db-journal"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        is_refused(db, parts[i], "database that is read");
    /* by other names: of the file, and of the way to it */
    assert_int_equal(link(db, sample_path("hard.db")), 0);
    is_refused(db, "hard.db", "database that is read");
    assert_int_equal(symlink("runs.db", sample_path("soft.db")), 0);
    is_refused(db, "soft.db", "database that is read");
    is_refused(sample_path("soft.db"), "runs.db-wal", "database that is read");
    assert_int_equal(symlink(".", sample_path("way.db")), 0);
    is_refused(db, "way.db/runs.db-wal", "database that is read");
    assert_rows(db, 1, "run");
    assert_int_equal(files_there(), 0);
}

/* A link stays one, and what it leads to is written. */
PROFILE_CASE(a_link_is_written_through)
{
    static const char *const formats[] = {"csv", "nsys"};
    struct stat info;
    char args[1024];
    assert_int_equal(mkdir(sample_path("far"), 0700), 0);
    assert_int_equal(symlink("far/out", sample_path("link")), 0);
    is_refused(db, "link", "leads to no file");
    for (int i = 0; i < 2; i++) {
        test_write(sample_path("far/out"), "");
        snprintf(args, sizeof(args), "export 1 --format %s --output '%s' @",
                 formats[i], sample_path("link"));
        assert_int_equal(profile(db, args), 3); /* there is such a file */
        assert_int_equal(stat(sample_path("far/out"), &info), 0);
        assert_int_equal(info.st_size, 0);
        strcat(args, " --force");
        assert_int_equal(profile(db, args), 0);
        assert_int_equal(lstat(sample_path("link"), &info), 0);
        assert_true(S_ISLNK(info.st_mode));
        assert_int_equal(lstat(sample_path("far/out"), &info), 0);
        assert_true(S_ISREG(info.st_mode) && info.st_size > 0);
    }
}

TEST_CASE_WITH(half_a_file_never_shows, NULL, export_cleanup)
{
    struct lab_export_file file;
    const char *path = sample_path("half");
    assert_ok(lab_export_open(&file, path, NULL, true, false));
    fputs("half", file.stream);
    fflush(file.stream);
    assert_int_equal(access(path, F_OK), -1);
    /* Nor under another name, which would stay if the program were killed. */
    int probe = open(sample_path("."), O_TMPFILE | O_WRONLY, 0600);
    if (probe >= 0) {
        close(probe);
        assert_int_equal(files_there(), 0);
    }
    assert_int_equal(lab_export_close(&file, LAB_E_DB), LAB_E_DB);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(files_there(), 0);
    /* another process makes the file in the meantime */
    assert_ok(lab_export_open(&file, path, NULL, true, false));
    test_write(path, "");
    assert_int_equal(lab_export_close(&file, LAB_OK), LAB_E_IO);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 0);
    assert_int_equal(files_there(), 1);
}

/* What a killed export left goes; files of other programs stay (rsync names
 * its temporary ones .half.a1B2c3). */
TEST_CASE_WITH(only_own_leftovers_are_removed, NULL, export_cleanup)
{
    static const struct {
        const char *name;
        bool stays;
    } cases[] = {
        {".half.backup", true},          {".half.a1B2c3", true},
        {".half.lapenna-a.b~c1", true},  {".half.lapenna-a1B2c", true},
        {".half.lapenna-a1B2c3d", true}, {".other.lapenna-a1B2c3", true},
        {".half.lapenna-a1B2c3", false}, {".half.lapenna-backup", false},
    };
    struct lab_export_file file;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        test_write(sample_path(cases[i].name), "");
    }
    assert_ok(lab_export_open(&file, sample_path("half"), NULL, true, false));
    assert_ok(lab_export_close(&file, LAB_OK));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if ((access(sample_path(cases[i].name), F_OK) == 0) != cases[i].stays)
            fail_msg("%s %s", cases[i].name,
                     cases[i].stays ? "was removed" : "is still there");
}

TEST_CASE_OF(wrong_usage_is_two, sample_setup, export_cleanup, const char *db)
{
    static const struct {
        const char *args;
        int status;
        const char *word;
    } cases[] = {
        {"export 1 @", 2, "--format"},
        {"export 1 --format csv @", 2, "--output"},
        {"export 1 --format jsonn --output - @", 2, "did you mean jsonl"},
        {"export 1 --format csv --table step --output - @", 2,
         "did you mean steps"},
        {"export 1 --format html --table steps --output - @", 2, "--table"},
        {"export 1 2 --format csv --output - @", 2, "takes one run"},
        {"export 9 --format csv --output - @", 3, "there is no run 9"},
        {"export 9 --format nsys --output /tmp/never @", 3, "no run 9"},
    };
    assert_ok(sample_run(db, 1, 1, NULL));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int status = profile(db, cases[i].args);
        if (status != cases[i].status || !strstr(errors, cases[i].word))
            fail_msg("%s: exit %d, %s", cases[i].args, status, errors);
        assert_string_equal(output, "");
    }
}

RUN_TESTS()
