/* mps.c - `gsctl mps`: takes the commands of nvidia-cuda-mps-control, as arguments or as lines of
 * standard input, so that scripts for MPS keep working: see mps.h. */
#include "gsctl/mps/mps.h"
#include "gsctl/ask/ask.h"
#include "gsctl/ask/server.h"
#include "gsctl/base/json.h"
#include "gsctl/base/memory.h"
#include "gsctl/base/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"

#define ARGUMENTS_MAX 8

static int help(const struct mps_call *call);

static const struct mps_command mps_commands[] = {
    {"get_server_list", "", "the server's pid", 0, 0, mps_server_list, NULL},
    {"start_server", "-uid UID", "nothing: it serves all users", 2, 3, mps_server_start, NULL},
    {"shutdown_server", "PID [-f]", "when no client is left; -f: now", 1, 2, mps_server_shutdown,
     NULL},
    {"get_server_status", "PID", "INITIALIZING, ACTIVE or FAULT", 1, 1, mps_server_status, NULL},
    {"get_client_list", "PID", "the clients' pids", 1, 1, mps_client_list, NULL},
    {"get_device_client_list", "[PID]", "devices with their clients' pids", 0, 1,
     mps_device_client_list, NULL},
    {"ps", "[-p PID]", "the clients, a line a session", 0, 2, mps_ps, NULL},
    {"device_query", "[PID]", "the devices", 0, 1, mps_device_query, NULL},
    {"set_default_active_thread_percentage", "PERCENT", "of the SMs, for each session", 1, 1,
     mps_default_set, &mps_percentage},
    {"get_default_active_thread_percentage", "", "what is set", 0, 0, mps_default_get,
     &mps_percentage},
    {"set_active_thread_percentage", "PID PERCENT", "PID: the server's, or a client's", 2, 2,
     mps_limit_set, &mps_percentage},
    {"get_active_thread_percentage", "PID", "what it sets, or a client has", 1, 1, mps_limit_get,
     &mps_percentage},
    {"set_default_device_pinned_mem_limit", "DEVICE SIZE", "memory of each session", 2, 2,
     mps_default_set, &mps_memory},
    {"get_default_device_pinned_mem_limit", "DEVICE", "what is set", 1, 1, mps_default_get,
     &mps_memory},
    {"set_device_pinned_mem_limit", "PID DEVICE SIZE", "PID: the server's, or a client's", 3, 3,
     mps_limit_set, &mps_memory},
    {"get_device_pinned_mem_limit", "PID DEVICE", "what it sets, or a client has", 2, 2,
     mps_limit_get, &mps_memory},
    {"set_default_client_priority", "0|1", "1: the class best-effort", 1, 1, mps_default_set,
     &mps_priority},
    {"get_default_client_priority", "", "what is set", 0, 0, mps_default_get, &mps_priority},
    {"terminate_client", "SERVER_PID CLIENT_PID", "ends the client's sessions", 2, 2,
     mps_client_terminate, NULL},
    {"sm_partition", "add DEVICE CHUNKS | rm DEV/NAME", "reserves 8 SMs a chunk", 2, 3,
     mps_partition, NULL},
    {"lspart", "", "the reservations", 0, 0, mps_partitions, NULL},
    {"quit", "[-t SECONDS]", "ends it when no client is left", 0, 2, mps_quit, NULL},
    {"help", "", "this list", 0, 0, help, NULL},
};

static void help_json(void)
{
    json_open(NULL, '{');
    json_open("commands", '[');
    for (size_t i = 0; i < ARRAY_SIZE(mps_commands); i++) {
        json_open(NULL, '{');
        json_text("command", mps_commands[i].name);
        json_text("arguments", mps_commands[i].arguments);
        json_text("help", mps_commands[i].help);
        json_close('}');
    }
    json_close(']');
    json_close('}');
}

#define HELP_FROM 48 /* column; the longest command ends before it, and 32 are left */

static int help(const struct mps_call *call)
{
    if (call->json) {
        help_json();
        return 0;
    }
    for (size_t i = 0; i < ARRAY_SIZE(mps_commands); i++) {
        const struct mps_command *c = &mps_commands[i];
        int width = printf("%s%s%s", c->name, *c->arguments ? " " : "", c->arguments);

        printf("%*s%s\n", width < HELP_FROM ? HELP_FROM - width : 1, "", c->help);
    }
    return 0;
}

void mps_names_print(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(mps_commands); i++)
        printf(" %s", mps_commands[i].name);
}

/* ---- Arguments ------------------------------------------------------------------------------- */

