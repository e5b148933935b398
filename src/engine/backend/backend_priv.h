/* backend_priv.h -- what backend.c and backend_graph.c share. */
#pragma once
#include "engine/backend.h"

/* A slot's failure with the text that the backend has for it: a module keeps
 * its own. */
enum lab_status lab_backend_slot_failed(const struct lab_backend_ops *ops,
                                        enum lab_status st);
