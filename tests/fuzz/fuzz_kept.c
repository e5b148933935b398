/* The file of a network that was kept: it is read whole, or refused with the
 * file's name; what is accepted has a lesson with all its facts, or none. */
#include "fuzz.h"

#include <string.h>

#include "debug/kept.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_path("network");
    struct lab_kept *k = NULL;
    struct lab_kept_facts f;
    fuzz_write("network", data, size);
    if (lab_kept_open(&k, path) == LAB_OK) {
        fuzz_accepted();
        const enum lab_status st = lab_kept_facts(k, "x", &f);
        fuzz_check(!f.lesson || (f.optimizer && f.iteration >= 0),
                   "a lesson without its facts");
        fuzz_check(f.lesson || st != LAB_OK,
                   "another program's file is continued");
        lab_kept_free(k);
    } else {
        fuzz_check(strstr(lab_error(), "network") != NULL,
                   "an error without the file's name");
    }
    fuzz_empty();
    return 0;
}
