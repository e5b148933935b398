/* ui/picture.h -- a canvas as a picture: one frame as SVG or PNG, a session as
 * an asciicast (version 2, https://docs.asciinema.org/manual/asciicast/v2/).
 *
 * Colours are the theme's in full depth; the theme "terminal", which has none of
 * its own, is drawn as "dark". Files must not exist yet. No terminal and no curses
 * here. Threads: one. */
#pragma once
#include "base/status.h"
#include "base/str.h"
#include "ui/canvas.h"

struct lab_cast;

LAB_C_BEGIN
/* Appends it as a PNG, with its images where it has some; a character is as many
 * pixels as the canvas has for it, else 9 by 18. Text needs FreeType, Fontconfig and
 * a font. Errors: LAB_E_UNSUPPORTED without; LAB_E_NOMEM. */
enum lab_status lab_picture_png(struct lab_str *out, const struct lab_canvas *c,
                                enum lab_theme theme);
/* The font for text in a PNG, or NULL, with the reason in lab_error(). Static. */
const char *lab_picture_font(void);
/* Before a frame is drawn for a file of that name: a PNG has images too. */
void lab_picture_size(const char *path, struct lab_canvas *c);
/* Either into a new file with a name in .svg or .png. Errors: LAB_E_ARG another
 * name; LAB_E_IO the file is there, or cannot be written; those of above. */
enum lab_status lab_picture_write(const char *path, const struct lab_canvas *c,
                                  enum lab_theme theme);

/* Errors: LAB_E_IO, LAB_E_NOMEM. */
enum lab_status lab_cast_open(struct lab_cast **out, const char *path,
                              const struct lab_canvas *c, enum lab_theme theme);
/* Adds what has changed since the last frame, with the time since the start. */
/* In the colours of `theme`, its ground among them unless that is the terminal's; a
 * frame in another theme is sent whole. */
void lab_cast_frame(struct lab_cast *cast, const struct lab_canvas *c,
                    enum lab_theme theme);
/* Closes the file. NULL is allowed. Errors: LAB_E_IO, also of an earlier write;
 * LAB_E_NOMEM of an earlier frame. */
enum lab_status lab_cast_close(struct lab_cast *cast);
LAB_C_END
