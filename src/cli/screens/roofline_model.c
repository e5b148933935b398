#include "roofline_model.h"

#include <math.h>
#include <string.h>

#include "base/format.h"
#include "base/mem.h"
#include "engine/ceiling.h"
#include "report/suggest.h"

enum { TEXTS_A_POINT = 4 };

void lab_roofline_model_release(struct lab_roofline_model *m)
{
    for (size_t i = 0; i < m->text_count; i++)
        lab_free(m->texts[i]);
    lab_free(m->texts);
    lab_free(m->points);
    lab_roofline_release(&m->line);
    lab_str_release(&m->note);
    *m = (struct lab_roofline_model){.points = NULL};
}

/* Room was made for every text. NULL: no memory. */
static const char *keep(struct lab_roofline_model *m, const char *text)
{
    struct lab_str s;
    if (!text || !text[0])
        return "";
    lab_str_init(&s);
    lab_str_add_visible(&s, text, strlen(text), false);
    char *copy = lab_str_detach(&s);
    if (copy)
        m->texts[m->text_count++] = copy;
    return copy;
}

static int fill_roofs(struct lab_roofline_model *m)
{
    int n = 0;
    for (int i = 0; i < LAB_CEILING_ROOFS; i++) {
        enum lab_ceiling ceiling = (enum lab_ceiling)i;
        if (!(m->line.per_s[i] > 0))
            continue;
        lab_format_amount(m->line.per_s[i], lab_ceiling_unit(ceiling),
                          m->height[n], sizeof(m->height[n]));
        m->roofs[n] = (struct lab_ui_roof){
            .name = lab_ceiling_name(ceiling),
            .memory = ceiling == LAB_CEILING_COPY,
            .per_s = m->line.per_s[i],
            .height = m->height[n],
            .from = lab_roof_origin_text(m->line.roofs[i].origin),
        };
        n++;
    }
    return n;
}

static bool fill_point(struct lab_roofline_model *m, size_t i)
{
    const struct lab_roofline_row *row = &m->line.rows[i];
    const struct lab_roofline_point *p = &row->point;
    m->points[i] = (struct lab_ui_roof_point){
        .kernel = lab_roofline_is_kernel(row),
        .name = keep(m, lab_roofline_name(row)),
        .phase = keep(m, row->sum->phase),
        .variant = keep(m, row->sum->variant),
        .median_ns = row->sum->median_ns,
        .flop = row->work.flop,
        .counted_flop = p->counted_flop,
        .counted_least = p->counted_least,
        .dram_bytes = p->dram_bytes,
        .intensity = p->intensity,
        .counted_intensity = p->counted_intensity,
        .flop_s = p->flop_s,
        .roof_flop_s = p->allowed_flop_s,
        .roof = lab_ceiling_name(p->roof),
        .share = p->share,
        .bound = lab_roofline_verdict_name(p->verdict),
        .sentence = keep(m, row->sentence),
        .flop_reason = row->flop_reason,
    };
    const struct lab_ui_roof_point *q = &m->points[i];
    return q->name && q->phase && q->variant && q->sentence;
}

static void write_note(struct lab_roofline_model *m, const char *option)
{
    bool some = false;
    if (lab_roofline_measured(&m->line))
        return;
    for (int i = 0; i < LAB_CEILING_ROOFS; i++)
        some = some || m->line.per_s[i] > 0;
    lab_str_add(&m->note, some ? "The roofs are a data sheet's. `"
                               : "No roof is known: `");
    lab_suggest_command(&m->note, option, LAB_WORDS("profile", "ceilings"));
    lab_str_add(&m->note, some ? "`, on that device, measures what it reaches."
                               : "`, on that device, measures them.");
}

enum lab_status lab_roofline_model_load(struct lab_roofline_model *m,
                                        struct lab_database *db, int64_t run,
                                        const char *option,
                                        struct lab_ui_roofline *out)
{
    lab_roofline_model_release(m);
    enum lab_status st = lab_roofline_load(&m->line, db, run);
    if (st)
        return st;
    size_t n = m->line.count;
    m->points = lab_alloc_array(n + 1, sizeof(*m->points));
    m->texts = lab_alloc_array(TEXTS_A_POINT * n + 1, sizeof(*m->texts));
    bool ok = m->points && m->texts;
    for (size_t i = 0; i < n && ok; i++)
        ok = fill_point(m, i);
    const char *device = ok ? keep(m, m->line.device.device) : NULL;
    if (!device) {
        lab_roofline_model_release(m);
        return lab_no_memory("the roofline of a run");
    }
    write_note(m, option);
    *out = (struct lab_ui_roofline){.device = device[0] ? device
                                                        : "an unknown device",
                                    .note = lab_str_text(&m->note),
                                    .roofs = m->roofs,
                                    .roof_count = fill_roofs(m),
                                    .points = m->points,
                                    .point_count = (int64_t)n};
    return LAB_OK;
}
