// SPDX-License-Identifier: MIT
// `holonom view`: one page that shows a result, or several in one picture.
#include "command.h"
#include "options.h"
#include "output_file.h"
#include "page.h"
#include "study_page.h"

#include <stdlib.h>

static int write_page(const char *const *words, page_result *results, int count, const char *page,
                      const char *template_path)
{
    for (int i = 0; i < count; ++i) {
        if (complain_output_is_input(page, words[i])) return EXIT_FILE;
        results[i].path = words[i];
    }
    if (template_path != NULL && complain_output_is_input(page, template_path)) return EXIT_FILE;
    return count == 1 && is_study_table(words[0]) ? study_page_write(words[0], page, template_path)
                                                  : page_write(results, count, page, template_path);
}

int command_view(int argument_count, char **arguments)
{
    const char *output = NULL, *template_path = NULL;
    const option_spec options[] = {
        {"--output", "FILE",
         "name of the page (default: the first result's name with .html; - is the screen)",
         &output},
        {"--template", "FILE", "viewer to put the results into (default: the one installed)",
         &template_path},
    };
    const command_usage usage = {
        "view",
        "RESULT...",
        "Write a page that shows results: the motion in 3D, plots, the ledger. It is one file and "
        "opens from disk.",
        "Several results (.h5, or .h5.part of runs that go on) come into one picture, the second "
        "and further ones as ghosts.\n"
        "A large result is thinned, so that the page stays below 15 MB; the page says by how "
        "much.\n"
        "The table of a study becomes a page with histograms, response surfaces and the table.\n",
        "holonom view six-body-linkage.h5 -o linkage.html",
        options,
        2};
    const char **words = malloc(((size_t)argument_count + 1) * sizeof *words);
    page_result *results = calloc((size_t)argument_count + 1, sizeof *results);
    int count = 0, code = EXIT_RUN_FAILED;
    options_result parsed =
        words == NULL || results == NULL
            ? OPTIONS_WRONG
            : options_parse_words(&usage, argument_count, arguments, words, &count);
    if (parsed == OPTIONS_FINE && count == 0) {
        options_complain("view", "needs a RESULT");
        parsed = OPTIONS_WRONG;
    }
    if (parsed == OPTIONS_FINE) {
        char *chosen = output == NULL ? name_with_ending(words[0], ".html") : NULL;
        const char *page = output == NULL ? chosen : output;
        if (page != NULL) code = write_page(words, results, count, page, template_path);
        free(chosen);
    } else {
        code = parsed == OPTIONS_HELP ? EXIT_FINE : EXIT_USAGE;
    }
    free(results);
    free(words);
    return code;
}
