/* base/command.h -- how this program was started, in the commands that it prints
 * for people to type. The script `lab` starts a program that is not on PATH, and
 * sets LAPENNA_LAB_COMMAND. Threads: any, while no thread changes the
 * environment. */
#pragma once
#include <stdbool.h>
#include "base/str.h"

LAB_C_BEGIN
/* Appends the first word of such a command, quoted as in base/shell.h: what
 * LAPENNA_LAB_COMMAND has, else "lapenna-lab". A value with a control
 * character is not used. `ascii`: without a byte above 0x7F. */
void lab_command_add(struct lab_str *out, bool ascii);
/* Appends a text in which "lapenna-lab " or "lapenna-lab`" behind `lead` ("`",
 * or the beginning of an example's line) represents that word. */
void lab_command_spell(struct lab_str *out, const char *text, const char *lead,
                       bool ascii);
LAB_C_END
