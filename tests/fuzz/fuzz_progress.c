/* The file of what a learner has finished: it is read and written again, or
 * moved aside; every text of it ends, and what was written is read alike. */
#include "fuzz.h"

#include <string.h>

#include "debug/progress.h"

static void check_ends(const struct lab_progress *p)
{
    fuzz_check(memchr(p->note, 0, sizeof(p->note)), "the note has no end");
    for (size_t i = 0; i < p->count; i++) {
        const struct lab_progress_entry *e = &p->entries[i];
        fuzz_check(memchr(e->id, 0, sizeof(e->id)) &&
                       memchr(e->opened, 0, sizeof(e->opened)),
                   "a text has no end");
    }
}

static void check_same(const struct lab_progress *a,
                       const struct lab_progress *b)
{
    fuzz_check(a->count == b->count, "lessons were lost");
    for (size_t i = 0; i < a->count; i++) {
        const struct lab_progress_entry *e = &a->entries[i];
        const struct lab_progress_entry *f = lab_progress_find(b, e->id);
        fuzz_check(f && e->steps_seen == f->steps_seen &&
                       e->steps_total == f->steps_total &&
                       e->finished == f->finished &&
                       strcmp(e->opened, f->opened) == 0,
                   "a lesson has changed");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lab_progress p;
    struct lab_progress again;
    fuzz_write("progress.json", data, size);
    if (lab_progress_load(&p, fuzz_path("progress.json")) == LAB_OK) {
        check_ends(&p);
        if (p.count > 0 || p.newer)
            fuzz_accepted();
        if (lab_progress_save(&p) == LAB_OK) {
            fuzz_check(lab_progress_load(&again, p.path) == LAB_OK &&
                           !again.note[0],
                       "what was written is not read");
            check_same(&p, &again);
            lab_progress_release(&again);
        } else {
            fuzz_check(p.newer, "it cannot be written");
        }
        lab_progress_release(&p);
    }
    fuzz_empty();
    return 0;
}
