/* export_html_priv.h -- the parts of the HTML report. */
#pragma once
#include "base/format.h"
#include "export_priv.h"
#include "store/ceilings.h"
#include "store/counted.h"
#include "store/time_sum.h"

struct lab_report {
    FILE *to;
    struct lab_database *db;
    int64_t run;
    struct lab_str text;
    struct lab_str facts; /* of the run, for the end of the page */
    struct lab_time_sums sums;
    struct lab_counted_run counted;
    struct lab_roof roofs[LAB_ROOF_NAMES];     /* finite and above 0, or NaN */
    struct lab_roof published[LAB_ROOF_NAMES]; /* of the data sheet alone */
    char precision[64]; /* of a lab: all of them, "tf32, bf16" */
    double *loss;       /* by place; NaN: not a number */
    int64_t *iteration;
    size_t losses;
    size_t room;
    enum lab_status st;
};

/* ---- what tables and pictures are made of ---- */

/* A word, which is short, and stays on one line. NULL: n/a. */
void lab_report_word_cell(struct lab_str *s, const char *text);
/* A number and its unit, as base/format.h writes them. */
void lab_report_text_cell(struct lab_str *s, const char *text);
void lab_report_ns_cell(struct lab_str *s, double ns);
/* `unit` with its space; it is ours. NaN: n/a. */
void lab_report_number_cell(struct lab_str *s, double v, const char *unit);

void lab_report_amount_cell(struct lab_str *s, double v, const char *unit);

enum { LAB_REPORT_WIDTH = 860, LAB_REPORT_BAR = 18, LAB_REPORT_BARS = 60 };
/* A picture as wide as all, and its end. */
void lab_report_begin(struct lab_str *s, int height, const char *label);
void lab_report_end(struct lab_str *s);
/* `anchor`: what of the text is at x, "start", "middle" or "end". */
void lab_report_text(struct lab_str *s, double x, double y, const char *anchor,
                     const char *text);
/* The first `most` characters, and an ellipsis where there are more; out has
 * room for 4 * most + 4 bytes. */
void lab_report_clip(char *out, size_t size, const char *text, size_t most);

/* Begins a picture of bars, one below another at every LAB_REPORT_BAR. Of more
 * than LAB_REPORT_BARS a sentence says which are there, "first" or "longest";
 * how many are to be drawn. */
size_t lab_report_bars_begin(struct lab_str *s, size_t bars, const char *which,
                             const char *label);
/* Where a bar of this value ends, when `most` is the greatest; both are finite,
 * and `most` is above 0. */
double lab_report_bar_x(double value, double most);

struct lab_report_bar {
    const char *name;
    int64_t phase; /* its colour */
    double end;    /* of lab_report_bar_x() */
    bool stroke;   /* a line on it from (x1, y1) to (x2, y2), y from its top */
    double x1;
    double x2;
    double y1;
    double y2;
    const struct lab_str *label; /* behind it */
};
void lab_report_bar(struct lab_str *s, const struct lab_report_bar *bar,
                    double y);

/* ---- the parts ---- */

/* Fills the roofs of the run, whose sums are loaded. Errors: LAB_E_DB,
 * LAB_E_NOMEM. */
enum lab_status lab_report_roofs_find(struct lab_report *r);
/* FLOPs or bytes a second of the roof of this name; NaN: unknown. */
double lab_report_roof(const struct lab_report *r, const char *name);

/* Where the time of an iteration goes, the longest steps and kernels. */
void lab_report_answer(struct lab_report *r);
/* Pictures; each adds a whole <svg>, or a sentence that says why not. */
void lab_report_loss(struct lab_report *r);
void lab_report_step_bars(struct lab_report *r);
void lab_report_phases(struct lab_report *r);
/* The roofs and where they come from, and the steps under them. */
void lab_report_roofline(struct lab_report *r);
/* Tables and pictures of what a lab measured; nothing for another run. */
void lab_report_lab(struct lab_report *r);
