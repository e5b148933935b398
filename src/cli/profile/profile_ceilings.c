/* profile ceilings: what this device can do at best, measured and kept.
 *
 * Measures each ceiling that the backend can (engine/ceiling.h), stores it for
 * the device (store/ceilings.h), and prints it beside the data sheet's.
 * Rooflines and labs read the stored ones. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/format.h"
#include "base/clock.h"
#include "engine/ceiling.h"
#include "report/json_line.h"
#include "profile_cmd.h"
#include "store/ceilings.h"
#include "report/text_table.h"
#include "base/version.h"

enum { REASON = 256 };

/* One ceiling: what was measured, or why it was not. */
struct measured {
    bool known;
    struct lab_ceiling_result result;
    struct lab_roof published;
    char reason[REASON];
};

struct measuring {
    const struct lab_options *o;
    struct lab_database *db;
    struct lab_backend *be;
    struct lab_device_info device;
    char hostname[256];
    struct measured row[LAB_CEILING_COUNT];
};

static enum lab_status open_backend(const struct lab_options *o,
                                    struct lab_backend **out)
{
    if (strcmp(o->backend, "sim") == 0)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[profile.ceilings-sim] --backend sim: a simulated GPU "
                        "has no times to measure");
    if (strcmp(o->backend, "auto") != 0)
        return lab_backend_open(out, o->backend, o->device);
    enum lab_status st = lab_backend_open(out, "cuda", o->device);
    if (st == LAB_OK || o->device > 0) /* which GPU was asked for by number */
        return st;
    return lab_backend_open(out, "cpu", 0);
}

/* What a device cannot do is no error: the other ceilings are measured. */
static enum lab_status measure(struct measuring *m, enum lab_ceiling ceiling)
{
    struct measured *row = &m->row[ceiling];
    lab_roof_published(m->device.name,
                       lab_ceiling_name(ceiling == LAB_CEILING_FMA
                                            ? LAB_CEILING_FP32
                                            : ceiling),
                       &row->published);
    enum lab_status st = lab_backend_ceiling(m->be, ceiling, &row->result);
    row->known = st == LAB_OK;
    if (!row->known)
        row->result = (struct lab_ceiling_result){
            .best = NAN, .median = NAN, .worst = NAN, .size = LAB_UNKNOWN};
    if (st == LAB_E_UNSUPPORTED || st == LAB_E_NOMEM) {
        snprintf(row->reason, sizeof(row->reason), "%s", lab_error());
        return LAB_OK;
    }
    return st;
}

static enum lab_status keep(struct measuring *m, enum lab_ceiling ceiling,
                            int64_t now)
{
    const struct lab_ceiling_result *r = &m->row[ceiling].result;
    if (!m->row[ceiling].known)
        return LAB_OK;
    const struct lab_ceiling_row row = {
        .backend = m->be->ops->name,
        .device = m->device.name,
        .uuid = m->device.uuid[0] ? m->device.uuid : NULL,
        .hostname = m->hostname,
        .name = lab_ceiling_name(ceiling),
        .best_per_s = r->best,
        .median_per_s = r->median,
        .worst_per_s = r->worst,
        .repeats = r->repeats,
        .size = r->size,
        .measured_ns = now,
        .driver = m->device.driver[0] ? m->device.driver : NULL,
        .version = lab_version(),
    };
    return lab_ceiling_add(m->db, &row);
}

/* ---- printing ---- */

static enum lab_status print_row_json(const struct measuring *m, int i)
{
    const struct measured *row = &m->row[i];
    const struct lab_ceiling_result *r = &row->result;
    bool memory = i == LAB_CEILING_COPY;
    json_t *o = lab_json_new("ceiling");
    lab_json_text(o, "name", lab_ceiling_name((enum lab_ceiling)i));
    lab_json_text(o, "what", lab_ceiling_text((enum lab_ceiling)i));
    lab_json_text(o, "backend", m->be->ops->name);
    lab_json_text(o, "device", m->device.name);
    lab_json_word(o, "uuid", m->device.uuid);
    lab_json_word(o, "driver", m->device.driver);
    lab_json_text(o, "unit", memory ? "bytes_per_s" : "flop_per_s");
    lab_json_real(o, "best_per_s", r->best);
    lab_json_real(o, "median_per_s", r->median);
    lab_json_real(o, "worst_per_s", r->worst);
    lab_json_int(o, "repeats", row->known ? r->repeats : LAB_UNKNOWN);
    lab_json_int(o, "size", r->size);
    lab_json_word(o, "reason", row->reason);
    lab_json_real(o, "datasheet_per_s", row->published.per_s);
    lab_json_word(o, "datasheet", row->published.source);
    lab_json_real(o, "datasheet_pct", 100 * r->best / row->published.per_s);
    return lab_json_print(o);
}

