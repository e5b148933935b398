/* base/group.h -- what this process's control group lets it use: a container, or a
 * service of systemd, may have less than the machine. */
#pragma once
#include "base/status.h"

LAB_C_BEGIN
/* The smallest limit that FILE ("cpu.max", "memory.max") sets in the group and in
 * those above it (cgroup v2): N where a file has "N", N / P where it has "N P". 0:
 * no limit ("max", no such file, an older kernel). `root` is where proc and sys are:
 * "" but in tests. Threads: any. */
double lab_group_limit(const char *root, const char *file);
LAB_C_END
