/* The file of a network that was kept: it is read whole, or refused with the
 * file's name; what can be continued has all its facts. */
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
        /* The seeds' lessons (run_target.sh). */
        if (lab_kept_facts(k, "rnn-fibonacci", &f) == LAB_OK ||
            lab_kept_facts(k, "optimizer-adam", &f) == LAB_OK)
            fuzz_check(f.lesson && f.optimizer && f.iteration >= 0,
                       "a lesson without its facts");
        lab_kept_free(k);
    } else {
        fuzz_check(strstr(lab_error(), "network") != NULL,
                   "an error without the file's name");
    }
    fuzz_empty();
    return 0;
}
