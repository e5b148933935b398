/* The hardware counters of the walk so far, a block of lines for each kernel. */
#include <math.h>
#include <stdio.h>

#include "report/advise.h"
#include "plain_priv.h"
#include "report/print.h"
#include "report/counters_text.h"

static void print_line(void *user, const char *name, const char *text)
{
    (void)user;
    lab_printf(stdout, "    %-10s %s\n", name, text);
}

static void print_advice(struct lab_plain *p, int index, int kernel)
{
    struct lab_advice a[LAB_ADVICE_COUNT];
    int n = lab_advise_kernel(lab_recording_live(p->recording), &p->snap, index,
                              kernel, a);
    for (int i = 0; i < n; i++)
        lab_printf(stdout, "    %-10s %s: %s. Try %s.\n", "advice",
                   lab_advice_name(a[i].rule), a[i].evidence, a[i].remedy);
}

static void print_step(struct lab_plain *p, int index)
{
    const struct lab_schedule_step *s = &p->snap.schedule->steps[index];
    struct lab_live *live = lab_recording_live(p->recording);
    int64_t exec = p->snap.steps[index].exec;
    struct lab_counters c;
    struct lab_kernel_record k;
    size_t kernels = lab_live_kernels(live, exec, &k, 1);
    for (int64_t i = 0; lab_live_counters(live, exec, i, &c); i++) {
        bool alone = kernels == 1;
        struct lab_counters_beside beside = {
            .occupancy_pct = alone ? k.occupancy_pct : NAN,
            .flop = alone ? s->step->flop : NAN,
            .bytes = alone ? s->step->bytes : NAN,
            .update = s->step->phase == LAB_UPDATE};
        lab_printf(stdout, "  %s, %s, kernel %lld\n", s->step->name,
                   lab_phase_name(s->step->phase), (long long)i + 1);
        lab_counters_lines(&c, &beside, print_line, NULL);
        print_advice(p, index, (int)i);
    }
}

void lab_plain_print_counters(struct lab_plain *p)
{
    for (int i = 0; i < p->snap.position; i++)
        print_step(p, i);
}
