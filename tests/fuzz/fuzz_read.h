/* fuzz_read.h -- for the targets that make files of databases. */
#pragma once

/* Opens the file, lists, compares and exports its last run, and imports it as
 * the runs of `label` (NULL: as they are) without keeping anything. */
void fuzz_read_database(const char *file, const char *label);
