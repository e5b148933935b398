/* signals.h -- INT, TERM and HUP as a flag that loops look at. */
#pragma once

/* Handlers set a flag and nothing else. A second signal ends the program. */
void lab_signals_catch(void);
int lab_signals_caught(void); /* the number, 0: none */
