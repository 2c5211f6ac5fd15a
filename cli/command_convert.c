// SPDX-License-Identifier: MIT
// `holonom convert`: a robot description (URDF) as a model file.
#define _POSIX_C_SOURCE 200809L
#include "command.h"
#include "options.h"
#include "output_file.h"
#include "report.h"
#include "say.h"

#include <holonom/holonom.h>

#include <string.h>

static const char COMMAND[] = "convert";

static void write_text(const void *model, FILE *file)
{
    size_t length;
    const char *text = hn_model_text(model, &length);
    fwrite(text, 1, length, file);
}

static int write_model(const hn_model *model, const char *path)
{
    if (path == NULL || strcmp(path, "-") == 0) {
        write_text(model, stdout);
        return EXIT_FINE;
    }
    int code = output_write(path, write_text, model);
    if (code == EXIT_FINE)
        say(stdout, "  wrote %s: %d bodies, %d joints\n", path, hn_model_body_count(model),
            hn_model_joint_count(model));
    return code;
}

int command_convert(int argument_count, char **arguments)
{
    const char *base = NULL, *output = NULL, *robot = NULL;
    const option_spec options[] = {
        {"--base", "fixed|free", "is the root of the robot held by the ground? (default: fixed)",
         &base},
        {"--output", "FILE", "name of the model file (default: the screen)", &output},
    };
    const command_usage usage = {
        COMMAND,
        "ROBOT",
        "Write a robot description (URDF) as a model file.",
        "Links that fixed joints hold together become one body. What the description has and a "
        "model has not\nis listed on the error stream and at the top of the model file.\n"
        "Other commands read robot descriptions as they are, with a fixed base.\n",
        "holonom convert arm.urdf --output arm.yaml",
        options,
        (int)(sizeof options / sizeof options[0])};
    options_result parsed = options_parse(&usage, argument_count, arguments, &robot);
    if (parsed != OPTIONS_FINE) return parsed == OPTIONS_HELP ? EXIT_FINE : EXIT_USAGE;
    bool free_base = base != NULL && strcmp(base, "free") == 0;
    if (base != NULL && !free_base && strcmp(base, "fixed") != 0) {
        options_complain(COMMAND, "--base is '%s'; expected fixed or free", base);
        return EXIT_USAGE;
    }
    if (output != NULL && complain_output_is_input(output, robot)) return EXIT_FILE;

    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return report_no_memory();
    hn_context_set_log(context, report_log_line, NULL);
    hn_model *model = NULL;
    int code = EXIT_MODEL;
    hn_status status = hn_model_load_urdf(context, robot, free_base, &model);
    if (status != HN_OK) say(stderr, "%s\n", hn_context_message(context));
    else code = write_model(model, output);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return code;
}
