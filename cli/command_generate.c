// SPDX-License-Identifier: MIT
// `holonom generate`: model files of any size, for trying how things scale.
#include "command.h"
#include "generated_model.h"
#include "options.h"
#include "report.h"
#include "output_file.h"
#include "say.h"

#include <stdlib.h>
#include <string.h>

static const char *const COMMAND = "generate";

static const int64_t BODY_COUNT_MAX = 1000000; // files stay below the format's limit of 256 MiB

/// The texts of the options; NULL where an option is not given.
typedef struct generate_options {
    const char *kind, *count, *rows, *joint, *angle, *zigzag, *speed, *section, *output;
} generate_options;

static bool find_word(const char *what, const char *word, int count,
                      const char *(*word_at)(int index), int *found)
{
    for (int i = 0; i < count; ++i)
        if (strcmp(word, word_at(i)) == 0) {
            *found = i;
            return true;
        }
    complain_unknown_word(COMMAND, what, word, count, word_at);
    return false;
}

/// A finite number within bounds; an option that is not given leaves the value alone.
static bool take_number(const char *option, const char *text, double least, double most,
                        double *value)
{
    if (text == NULL) return true;
    char *end = NULL;
    double number = strtod(text, &end);
    if (end != text && *end == '\0' && number >= least && number <= most) {
        *value = number;
        return true;
    }
    options_complain(COMMAND, "%s: '%s' is not a number from %g to %g", option, text, least, most);
    return false;
}

static bool refuse(const char *option, const char *text, bool allowed, const char *where)
{
    if (text == NULL || allowed) return false;
    options_complain(COMMAND, "%s is for %s only", option, where);
    return true;
}

/// Joints a kind can have: axes of a ladder or hub must be parallel hinges, a net needs balls to move at all.
static bool take_joints(const char *text, generated_model *model)
{
    if (text == NULL) return true;
    int found = 0;
    if (!find_word("joint", text, GENERATED_JOINTS_COUNT, generated_joints_word, &found))
        return false;
    bool free_choice = model->kind == GENERATED_CHAIN || model->kind == GENERATED_TREE;
    if (!free_choice && (int)model->joints != found) {
        options_complain(COMMAND, "the joints of a %s are %s",
                         generated_kind_word((int)model->kind),
                         generated_joints_word((int)model->joints));
        return false;
    }
    model->joints = (generated_joints)found;
    return true;
}

static bool read_model(const generate_options *given, generated_model *model)
{
    int kind = 0;
    if (!find_word("kind of model", given->kind, GENERATED_KIND_COUNT, generated_kind_word, &kind))
        return false;
    *model = generated_model_default((generated_kind)kind);
    if (given->count == NULL) {
        options_complain(COMMAND, "needs --count N: how large the %s shall be", given->kind);
        return false;
    }
    bool chain = kind == GENERATED_CHAIN,
         ladder = kind == GENERATED_LADDER || kind == GENERATED_HUB, net = kind == GENERATED_NET;
    if (refuse("--rows", given->rows, net, "a net") ||
        refuse("--zigzag", given->zigzag, chain, "a chain") ||
        refuse("--speed", given->speed, ladder, "a ladder or hub") ||
        refuse("--angle", given->angle, !ladder, "a chain, tree or net"))
        return false;
    if (!take_joints(given->joint, model) ||
        !option_positive_count(COMMAND, "--count", given->count, &model->count))
        return false;
    model->rows = model->count;
    if (given->rows != NULL && !option_positive_count(COMMAND, "--rows", given->rows, &model->rows))
        return false;
    if (!take_number("--angle", given->angle, -90.0, 90.0, &model->angle) ||
        !take_number("--zigzag", given->zigzag, 0.0, 80.0, &model->zigzag) ||
        !take_number("--speed", given->speed, -1000.0, 1000.0, &model->speed) ||
        !take_number("--section", given->section, 1e-6, 1.0, &model->section))
        return false;
    // each alone first, so that their product cannot overflow
    if (model->count > BODY_COUNT_MAX || model->rows > BODY_COUNT_MAX ||
        generated_model_body_count(model) > BODY_COUNT_MAX) {
        options_complain(COMMAND, "at most %lld bodies fit in a model file",
                         (long long)BODY_COUNT_MAX);
        return false;
    }
    return true;
}

static void write_text(const void *model, FILE *file)
{
    generated_model_write(model, file);
}

static int write_file(const generated_model *model, const char *path)
{
    int code = output_write(path, write_text, model);
    if (code == EXIT_FINE)
        say(stdout, "  wrote %s: %lld bodies\n", path,
            (long long)generated_model_body_count(model));
    return code;
}

int command_generate(int argument_count, char **arguments)
{
    generate_options given = {0};
    const option_spec options[] = {
        {"--count", "N",
         "size: bodies of a chain or tree, four-bars, bars along a net's edge, cranks",
         &given.count},
        {"--joint", "NAME", "chain and tree: revolute (default), spherical or mixed", &given.joint},
        {"--angle", "DEGREES", "below the horizontal at the start: chain, tree, net (default 0)",
         &given.angle},
        {"--zigzag", "DEGREES", "chain: boxes turned left and right in turn (default 0)",
         &given.zigzag},
        {"--rows", "N", "net: bars away from the held edge (default: as --count)", &given.rows},
        {"--speed", "M/S", "ladder and hub: of the top row at the start (default 1)", &given.speed},
        {"--section", "METRES", "edges of a bar's square section (default 0.1; ladder, hub 0.001)",
         &given.section},
        {"--output", "FILE", "name of the model file (default: the screen)", &given.output},
    };
    const command_usage usage = {
        COMMAND,
        "KIND",
        "Write a model file of any size: bars of 1 m and 1 kg, connected by rule.",
        "Kinds:\n"
        "  chain    boxes one after the other, the first on the ground\n"
        "  tree     a binary tree of boxes: at the end of each hang two more\n"
        "  ladder   N four-bars in a row that share their cranks, axes along z, gravity along -y\n"
        "  net      a lattice of bars with ball joints, held along one edge\n"
        "  hub      one bar on N cranks, axes along z, gravity along -y\n",
        "holonom generate chain --count 1000 --joint spherical --output chain.yaml",
        options,
        (int)(sizeof options / sizeof options[0])};
    options_result parsed = options_parse(&usage, argument_count, arguments, &given.kind);
    if (parsed != OPTIONS_FINE) return parsed == OPTIONS_HELP ? EXIT_FINE : EXIT_USAGE;

    generated_model model;
    if (!read_model(&given, &model)) return EXIT_USAGE;
    if (given.output != NULL && strcmp(given.output, "-") != 0)
        return write_file(&model, given.output);
    generated_model_write(&model, stdout);
    return EXIT_FINE;
}
