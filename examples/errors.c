// SPDX-License-Identifier: MIT
// What a mistake looks like: a status code, a message that says where and what would help, and a log callback.
#include <holonom/holonom.h>

#include <stdio.h>
#include <string.h>

static void show(const char *line, void *user)
{
    fprintf(user, "note: %s\n", line);
}

int main(void)
{
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return 1;
    hn_context_set_log(context, show,
                       stdout); // warnings and notes; the library itself prints nothing

    const char *text = "holonom: 1\n"
                       "bodies:\n"
                       "  arm: {mass: 1, inertia: [1, 1, 1]}\n"
                       "joints:\n"
                       "  pin: {revolut: {bodies: [ground, arm], at: [0, 0, 0], axis: z}}\n";
    hn_model *model = NULL;
    hn_status status = hn_model_parse(context, text, strlen(text), "arm.yaml", &model);
    printf("%s (%s)\n%s\n", hn_status_name(status), hn_status_sentence(status),
           hn_context_message(context));

    hn_model_destroy(model); // NULL after a failure; destroying NULL is fine
    hn_context_destroy(context);
    return status == HN_FILE_FORMAT ? 0 : 1;
}
