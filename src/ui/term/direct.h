/* direct.h -- direct colour for a terminal whose description has 256 colours. Threads:
 * one, before others run: it sets a variable of the environment. */
#pragma once
#include <stdbool.h>

/* Whether COLORTERM states direct colours ("truecolor", "24bit") and the description
 * that setupterm() has loaded has 256. */
bool lab_direct_wanted(const char *type);
/* Until lab_direct_end(), TERMINFO has a description of `type`: its own with direct
 * colours. `color` "direct": also where COLORTERM states none; "256": never. false:
 * they are not wanted, or no memory, and nothing is to be ended. setupterm() has
 * loaded none. */
bool lab_direct_begin(const char *type, const char *color);
void lab_direct_end(void);
