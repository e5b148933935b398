/* Limits of a control group: its own and those above it, the smallest one; and none
 * where a file has "max" or is not there. */
#include "test.h"
#include "file.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/group.h"
#include "base/mem.h"
#include "place.h"

static int setup(void **state)
{
    static const char *const folders[] = {"proc",
                                          "proc/self",
                                          "sys",
                                          "sys/fs",
                                          "sys/fs/cgroup",
                                          "sys/fs/cgroup/a",
                                          "sys/fs/cgroup/a/b"};
    if (place_make(state))
        return -1;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        assert_int_equal(mkdir(folders[i], 0700), 0);
    return 0;
}

static bool is(const char *file, double limit)
{
    double found = lab_group_limit(".", file);
    return found >= limit && found <= limit;
}

TEST_CASE(the_smallest_limit_on_the_way_up_holds)
{
    test_write("proc/self/cgroup", "4:memory:/x\n0::/a/b\n");
    assert_true(is("memory.max", 0));
    test_write("sys/fs/cgroup/a/b/memory.max", "max\n");
    assert_true(is("memory.max", 0));
    test_write("sys/fs/cgroup/a/memory.max", "8589934592\n");
    assert_true(is("memory.max", 8589934592.0));
    test_write("sys/fs/cgroup/a/b/memory.max", "1073741824\n");
    assert_true(is("memory.max", 1073741824.0));
    test_write("sys/fs/cgroup/memory.max", "536870912\n");
    assert_true(is("memory.max", 536870912.0));
}

/* In a container the group is "/", and its files are those of the root. */
TEST_CASE(a_container_has_its_limits_in_the_root)
{
    test_write("proc/self/cgroup", "0::/\n");
    test_write("sys/fs/cgroup/cpu.max", "150000 100000\n");
    assert_true(is("cpu.max", 1.5));
    test_write("sys/fs/cgroup/cpu.max", "max 100000\n");
    assert_true(is("cpu.max", 0));
    test_write("sys/fs/cgroup/cpu.max", "0 0\n");
    assert_true(is("cpu.max", 0));
}

TEST_CASE(without_cgroup_v2_there_is_none)
{
    test_write("sys/fs/cgroup/memory.max", "1\n");
    test_write("proc/self/cgroup", "4:memory:/\n3:cpu:/a\n");
    assert_true(is("memory.max", 0));
    assert_int_equal(unlink("proc/self/cgroup"), 0);
    assert_true(is("memory.max", 0));
}

TEST_CASE(the_host_has_no_more_than_its_group)
{
    double limit = lab_group_limit("", "memory.max");
    assert_true(lab_host_memory() > 0);
    assert_true(limit <= 0 || (double)lab_host_memory() <= limit);
}

RUN_TESTS_IN(setup, place_remove)
