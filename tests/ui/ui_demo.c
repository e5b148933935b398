/* The home screen on fixed data: for the end-to-end tests, and to look at. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/ui.h"
#include "ui/view_text.h"
#include "ui/views.h"
#include "ui_fixture.h"

static void read_options(int argc, char **argv, struct lab_ui_options *o)
{
    for (int i = 1; i < argc; i++) {
        o->terminal.ascii |= strcmp(argv[i], "--ascii") == 0;
        o->terminal.mouse |= strcmp(argv[i], "--mouse") == 0;
        if (strncmp(argv[i], "--color=", 8) == 0)
            o->terminal.color = argv[i] + 8;
    }
}

int main(int argc, char **argv)
{
    struct lab_ui *ui;
    struct lab_ui_options options = {.badge = "CPU",
                                     .script = getenv("LAPENNA_LAB_SCRIPT")};
    read_options(argc, argv, &options);
    enum lab_status st = lab_ui_new(&ui, &options);
    if (st) {
        fprintf(stderr, "ui_demo: %s\n", lab_error());
        return st == LAB_E_UNSUPPORTED ? 4 : 3;
    }
    st = lab_ui_push(ui, &lab_view_home, fixture_home());
    if (!st)
        st = lab_ui_run(ui);
    int sig = lab_ui_signal(ui);
    lab_ui_free(ui);
    lab_text_end(10000);
    if (st && !sig)
        fprintf(stderr, "ui_demo: %s\n", lab_error());
    return sig ? 128 + sig : st == LAB_OK ? 0 : 1;
}
