// SPDX-License-Identifier: MIT
// Everything a user of Holonom may include.
#ifndef HOLONOM_HOLONOM_H
#define HOLONOM_HOLONOM_H

#include <holonom/assembly.h>
#include <holonom/base.h>
#include <holonom/batch.h>
#include <holonom/linearisation.h>
#include <holonom/model.h>
#include <holonom/outputs.h>
#include <holonom/prescribed.h>
#include <holonom/results.h>
#include <holonom/simulation.h>
#include <holonom/statics.h>
#include <holonom/study.h>

#endif
