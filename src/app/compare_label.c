#include "compare_label.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "profile_compare.h"

size_t lab_compare_width(void)
{
    const char *said = getenv("COLUMNS");
    struct winsize size;
    if (said && atoi(said) > 0)
        return (size_t)atoi(said);
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
        return 0;
    return size.ws_col > 0 ? size.ws_col : 80;
}

void lab_compare_label(const struct lab_time_sum *s,
                       char out[LAB_COMPARE_LABEL])
{
    static const char *const phases[] = {"fwd ", "loss", "bwd ", "upd "};
    bool known = s->phase_id >= 0 && s->phase_id < 4;
    const char *phase = known ? phases[s->phase_id] : "    ";
    const char *step = lab_time_sum_step(s);
    const char *name = lab_compare_name(s);
    if (s->level == LAB_SUM_ITERATION)
        snprintf(out, LAB_COMPARE_LABEL, "iteration");
    else if (s->level == LAB_SUM_PHASE)
        snprintf(out, LAB_COMPARE_LABEL, "%s", s->phase ? s->phase : "n/a");
    else if (s->level == LAB_SUM_KERNEL && s->rung)
        snprintf(out, LAB_COMPARE_LABEL, "%s: %s", step, name);
    else if (s->level == LAB_SUM_KERNEL && step)
        snprintf(out, LAB_COMPARE_LABEL, "%s %s: %s", phase, step, name);
    else if (s->level == LAB_SUM_KERNEL || s->rung) /* a lab has no phases */
        snprintf(out, LAB_COMPARE_LABEL, "%s", name);
    else
        snprintf(out, LAB_COMPARE_LABEL, "%s %s", phase, name);
}

static bool inside_character(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

void lab_label_cut(const struct lab_label_cut *cut, const char *whole,
                   char out[LAB_COMPARE_LABEL])
{
    size_t n = strlen(whole);
    if (cut->room == 0 || n <= cut->room) {
        snprintf(out, LAB_COMPARE_LABEL, "%s", whole);
        return;
    }
    size_t head = cut->head;
    size_t tail = n - (cut->room - cut->head - 2);
    while (head > 0 && inside_character(whole[head]))
        head--;
    while (inside_character(whole[tail]))
        tail++;
    snprintf(out, LAB_COMPARE_LABEL, "%.*s..%s", (int)head, whole,
             whole + tail);
}

struct label {
    char whole[LAB_COMPARE_LABEL];
    char cut[LAB_COMPARE_LABEL];
};

static int by_cut(const void *a, const void *b)
{
    const struct label *x = a;
    const struct label *y = b;
    int order = strcmp(x->cut, y->cut);
    return order ? order : strcmp(x->whole, y->whole);
}

static bool distinct(struct label *labels, size_t n,
                     const struct lab_label_cut *cut)
{
    for (size_t i = 0; i < n; i++)
        lab_label_cut(cut, labels[i].whole, labels[i].cut);
    qsort(labels, n, sizeof(*labels), by_cut);
    for (size_t i = 1; i < n; i++)
        if (strcmp(labels[i].cut, labels[i - 1].cut) == 0 &&
            strcmp(labels[i].whole, labels[i - 1].whole) != 0)
            return false;
    return true;
}

/* In the middle, else as far from it as needed: the phase stays. */
static bool find_head(struct lab_label_cut *cut, struct label *labels, size_t n)
{
    enum { LEAST = 6 };
    size_t middle = cut->room / 2 - 2;
    for (size_t off = 0; off < cut->room; off++) {
        cut->head = middle + off;
        if (cut->head + 2 < cut->room && distinct(labels, n, cut))
            return true;
        cut->head = middle - off;
        if (off <= middle - LEAST && distinct(labels, n, cut))
            return true;
    }
    cut->head = middle;
    return false;
}

enum lab_status lab_label_cut_find(struct lab_label_cut *out, size_t room,
                                   const struct lab_compare_row *rows,
                                   const size_t *list, size_t n)
{
    *out = (struct lab_label_cut){.room = room};
    if (room == 0)
        return LAB_OK;
    struct label *labels = lab_alloc_array(n + 1, sizeof(*labels));
    if (!labels)
        return lab_fail(LAB_E_NOMEM, "no memory for the names of a table");
    for (size_t i = 0; i < n; i++)
        lab_compare_label(lab_compare_either(&rows[list[i]]), labels[i].whole);
    while (!find_head(out, labels, n))
        out->room += 8;
    lab_free(labels);
    return LAB_OK;
}
