/* signals.h -- INT, TERM and HUP as a flag that loops look at. */
#pragma once
#include <stdbool.h>
#include "base/stop.h"

/* The handler sets a flag and wakes lab_signals_wait_input(). A second signal
 * ends the program. */
void lab_signals_catch(void);
/* The first signal also writes this line to standard error; NULL: nothing. */
void lab_signals_say(const char *words);
#define LAB_SIGNALS_STOPPING                                                   \
    "lapenna-lab: stopping after this call; again ends now\n"
/* From here on a signal ends the program at once, as 128 and its number; after
 * SIGHUP not another one, which a terminal that closes may send. `after`: what
 * ends the program already, or 0. */
void lab_signals_end_now(int after);
int lab_signals_caught(void);         /* the number, 0: none */
bool lab_signals_asked(void *unused); /* the same, as a base/stop.h */
/* The same, and the next one is a first one again; after a TERM or a HUP has
 * been taken, which end the program, the next one ends it at once. */
int lab_signals_take(void);
/* The reader of our output has gone: end without a message, code 128+SIGPIPE. */
bool lab_signals_reader_gone(void);

/* Waits until `fd` can be read or a signal has been caught, on whichever thread;
 * false: a signal. */
bool lab_signals_wait_input(int fd);
