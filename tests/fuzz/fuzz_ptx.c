/* PTX text: what is read holds together, whatever was in it. */
#include "fuzz.h"

#include <string.h>

#include "sim/ptx.h"

static bool within(const struct lab_ptx_variable *v,
                   const struct lab_ptx_variable *list, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        if (v == &list[i])
            return true;
    return false;
}

static void check_operand(const struct lab_ptx *ptx,
                          const struct lab_ptx_function *f,
                          const struct lab_ptx_operand *o)
{
    const struct lab_ptx_variable *v = o->variable;
    switch (o->kind) {
    case LAB_PTX_OPERAND_REG:
        fuzz_check(o->reg >= 0 && o->reg < f->reg_count, "no such register");
        break;
    case LAB_PTX_OPERAND_LABEL:
        fuzz_check(o->target >= 0 && o->target <= f->instr_count,
                   "a label to nowhere");
        break;
    case LAB_PTX_OPERAND_SYMBOL:
        fuzz_check(!v || within(v, ptx->variables, ptx->variable_count) ||
                       within(v, f->variables, f->variable_count) ||
                       within(v, f->params, f->param_count) ||
                       within(v, f->results, f->result_count),
                   "no such variable");
        fuzz_check(!v || strcmp(v->name, o->name) == 0, "another variable");
        break;
    case LAB_PTX_OPERAND_SPECIAL:
        fuzz_check(o->name[0] == '%', "no special register");
        break;
    case LAB_PTX_OPERAND_ADDRESS:
        fuzz_check(o->part_count > 0, "an address of nothing");
        break;
    case LAB_PTX_OPERAND_PAIR:
        fuzz_check(o->part_count == 2, "a pair that is none");
        break;
    default:
        break;
    }
    for (int32_t i = 0; i < o->part_count; i++)
        check_operand(ptx, f, &o->parts[i]);
}

static void check_variables(const struct lab_ptx_variable *v, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        int64_t bytes = v[i].elements * lab_ptx_type_bytes(v[i].type);
        fuzz_check(v[i].name && v[i].elements >= 0 && v[i].align >= 1 &&
                       v[i].init_bytes >= 0,
                   "a variable that cannot be");
        fuzz_check(v[i].init_bytes <= bytes, "initial values past the end");
        for (int32_t k = 0; k < v[i].address_count; k++) {
            const struct lab_ptx_address *a = &v[i].addresses[k];
            fuzz_check(a->symbol && a->at >= 0 && a->bytes > 0 &&
                           a->at + a->bytes <= v[i].init_bytes,
                       "an address past the end");
        }
    }
}

static void check_function(const struct lab_ptx *ptx,
                           const struct lab_ptx_function *f)
{
    fuzz_check(f->name && lab_ptx_function(ptx, f->name) == f,
               "a function that is not found");
    check_variables(f->params, f->param_count);
    check_variables(f->results, f->result_count);
    check_variables(f->variables, f->variable_count);
    for (int32_t i = 0; i < f->instr_count; i++) {
        const struct lab_ptx_instr *in = &f->instrs[i];
        fuzz_check(in->place >= -1 && in->place < ptx->place_count,
                   "no such place");
        fuzz_check(
            in->guard >= -1 && in->guard < f->reg_count &&
                (in->guard < 0 || f->regs[in->guard].type == LAB_PTX_PRED),
            "no such guard");
        for (int32_t k = 0; k < in->modifier_count; k++)
            fuzz_check(in->modifiers[k][0] != 0, "an empty modifier");
        for (int32_t k = 0; k < in->operand_count; k++)
            check_operand(ptx, f, &in->operands[k]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lab_ptx *ptx = NULL;
    if (lab_ptx_read((const char *)data, size, "fuzz.ptx", &ptx)) {
        fuzz_check(!ptx, "a module in spite of an error");
        return 0;
    }
    fuzz_accepted();
    check_variables(ptx->variables, ptx->variable_count);
    for (int32_t i = 0; i < ptx->place_count; i++) {
        const struct lab_ptx_place *p = &ptx->places[i];
        /* So a chain has an end. */
        fuzz_check(p->inlined_at >= -1 && p->inlined_at < i,
                   "inlined at a later place");
        fuzz_check(p->file >= -1 && p->file < ptx->file_count &&
                       (p->file < 0 || ptx->files[p->file]),
                   "no such file");
        fuzz_check(!p->function || strlen(p->function) <= size,
                   "a name of no end");
    }
    for (int32_t i = 0; i < ptx->function_count; i++)
        check_function(ptx, &ptx->functions[i]);
    lab_ptx_free(ptx);
    return 0;
}
