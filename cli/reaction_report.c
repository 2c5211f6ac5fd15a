// SPDX-License-Identifier: MIT
// Which components of reactions are unique, in words. A space of directions is one direction or what is normal to one.
#include "reaction_report.h"

#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VERDICT_TEXT = 320, VERDICT_LINES_MAX = 12, VERDICT_NAMES_MAX = 8 };

typedef struct verdict_line {
    char text[VERDICT_TEXT];
    char names[VERDICT_NAMES_MAX * 104]; ///< names have at most 100 bytes
    int count;
} verdict_line;

/// "z", or "(0.6, 0, 0.8)" for a direction that is no world axis; its sign does not matter.
static void name_direction(hn_vec3 n, char *text, size_t size)
{
    static const char *const AXES[3] = {"x", "y", "z"};
    const double ALONG = 1.0 - 1e-12, NOTHING = 5e-5;
    double x[3] = {n.x, n.y, n.z};
    for (int k = 0; k < 3; ++k)
        if (fabs(x[k]) > ALONG) {
            snprintf(text, size, "%s", AXES[k]);
            return;
        }
    int first = fabs(x[0]) > NOTHING ? 0 : fabs(x[1]) > NOTHING ? 1 : 2;
    double sign = x[first] < 0.0 ? -1.0 : 1.0;
    for (int k = 0; k < 3; ++k) x[k] = fabs(x[k]) > NOTHING ? sign * x[k] : 0.0;
    snprintf(text, size, "(%.4g, %.4g, %.4g)", x[0], x[1], x[2]);
}

/// The direction of a projector of rank one, or the one that a projector of rank two leaves out.
static hn_vec3 single_direction(const hn_mat3 *p, bool left_out)
{
    double column[3] = {0.0}, largest = 0.0;
    for (int c = 0; c < 3; ++c) {
        double own[3], square = 0.0;
        for (int r = 0; r < 3; ++r) {
            own[r] = left_out ? (r == c ? 1.0 : 0.0) - p->m[r][c] : p->m[r][c];
            square += own[r] * own[r];
        }
        if (square <= largest) continue;
        largest = square;
        for (int r = 0; r < 3; ++r) column[r] = own[r] / sqrt(square);
    }
    return (hn_vec3){column[0], column[1], column[2]};
}

/// "force shared along z, unique normal to it"
static void describe(const char *what, bool torque, int shared, const hn_mat3 *unique, char *text,
                     size_t size)
{
    if (shared == 0 || shared == 3) {
        snprintf(text, size, "%s %s", what, shared == 0 ? "unique" : "shared");
        return;
    }
    char direction[64];
    name_direction(single_direction(unique, shared == 1), direction, sizeof direction);
    const char *along = torque ? "about" : "along",
               *normal = torque ? "about axes normal" : "normal";
    snprintf(text, size, "%s %s %s %s, %s %s to it", what, shared == 1 ? "shared" : "unique", along,
             direction, shared == 1 ? "unique" : "shared", normal);
}

static void describe_verdict(const hn_reaction_verdict *v, char text[VERDICT_TEXT])
{
    char force[120], torque[160];
    describe("force", false, v->shared_force_count, &v->force_unique, force, sizeof force);
    describe("torque", true, v->shared_torque_count, &v->torque_unique, torque, sizeof torque);
    int used = snprintf(text, VERDICT_TEXT, "%s; %s", force, torque);
    int more = v->shared_force_count + v->shared_torque_count - v->shared_count;
    if (more > 0 && used > 0 && used < VERDICT_TEXT)
        snprintf(text + used, VERDICT_TEXT - (size_t)used,
                 "; %d combination%s of shared components %s unique", more, more == 1 ? "" : "s",
                 more == 1 ? "is" : "are");
}

static void add_name(verdict_line *line, const char *name)
{
    size_t used = strlen(line->names);
    if (++line->count > VERDICT_NAMES_MAX) return;
    snprintf(line->names + used, sizeof line->names - used, "%s%s", used > 0 ? ", " : "", name);
}

void print_reaction_verdicts(const hn_model *model, hn_simulation *simulation, const bool *unique,
                             FILE *out)
{
    verdict_line *lines = calloc(VERDICT_LINES_MAX, sizeof *lines);
    int line_count = 0, left_out = 0;
    for (int i = 0; lines != NULL && unique != NULL && i < hn_model_joint_count(model); ++i) {
        hn_joint_id joint = hn_model_joint(model, i);
        hn_reaction_verdict verdict;
        char text[VERDICT_TEXT];
        if (unique[i] || hn_simulation_reaction_verdict(simulation, joint, &verdict) != HN_OK)
            continue;
        describe_verdict(&verdict, text);
        int k = 0;
        while (k < line_count && strcmp(lines[k].text, text) != 0) ++k;
        if (k == VERDICT_LINES_MAX) {
            left_out++;
            continue;
        }
        if (k == line_count) memcpy(lines[line_count++].text, text, sizeof text);
        add_name(&lines[k], SHOWN(hn_model_joint_name(model, joint)));
    }
    for (int k = 0; k < line_count; ++k) {
        fprintf(out, "                      %s", lines[k].names);
        if (lines[k].count > VERDICT_NAMES_MAX)
            fprintf(out, " and %d more", lines[k].count - VERDICT_NAMES_MAX);
        fprintf(out, ": %s\n", lines[k].text);
    }
    if (left_out > 0)
        fprintf(out, "                      and %d joints with verdicts of their own\n", left_out);
    free(lines);
}
