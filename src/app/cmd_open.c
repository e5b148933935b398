#include "cmd.h"
#include "screens.h"
int lab_cmd_open(int argc, char **argv)
{
    struct lab_options o;
    lab_options_init(&o);
    lab_options_parse(&o, argc, argv, "lapenna-lab", "[LESSON]", "");
    return lab_open_screens(&o);
}
int lab_cmd_doctor(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return 0;
}
