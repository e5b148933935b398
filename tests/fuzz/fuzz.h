/* fuzz.h -- what the fuzz targets share.
 *
 * A target is one file, fuzz_NAME.c, with the entry that libFuzzer calls. With
 * clang (preset `fuzz`) libFuzzer is linked and looks for inputs that reach new
 * code; with another compiler fuzz_driver.c calls the same entry. Both take
 * directories of seeds, -max_total_time=SECONDS, -seed=N and -max_len=BYTES;
 * run_target.sh makes the seeds and starts either. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns 0. What does not hold ends the program with abort(). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Called before the first input. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* This input was understood. With FUZZ_ACCEPT=N in the environment the program
 * fails at its end when fewer than N inputs were: seeds that are refused at
 * once lead nowhere. */
void fuzz_accepted(void);
/* Ends the program with these words unless `holds`. */
void fuzz_check(bool holds, const char *what);
/* A directory of this process in memory, $TMPDIR where it is set; removed with
 * all its files when the program ends. */
const char *fuzz_dir(void);
/* `name` in it; the text is valid until the eighth call after this one. */
const char *fuzz_path(const char *name);
/* Makes that file of these bytes, in the place of an older one. */
void fuzz_write(const char *name, const void *bytes, size_t n);
/* Removes all files of that directory. */
void fuzz_empty(void);
/* The bytes as a string of `size` bytes and a NUL; the caller's, free(). */
char *fuzz_string(const uint8_t *data, size_t size);
/* The next byte of an input, 0 past its end. */
unsigned fuzz_byte(const uint8_t **data, size_t *size);
