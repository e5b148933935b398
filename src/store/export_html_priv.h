/* export_html_priv.h -- the parts of the HTML report. */
#pragma once
#include "export_priv.h"
#include "store/devices.h"
#include "store/time_sum.h"

struct lab_report {
    FILE *to;
    struct lab_database *db;
    int64_t run;
    struct lab_str text;
    struct lab_time_sums sums;
    struct lab_device_peaks peaks;
    double *loss; /* by place; NaN: not a number */
    int64_t *iteration;
    size_t losses;
    size_t room;
    enum lab_status st;
};

/* A duration in the unit that fits. */
void lab_report_ns(struct lab_str *out, double ns);
/* Pictures; each adds a whole <svg>, or a sentence that says why not. */
void lab_report_loss(struct lab_report *r);
void lab_report_step_bars(struct lab_report *r);
void lab_report_phases(struct lab_report *r);
void lab_report_roofline(struct lab_report *r);
/* Tables and pictures of what a lab measured; nothing for another run. */
void lab_report_lab(struct lab_report *r);
