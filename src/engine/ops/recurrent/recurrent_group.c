/* The one step that stands for all of an rnn's or lstm's steps in a phase. Its
 * tensors are those that the hidden steps read from outside and leave there. */
#include "recurrent_group.h"

#include <string.h>

#include "engine/plan.h"

/* The node's first step of that kernel in the phase, or its last; NULL: none. */
static const struct lab_step *find(const struct lab_plan *plan,
                                   const struct lab_node *node,
                                   enum lab_phase phase, const char *kernel,
                                   bool last)
{
    const struct lab_step *found = NULL;
    for (int i = 0; i < node->n_steps[phase] && (last || !found); i++) {
        const struct lab_step *s = &plan->steps[node->first_step[phase] + i];
        if (strcmp(s->kernel, kernel) == 0)
            found = s;
    }
    return found;
}

static double all_flop(const struct lab_plan *plan, const struct lab_node *node,
                       enum lab_phase phase)
{
    double sum = 0;
    for (int i = 0; i < node->n_steps[phase]; i++)
        sum += plan->steps[node->first_step[phase] + i].flop;
    return sum;
}

/* What both kinds call differently. */
struct names {
    const char *product; /* the step that multiplies by the weights */
    const char *cell;
};

static struct names names_of(const struct lab_node *node)
{
    if (strcmp(node->op->name, "lstm") == 0)
        return (struct names){"gates", "cell"};
    return (struct names){"sum", "tanh"};
}

/* x, W, U, b, h0, c0, from in[at] on; c0 LAB_NO_TENSOR in an rnn. */
static void add_layer(const struct lab_plan *plan, const struct lab_node *node,
                      struct lab_step_def *def, int at)
{
    struct names name = names_of(node);
    const struct lab_step *input =
        find(plan, node, LAB_FORWARD, "input", false);
    const struct lab_step *product =
        find(plan, node, LAB_FORWARD, name.product, false);
    const struct lab_step *cell =
        find(plan, node, LAB_FORWARD, name.cell, false);
    def->in[at] = input->in[0];
    def->in[at + 1] = product->in[2];
    def->in[at + 2] = product->in[3];
    def->in[at + 3] = product->in[4];
    def->in[at + 4] = product->in[1];
    def->in[at + 5] = cell->n_in > 1 ? cell->in[1] : LAB_NO_TENSOR;
    def->n_in = at + 6;
}

/* h of all time steps: what the last output of the first cell is a slice of. */
static int whole_h(const struct lab_plan *plan, const struct lab_node *node)
{
    const struct lab_step *cell =
        find(plan, node, LAB_FORWARD, names_of(node).cell, false);
    return plan->tensors[cell->out[cell->n_out - 1]].alias_of;
}

static void group_back(const struct lab_plan *plan, const struct lab_node *node,
                       struct lab_step_def *def)
{
    struct names name = names_of(node);
    const struct lab_step *returned =
        find(plan, node, LAB_BACKWARD, "return", false);
    const struct lab_step *last =
        find(plan, node, LAB_BACKWARD, name.cell, false);
    const struct lab_step *first =
        find(plan, node, LAB_BACKWARD, name.cell, true);
    const struct lab_step *weights =
        find(plan, node, LAB_BACKWARD, "weights", false);
    const struct lab_step *input =
        find(plan, node, LAB_BACKWARD, "input", false);
    bool lstm = strcmp(node->op->name, "lstm") == 0;
    def->in[0] = returned ? returned->in[0] : last->in[0];
    add_layer(plan, node, def, 1);
    def->in[def->n_in++] = whole_h(plan, node);
    def->out[0] = input ? input->out[0] : LAB_NO_TENSOR;
    for (int i = 0; i < 3; i++)
        def->out[1 + i] = weights->out[i];
    def->out[4] = find(plan, node, LAB_BACKWARD, name.product, true)->out[0];
    def->out[5] = lstm ? first->out[3] : LAB_NO_TENSOR;
    def->n_out = 6;
    def->formula = "from the last step to the first: what came back to h and "
                   "the state, through the cell to dz; $o1 and $o2 are dz "
                   "times $i1 and times h before, summed over all steps";
    def->explain = lab_recurrent_explain_group_back;
}

void lab_recurrent_group(const struct lab_plan *plan,
                         const struct lab_node *node, enum lab_phase phase,
                         const struct lab_node *absorbed,
                         struct lab_group_step *out)
{
    struct lab_step_def *def = &out->def;
    (void)absorbed;
    def->flop = all_flop(plan, node, phase);
    if (phase == LAB_BACKWARD) {
        group_back(plan, node, def);
        return;
    }
    add_layer(plan, node, def, 0);
    def->out[0] = find(plan, node, LAB_FORWARD, "return", false)->out[0];
    def->out[1] = whole_h(plan, node);
    def->n_out = 2;
    if (def->in[5] >= 0)
        def->formula = "step by step: a = tanh, i, f, o = sigmoid of $i0 $i1^T "
                       "+ h $i2^T + $i3; c = a i + f c; h = tanh(c) o; $o0 is "
                       "h";
    else if (def->in[3] >= 0)
        def->formula =
            "step by step: h = tanh($i0 $i1 + h $i2 + $i3); $o0 is h";
    else
        def->formula = "step by step: h = tanh($i0 $i1 + h $i2); $o0 is h";
    def->explain = lab_recurrent_explain_group;
}