int mps_wrong(const struct mps_call *call, int result, const char *format, ...)
{
    va_list ap;

    fprintf(stderr, "gsctl: mps: %s: ", call->command->name);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
    return result;
}

bool mps_number(const struct mps_call *call, const char *text, uint64_t max, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno && *number <= max)
        return true;
    mps_wrong(call, 0, "'%s': a number from 0 to %llu", text, (unsigned long long)max);
    return false;
}

int mps_device(const struct mps_call *call, const char *text, uint32_t *device,
               struct ctl_status_reply *reply)
{
    char message[REQUEST_MESSAGE_MAX];
    uint64_t number;
    gs_status status;

    const bool uuid = !strncmp(text, "GPU-", 4) || !strncmp(text, "MIG-", 4);

    if (!uuid && !mps_number(call, text, INT32_MAX, &number))
        return EXIT_USAGE;
    status = status_read(call->control, reply, message);
    if (status != GS_OK)
        return ask_failed(status, message);
    for (number = uuid ? 0 : number; uuid && number < reply->device_count; number++) {
        if (!strcmp(reply->device[number].uuid, text))
            break;
    }
    if (number >= reply->device_count)
        return mps_wrong(call, EXIT_ERROR, "there is no device %s: see gsctl status", text);
    *device = (uint32_t)number;
    return 0;
}

int mps_server(const struct mps_call *call, const char *text, struct ctl_status_reply *reply)
{
    char message[REQUEST_MESSAGE_MAX];
    uint64_t pid;
    gs_status status;

    if (!mps_number(call, text, INT32_MAX, &pid))
        return EXIT_USAGE;
    status = status_read(call->control, reply, message);
    if (status != GS_OK)
        return ask_failed(status, message);
    if ((int32_t)pid != reply->server_pid)
        return mps_wrong(call, EXIT_ERROR, "no server has the pid %s: get_server_list shows it",
                         text);
    return 0;
}

/* ---- The commands ---------------------------------------------------------------------------- */

/* Returns whether an option of gsctl is among the words. MPS's own options have one dash. */
static bool option_among(char **words, int count)
{
    for (int i = 0; i < count; i++) {
        if (!strncmp(words[i], "--", 2))
            return true;
    }
    return false;
}

/* Finds the command that the words call. Returns 0 or the exit status. */
static int call_find(struct mps_call *call, char **words, int count)
{
    call->argument = words + 1;
    call->count = count - 1;
    for (size_t i = 0; i < ARRAY_SIZE(mps_commands); i++) {
        const struct mps_command *c = &mps_commands[i];

        if (strcmp(c->name, words[0]) != 0)
            continue;
        call->command = c;
        if (call->count < c->least || call->count > c->most)
            return mps_wrong(
                call, EXIT_USAGE, "takes %s%s", *c->arguments ? c->arguments : "nothing",
                option_among(words, count) ? "; options of gsctl stand before mps" : "");
        return 0;
    }
    fprintf(stderr, "gsctl: mps: there is no command '%s'; gsctl mps help lists them\n", words[0]);
    return EXIT_USAGE;
}

static int call_run(struct control *control, char **words, int count, bool json)
{
    struct mps_call call = {.control = control, .json = json};
    const int wrong = call_find(&call, words, count);

    if (wrong)
        return wrong;
    ask_of_mps(call.command->name);
    return call.command->run(&call);
}

/* Runs one line, which it cuts into words in place. A line without words does nothing. */
static int line_run(struct control *control, char *line, bool json)
{
    char *words[ARGUMENTS_MAX + 1], *next;
    int count = 0;

    for (char *word = strtok_r(line, " \t\r\n", &next); word && count <= ARGUMENTS_MAX;
         word = strtok_r(NULL, " \t\r\n", &next))
        words[count++] = word;
    return count ? call_run(control, words, count, json) : 0;
}

int mps_check(const struct command_options *options)
{
    struct mps_call call = {.json = options->json};

    return options->word_count ? call_find(&call, options->words, options->word_count) : 0;
}

/* Runs the command line or the lines of standard input. Returns the worst result of the lines. A
 * line that fails does not keep the next ones from running, except one that loses the server. */
int command_mps(struct control *control, const struct command_options *options)
{
    size_t room = 0;
    char *line = NULL;
    int worst = 0;

    if (options->word_count)
        return call_run(control, options->words, options->word_count, options->json);
    while (control_served(control) && getline(&line, &room, stdin) >= 0) {
        int result = line_run(control, line, options->json);

        fflush(stdout);
        worst = result > worst ? result : worst;
    }
    free(line);
    return worst;
}
