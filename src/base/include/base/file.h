/* base/file.h -- files that a user names. Threads: any. */
#pragma once
#include <stdint.h>
#include <stdio.h>
#include "base/status.h"

LAB_C_BEGIN
/* Opens a regular file for reading, and never waits for a pipe; *bytes is its size.
 * Errors: LAB_E_IO, with errno as open() left it, or 0 where it is no regular
 * file. */
enum lab_status lab_file_open(const char *path, int *fd, int64_t *bytes);
/* The n bytes from `from`. Errors: LAB_E_IO, also where there are fewer. */
enum lab_status lab_file_read(int fd, const char *path, int64_t from, void *to,
                              size_t n);
/* Creates a file for writing, which must not exist yet: what is there is never
 * overwritten. *out is for fclose(). Errors: LAB_E_IO, with a message of its own
 * where the file is there already. */
enum lab_status lab_file_create(const char *path, FILE **out);
LAB_C_END
