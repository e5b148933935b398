/* ops/bahdanau_explain.h -- explanations of bahdanau_attention's steps. */
#pragma once
#include "engine/op.h"

lab_explain_fn lab_bahdanau_explain_u;
lab_explain_fn lab_bahdanau_explain_t;
lab_explain_fn lab_bahdanau_explain_e;
lab_explain_fn lab_bahdanau_explain_a;
lab_explain_fn lab_bahdanau_explain_context;
lab_explain_fn lab_bahdanau_explain_context_back;
lab_explain_fn lab_bahdanau_explain_a_back;
lab_explain_fn lab_bahdanau_explain_e_back;
lab_explain_fn lab_bahdanau_explain_t_back;
lab_explain_fn lab_bahdanau_explain_u_back;
