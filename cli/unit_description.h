// SPDX-License-Identifier: MIT
// The description of a co-simulation unit (modelDescription.xml), as FMI 2.0 and 3.0 have it, and what else is made of
// text in its archive.
#ifndef CLI_UNIT_DESCRIPTION_H
#define CLI_UNIT_DESCRIPTION_H

#include "unit_setup.h"

#include <stdio.h>

typedef struct unit_description {
    int version; ///< 2 or 3
    const hn_model *model;
    const unit_setup *setup;
    const unit_variables *variables;
    const char *identifier;   ///< of the binary: a name as C has them
    double end;               ///< s; 0: not said
    char *const *sources;     ///< C files in `sources`
    int source_count;
} unit_description;

void write_unit_description(const unit_description *unit, FILE *file);
/// sources/buildDescription.xml of FMI 3.0
void write_build_description(const unit_description *unit, FILE *file);
/// documentation/index.html
void write_unit_page(const unit_description *unit, FILE *file);

#endif
