/* Fuzz target: words of the `:` command line. What is understood is whole, and
 * what is refused has a reason. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "debug/command.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lab_ui_command c;
    char *line = fuzz_string(data, size);
    memset(&c, 0x5a, sizeof(c));
    if (lab_ui_command_parse(line, &c)) {
        if (!lab_error()[0])
            abort();
    } else if (!memchr(c.arg, 0, sizeof(c.arg)) ||
               !memchr(c.arg2, 0, sizeof(c.arg2)) || c.index_count < 0 ||
               c.index_count > LAB_COMMAND_INDICES ||
               (unsigned)c.kind >= LAB_COMMAND_KIND_COUNT ||
               !lab_ui_command_name(c.kind)) {
        abort();
    } else if (c.kind != LAB_COMMAND_NONE) {
        fuzz_accepted();
    }
    free(line);
    return 0;
}