static void add_rate(struct lab_text_table *t, double per_s, int i)
{
    lab_text_table_add(
        t, LAB_AMOUNT_TEXT(per_s, lab_ceiling_unit((enum lab_ceiling)i)));
}

static void add_row(struct lab_text_table *t, const struct measured *row, int i)
{
    const struct lab_ceiling_result *r = &row->result;
    lab_text_table_add(t, lab_ceiling_name((enum lab_ceiling)i));
    add_rate(t, r->best, i);
    add_rate(t, r->median, i);
    add_rate(t, r->worst, i);
    if (!row->known)
        lab_text_table_add(t, NULL);
    else if (i == LAB_CEILING_COPY)
        lab_text_table_add(t, LAB_SIZE_TEXT((double)r->size));
    else if (i == LAB_CEILING_FMA)
        lab_text_table_addf(t, "%lld steps", (long long)r->size);
    else
        lab_text_table_addf(t, "%lld^3", (long long)r->size);
    add_rate(t, row->published.per_s, i);
    lab_text_table_add_share(t, r->best / row->published.per_s);
    lab_text_table_add(t,
                       row->published.source[0] ? row->published.source : NULL);
}

/* The error names backend and ceiling first; here the ceiling is enough. */
static void add_reason(struct lab_str *text, const struct measuring *m, int i)
{
    char before[64];
    const char *name = lab_ceiling_name((enum lab_ceiling)i);
    const char *reason = m->row[i].reason;
    if (m->row[i].known)
        return;
    snprintf(before, sizeof(before), "%s, %s: ", m->be->ops->name, name);
    if (strncmp(reason, before, strlen(before)) == 0)
        reason += strlen(before);
    lab_str_addf(text, "%s: ", name);
    lab_str_add_visible(text, reason, strlen(reason), false);
    lab_str_add(text, "\n");
}

static enum lab_status print_text(const struct measuring *m)
{
    static const char *const heads[] = {"ceiling",  ">best",      ">median",
                                        ">worst",   ">size",      ">data sheet",
                                        ">reached", "its source", NULL};
    struct lab_text_table table;
    struct lab_str text;
    lab_str_init(&text);
    lab_str_addf(&text, "%s: ", m->be->ops->name);
    lab_str_add_visible(&text, m->device.name, strlen(m->device.name), false);
    lab_str_add(&text, "\n");
    lab_text_table_init(&table, heads);
    for (int i = 0; i < LAB_CEILING_COUNT; i++)
        add_row(&table, &m->row[i], i);
    enum lab_status st = lab_text_table_format(&table, &text);
    for (int i = 0; i < LAB_CEILING_COUNT; i++)
        add_reason(&text, m, i);
    if (st) {
        lab_str_release(&text);
        return st;
    }
    return lab_print_str(&text);
}

static enum lab_status print(const struct measuring *m)
{
    enum lab_status st = LAB_OK;
    if (!m->o->json)
        return print_text(m);
    for (int i = 0; i < LAB_CEILING_COUNT && st == LAB_OK; i++)
        st = print_row_json(m, i);
    return st;
}

static enum lab_status run_ceilings(const struct lab_options *o,
                                    struct lab_database *db)
{
    struct measuring m = {.o = o, .db = db};
    enum lab_status st = open_backend(o, &m.be);
    if (st)
        return st;
    lab_backend_info(m.be, &m.device);
    if (gethostname(m.hostname, sizeof(m.hostname)))
        m.hostname[0] = '\0';
    m.hostname[sizeof(m.hostname) - 1] = '\0';
    int64_t now = lab_clock_wall_ns();
    for (int i = 0; i < LAB_CEILING_COUNT && st == LAB_OK; i++)
        st = measure(&m, (enum lab_ceiling)i);
    for (int i = 0; i < LAB_CEILING_COUNT && st == LAB_OK; i++)
        st = keep(&m, (enum lab_ceiling)i, now);
    if (st == LAB_OK)
        st = print(&m);
    lab_backend_close(m.be);
    return st;
}

const struct lab_profile_command lab_profile_ceilings = {
    .name = "ceilings",
    .run = run_ceilings,
    .writes = true,
    .takes = "takes no run",
    .options = LAB_FOR_CEILINGS,
    .doc = "Measures what this device can do at best, and keeps it: a copy of "
           "memory, and products in every precision.\vExample:\n"
           "  lapenna-lab profile ceilings --backend cuda --device 1\n"};
