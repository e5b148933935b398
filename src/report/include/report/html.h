/* report/html.h -- a run as one HTML page: its tables, its pictures in SVG and
 * what they mean. It needs nothing else: no script, no network. */
#pragma once
#include <stdio.h>
#include "store/database.h"

/* Errors: LAB_E_DB, LAB_E_NOMEM, LAB_E_IO; LAB_E_NOTFOUND, there is no such
 * run. Threads: that of the connection. */
enum lab_status lab_report_html(FILE *to, struct lab_database *db, int64_t run);
