/* limit_words.c -- what limits the occupancy of a kernel, as text. */
#include "store/limit_words.h"

#include <stdio.h>

#include "trace/record.h"

void lab_limit_words(int64_t limit, const char *between, char *out,
                     size_t bytes)
{
    static const struct {
        int64_t bit;
        const char *name;
    } bits[] = {
        {LAB_LIMIT_WARPS, "warps"},         {LAB_LIMIT_BLOCKS, "blocks"},
        {LAB_LIMIT_REGISTERS, "registers"}, {LAB_LIMIT_SHARED, "shared"},
        {LAB_LIMIT_BARRIERS, "barriers"},   {LAB_LIMIT_GRID, "grid"},
    };
    size_t n = 0;
    out[0] = '\0';
    if (limit == LAB_UNKNOWN)
        return;
    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
        if ((limit & bits[i].bit) && n < bytes)
            n += (size_t)snprintf(out + n, bytes - n, "%s%s", n ? between : "",
                                  bits[i].name);
}

const char *lab_limit_text(int64_t limit, char *out, size_t bytes)
{
    lab_limit_words(limit, "+", out, bytes);
    if (limit == LAB_UNKNOWN)
        return NULL;
    return out[0] ? out : "none";
}
