// SPDX-License-Identifier: MIT
// Cross-sections of beams.
#ifndef MODEL_BEAM_SECTIONS_H
#define MODEL_BEAM_SECTIONS_H

#include "model/model.h"

/// Check that stiffness and inertia can be those of a section; `beam` stands in the message.
hn_status beam_section_check(hn_context *context, const char *beam, const hn_beam_section *section);

#endif
