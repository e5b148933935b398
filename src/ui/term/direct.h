/* direct.h -- direct colour for a terminal that is described with 256. Threads:
 * one, before others run: it sets a variable of the environment. */
#pragma once
#include <stdbool.h>

/* Whether a description of 256 colours, the one that setupterm() has loaded, is to be
 * used with direct colours. By `color` "direct": yes; "256": no; anything else or NULL:
 * where COLORTERM states them ("truecolor", "24bit"). */
bool lab_direct_wanted(const char *type, const char *color);
/* Until lab_direct_end(), TERMINFO has a description of `type`: the one that setupterm()
 * has loaded, with direct colours. false: lab_direct_wanted() was, or no memory, and
 * nothing is to be ended. */
bool lab_direct_begin(const char *type, const char *color);
void lab_direct_end(void);
