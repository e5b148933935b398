/* The readers of data files: IDX, CSV, digits, text and words, plain and
 * packed. A file is read or refused with a reason; what was read fills every
 * batch and every held-back row.
 *
 * The first byte chooses the source, the second its options, the rest is the
 * file. Of MNIST it is four files, each but the last after its length in two
 * bytes. */
#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/data.h"
#include "engine/text.h"
#include "lesson/lesson.h"

static const char *const heads[] = {
    "data: {source: csv, path: f, batch: %d, split: 0.5, shuffle: %s, header: "
    "%s, scale: 2}\nnetwork: [{id: fc1, op: dense, units: 40}]\nloss: {op: "
    "softmax_cross_entropy}\n",
    "data: {source: csv, path: f, batch: %d, split: 0.5, shuffle: %s, header: "
    "%s}\nnetwork: [{id: fc1, op: dense, units: 1}]\nloss: {op: mse}\n",
    "data: {source: digits, path: f, batch: %d, shuffle: %s} # %s\n"
    "network: [{id: fc1, op: dense, units: 10}]\n"
    "loss: {op: softmax_cross_entropy}\n",
    "data: {source: mnist, path: ., batch: %d, shuffle: %s} # %s\n"
    "network: [{id: fc1, op: dense, units: 10}]\n"
    "loss: {op: softmax_cross_entropy}\n",
    "data: {source: text, path: f, batch: %d, shuffle: %s, context: 3} # %s\n"
    "network:\n - {id: e1, op: embedding, vocab: 300, dim: 2}\n"
    " - {id: fc1, op: dense, units: 300}\n"
    "loss: {op: softmax_cross_entropy}\n",
    "data: {source: words, path: f, batch: %d, shuffle: %s, split: 0.7, "
    "context: 2} # %s\n"
    "network:\n - {id: e1, op: embedding, vocab: 300, dim: 2}\n"
    " - {id: m1, op: sequence_mean}\n - {id: fc1, op: dense, units: 300}\n"
    "loss: {op: softmax_cross_entropy}\n",
    "data: {source: words, path: f, batch: %d, shuffle: %s, split: 1, context: "
    "1, model: skip_gram, vocab: 5} # %s\n"
    "network:\n - {id: e1, op: embedding, vocab: 300, dim: 2}\n"
    " - {id: fc1, op: dense, units: 300}\n"
    "loss: {op: softmax_cross_entropy}\n"};

enum { HEADS = sizeof(heads) / sizeof(heads[0]), MNIST = 3 };

static struct lab_lesson *make_lesson(unsigned source, unsigned options)
{
    struct lab_lesson *lesson = NULL;
    struct lab_findings found;
    struct lab_str text;
    char head[512];
    snprintf(head, sizeof(head), heads[source], 1 + (int)(options >> 2 & 3),
             options & 1 ? "true" : "false", options & 2 ? "true" : "false");
    lab_str_init(&text);
    lab_str_addf(&text, "---\nformat: 1\ntitle: a file\n%s---\n", head);
    lab_findings_init(&found);
    lab_lesson_parse(&lesson, "fuzz.md", lab_str_text(&text), text.len, &found);
    fuzz_check(lesson != NULL, lab_str_text(&text));
    lab_findings_release(&found);
    lab_str_release(&text);
    return lesson;
}

static void write_files(unsigned source, const uint8_t *data, size_t size)
{
    static const char *const idx[] = {
        "train-images-idx3-ubyte", "train-labels-idx1-ubyte",
        "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
    if (source != MNIST) {
        fuzz_write("f", data, size);
        return;
    }
    for (int i = 0; i < 4; i++) {
        size_t n = fuzz_byte(&data, &size);
        n |= (size_t)fuzz_byte(&data, &size) << 8;
        n = n > size || i == 3 ? size : n;
        fuzz_write(idx[i], data, n);
        data += n;
        size -= n;
    }
}

/* Every data tensor, for some iterations and all that is held back. */
static void fill(struct lab_data *d, const struct lab_plan *plan)
{
    struct lab_data_facts facts;
    lab_data_get_facts(d, &facts);
    for (int i = 0; i < plan->n_tensors; i++) {
        const struct lab_tensor *t = &plan->tensors[i];
        if (t->role != LAB_TENSOR_DATA)
            continue;
        void *out = calloc((size_t)t->count, sizeof(double));
        fuzz_check(out != NULL, "no memory");
        for (int64_t k = 0; k < 5; k++)
            fuzz_check(!lab_data_fill(d, plan, i, k * k, out),
                       "a batch cannot be filled");
        for (int64_t row = 0; row < facts.held_rows && row < 200;
             row += facts.batch)
            lab_data_fill_held(d, plan, i, row, out);
        lab_data_word_at(d, plan, i, t->count - 1, 3);
        free(out);
    }
}

static void read_all(struct lab_data *d, const struct lab_network_spec *spec)
{
    struct lab_data_facts facts;
    struct lab_data_shapes shapes;
    struct lab_plan *plan = NULL;
    const struct lab_text *text = lab_data_text(d);
    lab_data_get_facts(d, &facts);
    fuzz_check(facts.batch >= 1 && facts.train_rows >= facts.batch &&
                   facts.held_rows >= 0 && facts.batches_per_epoch >= 1,
               "the rows do not add up");
    for (int64_t i = 0; i < facts.held_rows && i < 50; i++) {
        int label = lab_data_held_label(d, i);
        fuzz_check(label >= -1 && label < (facts.classes ? facts.classes : 1),
                   "a label is no class");
        lab_data_held_next(d, i, 0);
        lab_data_held_skip(d, i);
    }
    double bits = 0;
    if (text)
        fuzz_check(!lab_text_order3_bits(text, &bits) &&
                       (isnan(bits) || bits >= 0),
                   "a text has no bits");
    lab_data_get_shapes(d, &shapes);
    if (lab_plan_build(&plan, spec, &shapes, LAB_F32) == LAB_OK) {
        if (lab_data_check_labels(d, plan) == LAB_OK) {
            fill(d, plan);
            lab_data_reseed(d, 99);
            fill(d, plan);
            fuzz_accepted();
        }
        lab_plan_free(plan);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct lab_lesson *lessons[HEADS][16];
    unsigned source = fuzz_byte(&data, &size) % HEADS;
    unsigned options = fuzz_byte(&data, &size) % 16;
    struct lab_lesson **lesson = &lessons[source][options];
    struct lab_data *d = NULL;
    if (!*lesson)
        *lesson = make_lesson(source, options);
    write_files(source, data, size);
    const struct lab_network_spec *spec = &(*lesson)->spec;
    const char *path = source == MNIST ? fuzz_dir() : fuzz_path("f");
    enum lab_status st = lab_data_open(&d, spec, path, 0, NULL);
    fuzz_check((st == LAB_OK) == (d != NULL) && (!st || lab_error()[0]),
               "neither data nor a reason");
    if (d)
        read_all(d, spec);
    lab_data_free(d);
    return 0;
}
