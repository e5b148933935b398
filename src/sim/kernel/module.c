/* A module of the simulator: reads PTX and gives its variables memory with their
 * initial values. Its kernels are in module_kernels.c. */
#include "module.h"

#include <string.h>

#include "base/mem.h"

static bool in_memory(const struct lab_ptx_variable *v)
{
    return (v->space == LAB_PTX_GLOBAL || v->space == LAB_PTX_CONST) &&
           !v->external;
}

static const struct lab_ptx_variable *variable(const struct lab_sim_module *m,
                                               const char *name)
{
    for (int k = 0; k < m->ptx->variable_count; k++)
        if (in_memory(&m->ptx->variables[k]) &&
            strcmp(m->ptx->variables[k].name, name) == 0)
            return &m->ptx->variables[k];
    return NULL;
}

static size_t variable_bytes(const struct lab_ptx_variable *v)
{
    size_t bytes = 0;
    if (v->elements < 0 ||
        !lab_mul_size((size_t)v->elements, (size_t)lab_ptx_type_bytes(v->type),
                      &bytes))
        return SIZE_MAX;
    return bytes;
}

/* How an address is stored, in its first a->bytes bytes. */
static uint64_t stored_address(const struct lab_ptx_address *a, uint64_t at)
{
    uint64_t value = at + a->add;
    return a->shift > 0 && a->shift < 64 ? value >> a->shift : value;
}

static bool has_room(const struct lab_ptx_address *a, size_t bytes)
{
    return a->at >= 0 && a->bytes >= 1 && a->bytes <= 8 &&
           (size_t)a->at + (size_t)a->bytes <= bytes;
}

/* Addresses of other variables in global memory, in the initial value. */
static void set_addresses(struct lab_sim_module *m,
                          const struct lab_ptx_variable *v, unsigned char *to,
                          size_t bytes)
{
    for (int k = 0; k < v->address_count; k++) {
        const struct lab_ptx_address *a = &v->addresses[k];
        const struct lab_ptx_variable *of = variable(m, a->symbol);
        /* That of a function stays 0: nothing here calls by address. Where shared
         * memory has a variable is known with the kernel. */
        if (!of || !has_room(a, bytes))
            continue;
        uint64_t value = stored_address(a, sim_module_address(m, of));
        memcpy(to + a->at, &value, (size_t)a->bytes);
    }
}

enum lab_status sim_module_set_shared(struct lab_sim_module *m,
                                      const struct lab_ptx_variable *v,
                                      const struct lab_ptx_address *a,
                                      uint64_t at)
{
    ptrdiff_t k = v - m->ptx->variables;
    uint64_t value =
        stored_address(a, a->generic ? SIM_SHARED_WINDOW | at : at);
    unsigned char *to = m->variables[k];
    if (!has_room(a, variable_bytes(v)))
        return LAB_OK;
    if (m->has_shared[k] && memcmp(to + a->at, &value, (size_t)a->bytes) != 0)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[ptx.shared-address] %s: %s has the address of %s, "
                        "which another kernel has elsewhere in shared memory",
                        m->ptx->name, v->name, a->symbol);
    memcpy(to + a->at, &value, (size_t)a->bytes);
    return LAB_OK;
}

static enum lab_status make_variables(struct lab_sim_module *m)
{
    const struct lab_ptx *ptx = m->ptx;
    enum lab_status st = LAB_OK;
    for (int k = 0; !st && k < ptx->variable_count; k++) {
        const struct lab_ptx_variable *v = &ptx->variables[k];
        size_t bytes = variable_bytes(v);
        if (!in_memory(v))
            continue;
        st = bytes < (size_t)1 << 36
                 ? lab_sim_alloc(m->memory, bytes, &m->variables[k])
                 : lab_fail(LAB_E_RANGE,
                            "[ptx.variable-size] %s: %s is too large",
                            ptx->name, v->name);
        if (!st && v->init && v->init_bytes > 0)
            memcpy(m->variables[k], v->init,
                   (size_t)v->init_bytes < bytes ? (size_t)v->init_bytes
                                                 : bytes);
        if (!st && bytes > 0)
            st = lab_sim_written(m->memory, m->variables[k], bytes);
        if (!st) {
            struct lab_sim_label label = {
                .argument = -1,
                .element_bytes = lab_ptx_type_bytes(v->type),
                .rank = 1,
                .dim = {v->elements},
                .read_only = v->space == LAB_PTX_CONST};
            strncpy(label.name, v->name, sizeof(label.name) - 1);
            if (bytes > 0)
                st = lab_sim_label(m->memory, m->variables[k], bytes, &label);
        }
    }
    for (int k = 0; !st && k < ptx->variable_count; k++)
        if (in_memory(&ptx->variables[k]))
            set_addresses(m, &ptx->variables[k], m->variables[k],
                          variable_bytes(&ptx->variables[k]));
    return st;
}

enum lab_status lab_sim_module_open(struct lab_sim_memory *memory,
                                    const char *text, size_t bytes,
                                    const char *name,
                                    struct lab_sim_module **out)
{
    struct lab_sim_module *m = lab_alloc(sizeof(*m));
    if (!m)
        return lab_no_memory("a module of the simulator");
    m->memory = memory;
    lab_str_init(&m->given);
    pthread_mutex_init(&m->lock, NULL);
    enum lab_status st = lab_ptx_read(text, bytes, name, &m->ptx);
    if (!st) {
        m->variables = lab_alloc_array((size_t)m->ptx->variable_count + 1,
                                       sizeof(*m->variables));
        m->has_shared = lab_alloc_array((size_t)m->ptx->variable_count + 1,
                                        sizeof(*m->has_shared));
        st = m->variables && m->has_shared
                 ? make_variables(m)
                 : lab_no_memory("the variables of a module");
    }
    if (st)
        lab_sim_module_close(m);
    else
        *out = m;
    return st;
}

enum lab_status lab_sim_module_define(struct lab_sim_module *m,
                                      const char *word)
{
    const size_t n = strcspn(word, "=");
    lab_str_addf(&m->given, "#define %.*s %s\n", (int)n, word,
                 word[n] ? word + n + 1 : "1");
    return lab_str_check(&m->given, "what is defined");
}

void lab_sim_module_close(struct lab_sim_module *m)
{
    if (!m)
        return;
    while (m->kernels) {
        struct sim_kernel_room *next = m->kernels->next;
        lab_arena_release(&m->kernels->arena);
        lab_free(m->kernels);
        m->kernels = next;
    }
    for (int k = 0; m->ptx && m->variables && k < m->ptx->variable_count; k++)
        if (m->variables[k])
            lab_sim_free(m->memory, m->variables[k]);
    lab_free(m->variables);
    lab_free(m->has_shared);
    lab_ptx_free(m->ptx);
    lab_str_release(&m->given);
    pthread_mutex_destroy(&m->lock);
    lab_free(m);
}

const struct lab_ptx *lab_sim_module_ptx(const struct lab_sim_module *m)
{
    return m->ptx;
}

enum lab_status lab_sim_module_variable(struct lab_sim_module *m,
                                        const char *name, void **out,
                                        size_t *bytes)
{
    const struct lab_ptx_variable *v = variable(m, name);
    if (!v)
        return lab_fail(
            LAB_E_NOTFOUND,
            "[ptx.variable] %s has no variable %s in global or constant memory",
            m->ptx->name, name);
    *out = m->variables[v - m->ptx->variables];
    *bytes = variable_bytes(v);
    return LAB_OK;
}
