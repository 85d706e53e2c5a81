/* main.c - gsctl: looks at a gshare server and ends it. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/names.h"
#include "common/util.h"
#include "gsctl/gsctl.h"

#define ASK_NS 5000000000u

static const struct command {
    const char *name;
    int (*run)(struct control *control, const struct command_options *options);
    const char *help;
} commands[] = {
    {"status", command_status, "the server and its devices; what is done without a command"},
    {"ps", command_ps, "the tenants: process, memory, launches, copies"},
    {"quit", command_quit, "ends the server; -t SECONDS: tenants have that long to detach"},
};

static void __attribute__((noreturn, format(printf, 1, 2))) usage(const char *format, ...)
{
    va_list ap;

    fputs("gsctl: ", stderr);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputs("\nTry 'gsctl --help'.\n", stderr);
    exit(EXIT_USAGE);
}

static void __attribute__((noreturn)) help(void)
{
    fputs("Usage: gsctl [COMMAND] [OPTION]...\n"
          "Looks at a gshare server, and ends it.\n\n",
          stdout);
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
        printf("  %-20s %s\n", commands[i].name, commands[i].help);
    fputs("\n"
          "      --instance NAME  the server's name; default: $GSHARE_INSTANCE, else \"default\"\n"
          "      --json           status and ps: print JSON\n"
          "  -t, --timeout SECS   quit: default 0\n"
          "  -h, --help           this text\n"
          "  -V, --version        the version\n"
          "\n"
          "Exit status: 0 done, 1 an error, 2 wrong usage, 3 no such server runs.\n",
          stdout);
    exit(EXIT_SUCCESS);
}

uint64_t ask_deadline(void)
{
    return clock_ns() + ASK_NS;
}

int ask_failed(gs_status status, const char *message)
{
    fprintf(stderr, "gsctl: %s\n", message);
    return status == GS_ERR_NO_SERVER ? EXIT_NO_SERVER : EXIT_ERROR;
}

static uint32_t seconds_parse(const char *text)
{
    char *end;

    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *end || text[0] == '-' || value > UINT32_MAX)
        usage("--timeout %s: seconds, from 0 to %u", text, UINT32_MAX);
    return (uint32_t)value;
}

static const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
        if (!strcmp(commands[i].name, name))
            return &commands[i];
    }
    usage("there is no command '%s'", name);
}

enum { OPTION_INSTANCE = 256, OPTION_JSON };

static const struct option long_options[] = {{"instance", required_argument, NULL, OPTION_INSTANCE},
                                             {"json", no_argument, NULL, OPTION_JSON},
                                             {"timeout", required_argument, NULL, 't'},
                                             {"help", no_argument, NULL, 'h'},
                                             {"version", no_argument, NULL, 'V'},
                                             {0}};

static const struct command *options_parse(int argc, char **argv, struct command_options *options)
{
    const char *instance = getenv("GSHARE_INSTANCE");
    const struct command *command = &commands[0];
    bool timeout = false;
    int code;

    *options = (struct command_options){.instance = instance && *instance ? instance : "default"};
    while ((code = getopt_long(argc, argv, "t:hV", long_options, NULL)) != -1) {
        switch (code) {
        case OPTION_INSTANCE:
            options->instance = optarg;
            break;
        case OPTION_JSON:
            options->json = true;
            break;
        case 't':
            options->timeout_s = seconds_parse(optarg);
            timeout = true;
            break;
        case 'h':
            help();
        case 'V':
            puts("gsctl " GS_VERSION_STRING);
            exit(EXIT_SUCCESS);
        default: /* getopt has said what is wrong */
            fputs("Try 'gsctl --help'.\n", stderr);
            exit(EXIT_USAGE);
        }
    }
    if (optind < argc)
        command = command_find(argv[optind++]);
    if (optind < argc)
        usage("unexpected argument '%s'", argv[optind]);
    if (timeout && command->run != command_quit)
        usage("--timeout goes with quit only");
    if (options->json && command->run == command_quit)
        usage("quit has no --json");
    if (!instance_valid(options->instance))
        usage("--instance %s: 1 to %u letters, digits, '-' and '_'", options->instance,
              WIRE_INSTANCE_MAX);
    return command;
}

int main(int argc, char **argv)
{
    struct command_options options;
    const struct command *command = options_parse(argc, argv, &options);
    char message[REQUEST_MESSAGE_MAX];
    struct control control;
    gs_status status = control_open(&control, options.instance, message);

    if (status != GS_OK)
        return ask_failed(status, message);
    int result = command->run(&control, &options);
    control_close(&control);
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "gsctl: writing: %s\n", strerror(errno));
        return EXIT_ERROR;
    }
    return result;
}
