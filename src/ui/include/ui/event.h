/* ui/event.h -- what the loop waits for, from a terminal or from a script. */
#pragma once
#include <stdbool.h>
#include "base/status.h"

enum lab_event_kind {
    LAB_EVENT_NONE, /* the time was up */
    LAB_EVENT_KEY,
    LAB_EVENT_MOUSE,
    LAB_EVENT_RESIZE,  /* h and w hold the new size */
    LAB_EVENT_WAKE,    /* lab_ui_wake() was called */
    LAB_EVENT_SIGNAL,  /* end cleanly with 128 + signal */
    LAB_EVENT_SHOT,    /* script: write the screen to `text` */
    LAB_EVENT_CAPTION, /* script: another caption */
    LAB_EVENT_END      /* the script is over, or an `expect` of it failed */
};

enum lab_mouse {
    LAB_MOUSE_CLICK,
    LAB_MOUSE_WHEEL_UP,
    LAB_MOUSE_WHEEL_DOWN,
    LAB_MOUSE_DRAG /* after a click: the button was released elsewhere */
};

struct lab_event {
    enum lab_event_kind kind;
    int key; /* KEY: ui/keymap.h */
    enum lab_mouse mouse;
    int y; /* MOUSE */
    int x;
    int from_y; /* DRAG: where the click was */
    int from_x;
    int h; /* RESIZE */
    int w;
    int signal;
    const char *text; /* SHOT: a file name, valid as long as the script */
};
