#include "screens.h"

#include "cmd.h"

int lab_open_screens(const struct lab_options *o)
{
    (void)o;
    lab_warn("the screens are being built: use --plain, or `lapenna-lab step`");
    return LAB_EXIT_MACHINE;
}
