/* base/new_file.h -- a file that must not exist yet: what is there is never
 * overwritten. Threads: any. */
#pragma once
#include <stdio.h>
#include "base/status.h"

LAB_C_BEGIN
/* Creates it for writing; *out is for fclose(). Errors: LAB_E_IO, with a message of
 * its own where the file is there already. */
enum lab_status lab_new_file(const char *path, FILE **out);
LAB_C_END
