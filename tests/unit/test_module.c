/* Where modules are looked for, and what is reported when they are not there. */
#include <unistd.h>

#include "test.h"
#include "file.h"

#include "base/module.h"

#define VARIABLE "LAPENNA_LAB_MODULE_DIR"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/lab-module-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char path[96];
    snprintf(path, sizeof(path), "%s/broken.so", folder);
    unlink(path);
    unsetenv(VARIABLE);
    return rmdir(folder);
}

TEST_CASE(only_the_named_folder_is_searched)
{
    void *handle = NULL;
    setenv(VARIABLE, folder, 1);
    assert_int_equal(lab_module_open("lapenna-lab-onednn.so", &handle),
                     LAB_E_NOTFOUND);
    assert_null(handle);
    assert_non_null(strstr(lab_error(), folder));
    assert_true(error_is("[module.file] lapenna-lab-onednn.so"));
    setenv(VARIABLE, LAB_TEST_MODULE_DIR, 1);
    assert_ok(lab_module_open("test_module_sample.so", &handle));
    assert_non_null(handle);
    void *address = NULL;
    assert_ok(lab_module_symbol(handle, "sample_answer", &address));
    assert_int_equal(*(const int *)address, 42);
    address = NULL;
    assert_int_equal(lab_module_symbol(handle, "sample_nothing", &address),
                     LAB_E_NOTFOUND);
    assert_null(address);
}

TEST_CASE(without_the_variable_it_is_beside_the_program)
{
    void *handle = NULL;
    unsetenv(VARIABLE);
    assert_int_equal(lab_module_open("no-such-module.so", &handle),
                     LAB_E_NOTFOUND);
    assert_true(error_is("[module.missing] ../lib/lapenna-lab"));
    setenv(VARIABLE, "", 1); /* empty is as good as unset */
    assert_int_equal(lab_module_open("no-such-module.so", &handle),
                     LAB_E_NOTFOUND);
    assert_true(error_is("[module.missing] ../lib/lapenna-lab"));
    assert_null(handle);
}

TEST_CASE(a_broken_file_is_named_with_the_reason)
{
    char path[96];
    void *handle = NULL;
    snprintf(path, sizeof(path), "%s/broken.so", folder);
    test_write(path, "not a shared object");
    setenv(VARIABLE, folder, 1);
    assert_int_equal(lab_module_open("broken.so", &handle), LAB_E_UNSUPPORTED);
    assert_null(handle);
    assert_non_null(strstr(lab_error(), path));
}

TEST_CASE(only_plain_names_are_taken)
{
    static const char *const bad[] = {"", "../x.so", "/tmp/x.so", "a/b", NULL};
    void *handle = NULL;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(lab_module_open(bad[i], &handle), LAB_E_ARG);
    char *longest = malloc(8192);
    assert_non_null(longest);
    memset(longest, 'x', 8191);
    longest[8191] = '\0';
    assert_int_equal(lab_module_open(longest, &handle), LAB_E_NOTFOUND);
    free(longest);
    assert_null(handle);
}

RUN_TESTS_IN(make_folder, remove_folder)
