/* Any file is a database or refused: what is accepted can be listed, compared,
 * exported and imported, whatever is in it. */
#include "fuzz.h"
#include "fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_write("in.db", data, size);
    fuzz_read_database(fuzz_path("in.db"), NULL);
    return 0;
}
