/* The kernels of a module: found by name, lowered when they are first asked for, and
 * the arrays in shared memory as the source declares them. */
#include "module.h"

#include <stdio.h>
#include <string.h>

#include "base/datadir.h"
#include "base/kernel_name.h"
#include "base/mem.h"
#include "sim/argument.h"

/* "saxpy, reduce, ..." */
static void list_kernels(const struct lab_ptx *ptx, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int k = 0; k < ptx->function_count; k++) {
        const struct lab_ptx_function *f = &ptx->functions[k];
        size_t n = strlen(f->name);
        if (!f->entry || f->declared)
            continue;
        if (used + n + 8 > size) {
            memcpy(out + used, ", ...", 6);
            return;
        }
        if (used) {
            memcpy(out + used, ", ", 2);
            used += 2;
        }
        memcpy(out + used, f->name, n + 1);
        used += n;
    }
}

/* ---- arrays in shared memory, as the source has them ---- */

/* The text of a file that PTX names; NULL: it is not there, or larger than any source of
 * a kernel. For lab_free(). */
static char *read_source(const struct lab_ptx *ptx, const char *path,
                         size_t *bytes)
{
    enum { MOST = 1 << 20 };
    FILE *f = lab_source_open(ptx->name, path);
    char *text = f ? lab_alloc(MOST) : NULL;
    *bytes = text ? fread(text, 1, MOST, f) : 0;
    if (f)
        fclose(f);
    if (*bytes > 0 && *bytes < MOST)
        return text;
    lab_free(text);
    return NULL;
}

static void name_elements(const struct lab_sim_module *m,
                          struct sim_variable *v, int64_t total,
                          const char *text, size_t bytes)
{
    struct lab_sim_array a;
    if (!v->name[0] || v->element_bytes > 0)
        return;
    char *scope = v->symbol ? lab_kernel_demangle(v->symbol) : NULL;
    const bool known = lab_sim_source_array(
        text, bytes, lab_str_text(&m->given), scope, v->name, total, &a);
    lab_free(scope);
    if (!known)
        return;
    v->type = a.type;
    v->element_bytes = a.element_bytes;
    v->rank = a.rank;
    memcpy(v->dim, a.dim, sizeof(v->dim));
}

/* From the files that the kernel's instructions are of. What is not found has bytes
 * instead of elements. */
static void read_arrays(const struct lab_sim_module *m,
                        struct lab_sim_kernel *k)
{
    const struct lab_ptx *ptx = k->ptx;
    const bool any = k->variable_count > 0 || k->dynamic_array.name[0];
    for (int32_t file = 0; any && file < ptx->file_count; file++) {
        bool own = false;
        for (int32_t i = 0; !own && i < k->instr_count; i++) {
            const struct lab_ptx_instr *in = k->instrs[i].ptx;
            own = in && in->near >= 0 && ptx->places[in->near].file == file;
        }
        size_t bytes;
        char *text = own && ptx->files[file]
                         ? read_source(ptx, ptx->files[file], &bytes)
                         : NULL;
        for (int32_t i = 0; text && i < k->variable_count; i++)
            name_elements(m, &k->variables[i],
                          k->variables[i].end - k->variables[i].from, text,
                          bytes);
        if (text)
            name_elements(m, &k->dynamic_array, -1, text, bytes);
        lab_free(text);
    }
}

static enum lab_status make_kernel(struct lab_sim_module *m,
                                   const struct lab_ptx_function *f,
                                   const struct lab_sim_kernel **out)
{
    struct sim_kernel_room *room = lab_alloc(sizeof(*room));
    if (!room)
        return lab_no_memory("a kernel");
    enum lab_status st = sim_lower_kernel(m, f, &room->arena, &room->kernel);
    if (st) {
        lab_arena_release(&room->arena);
        lab_free(room);
        return st;
    }
    read_arrays(m, room->kernel);
    room->next = m->kernels;
    m->kernels = room;
    *out = room->kernel;
    return LAB_OK;
}

enum lab_status lab_sim_kernel_find(struct lab_sim_module *m, const char *name,
                                    const struct lab_sim_kernel **out)
{
    const struct lab_ptx_function *f = lab_ptx_function(m->ptx, name);
    if (!f || !f->entry || f->declared) {
        char names[512];
        list_kernels(m->ptx, names, sizeof(names));
        return lab_fail(LAB_E_NOTFOUND, "[ptx.kernel] %s has no kernel %s%s%s",
                        m->ptx->name, name, names[0] ? "; it has " : "", names);
    }
    enum lab_status st = LAB_OK;
    pthread_mutex_lock(&m->lock);
    const struct sim_kernel_room *room = m->kernels;
    while (room && room->kernel->function != f)
        room = room->next;
    if (room)
        *out = room->kernel;
    else
        st = make_kernel(m, f, out);
    pthread_mutex_unlock(&m->lock);
    return st;
}

const struct lab_ptx_function *
lab_sim_kernel_function(const struct lab_sim_kernel *k)
{
    return k->function;
}
