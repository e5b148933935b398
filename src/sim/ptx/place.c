/* place.c -- which line of source an instruction is shown with: a compiler puts
 * atomicAdd(), __shfl_sync() and the arithmetic of half into headers of its own,
 * and a person wrote the line that calls them. */
#include "sim/ptx.h"

#include <string.h>

static bool of_compiler(const char *path)
{
    static const char *const parts[] = {
        "/usr/include/", "/include/c++/",     "/usr/local/cuda", "/targets/",
        "/lib/clang/",   "/lapenna-lab/sim/", "/sim/clang/"};
    for (size_t i = 0; path && i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (strstr(path, parts[i]))
            return true;
    }
    return !path;
}

/* -1: all of the chain is in headers of the compiler's. */
static int32_t user_place(const struct lab_ptx *ptx, int32_t place)
{
    int32_t at = place;
    /* A chain is no longer than the table, whatever a hostile text has. */
    for (int32_t i = 0; at >= 0 && i < ptx->place_count; i++) {
        const struct lab_ptx_place *p = &ptx->places[at];
        if (p->line > 0 && p->file >= 0 && p->file < ptx->file_count &&
            !of_compiler(ptx->files[p->file]))
            return at;
        at = p->inlined_at;
    }
    return -1;
}

int32_t lab_ptx_user_place(const struct lab_ptx *ptx, int32_t place)
{
    const int32_t at = user_place(ptx, place);
    return at >= 0 ? at : place;
}

int32_t lab_ptx_caller(const struct lab_ptx *ptx, int32_t place)
{
    return place >= 0 && place < ptx->place_count
               ? user_place(ptx, ptx->places[place].inlined_at)
               : -1;
}

bool lab_ptx_has_modifier(const struct lab_ptx_instr *in, const char *modifier)
{
    for (int k = 0; k < in->modifier_count; k++)
        if (strcmp(in->modifiers[k], modifier) == 0)
            return true;
    return false;
}
