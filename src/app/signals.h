/* signals.h -- INT, TERM and HUP as a flag that loops look at. */
#pragma once
#include <stdbool.h>

/* Handlers set a flag and nothing else. A second signal ends the program. */
void lab_signals_catch(void);
/* The first signal also writes this line to standard error; NULL: nothing. */
void lab_signals_say(const char *words);
#define LAB_SIGNALS_STOPPING                                                   \
    "lapenna-lab: stopping after this call; again ends now\n"
/* From here on a signal ends the program at once, as 128 and its number. */
void lab_signals_end_now(void);
int lab_signals_caught(void); /* the number, 0: none */
/* The same, and the next signal is a first one again. */
int lab_signals_take(void);
/* Who read our output has gone: an end without a word, code 128+SIGPIPE. */
bool lab_signals_reader_gone(void);

/* Threads that are started between the two never receive the signals, so that
 * they interrupt lab_signals_wait_input(). */
void lab_signals_hold(void);
void lab_signals_release(void);
/* Waits until `fd` can be read or a signal has been caught; false: a signal. */
bool lab_signals_wait_input(int fd);
