/* options.c - gsctl's command line: one set of options, of which each command accepts some. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/names.h"
#include "common/util.h"
#include "gsctl/gsctl.h"

static const char *command_name; /* NULL: not known yet */

static void __attribute__((noreturn)) usage_hint(void)
{
    fprintf(stderr, "Try 'gsctl %s%s--help'.\n", command_name ? command_name : "",
            command_name ? " " : "");
    exit(EXIT_USAGE);
}

void usage(const char *format, ...)
{
    va_list ap;

    fputs("gsctl: ", stderr);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
    usage_hint();
}

/* ---- Help ------------------------------------------------------------------------------------ */

static void __attribute__((noreturn)) help_all(const struct command *commands, size_t count)
{
    fputs("Usage: gsctl [COMMAND] [OPTION]...\n"
          "Looks at a gshare server, sets its limits, and ends it.\n\n",
          stdout);
    for (size_t i = 0; i < count; i++)
        printf("  %-14s %s\n", commands[i].name, commands[i].help);
    fputs("\n"
          "      --instance NAME  the server's name, yours before root's; USER:NAME: that user's;\n"
          "                       default: $GSHARE_INSTANCE, else \"default\"\n"
          "      --json           status, ps and get: print JSON\n"
          "  -h, --help           this text; after a command: what it takes\n"
          "  -V, --version        the version\n"
          "\n"
          "Exit status: 0 done, 1 an error, 2 wrong usage, 3 no such server runs.\n",
          stdout);
    exit(EXIT_SUCCESS);
}

static void settings_help(void)
{
    for (size_t i = 0; i < setting_field_count; i++) {
        char option[48];

        snprintf(option, sizeof(option), "--%s%s", setting_fields[i].name,
                 setting_fields[i].kind == SETTING_YES ? "[=no]" : " VALUE");
        printf("      %-21s %s\n", option, setting_fields[i].values);
    }
    puts("      --unset FIELD         the setting of that name, or all, does not count any more");
}

static void __attribute__((noreturn)) help_command(const struct command *command)
{
    printf("Usage: gsctl %s%s%s [OPTION]...\n%c%s.\n\n%s", command->name,
           *command->synopsis ? " " : "", command->synopsis, toupper(command->help[0]),
           command->help + 1, command->details);
    if (command->takes & TAKES_SETTINGS)
        settings_help();
    fputs("      --instance NAME       the server's name, or USER:NAME\n", stdout);
    if (command->takes & TAKES_JSON)
        fputs("      --json                print JSON\n", stdout);
    if (command->takes & TAKES_TARGET)
        fputs("\nSESSION is a number that 'gsctl ps' shows.\n", stdout);
    exit(EXIT_SUCCESS);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static uint64_t number_parse(const char *what, const char *text, uint64_t max)
{
    char *end;

    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *end || !isdigit((unsigned char)text[0]) || value > max)
        usage("%s '%s': a number from 0 to %llu", what, text, (unsigned long long)max);
    return value;
}

static uint64_t session_parse(const char *text)
{
    for (const char *c = text; *c; c++) {
        if (!isdigit((unsigned char)*c))
            usage("'%s' is no session: a number that 'gsctl ps' shows", text);
    }
    return number_parse("session", text, UINT64_MAX >> 8);
}

static uint64_t uid_parse(const char *name)
{
    uid_t uid;

    if (!user_parse(name, &uid))
        usage("--user '%s': there is no user of that name", name);
    return uid;
}

static void target_set(struct command_options *options, enum ctl_target target, uint64_t id)
{
    if (options->target_given)
        usage("one of a session's id, --user, --others, --default and --device at a time");
    options->target_given = true;
    options->target = target;
    options->id = id;
}

static void setting_set(struct command_options *options, const struct setting_field *field,
                        const char *value)
{
    if (!value)
        value = "yes"; /* --exclusive or --trust without a value */
    if (options->set.fields & field->bit)
        usage("--%s is given twice", field->name);
    if (!setting_parse(&options->set, field, value))
        usage("--%s '%s': %s", field->name, value, field->values);
}

static void unset_add(struct command_options *options, const char *name)
{
    const struct setting_field *field = setting_find(name);

    if (!field && strcmp(name, "all") != 0)
        usage("--unset '%s': there is no such setting", name);
    options->unset |= field ? field->bit : CTL_FIELDS;
}

/* ---- Options --------------------------------------------------------------------------------- */

enum {
    OPTION_INSTANCE = 256,
    OPTION_JSON,
    OPTION_USER,
    OPTION_DEFAULT,
    OPTION_OTHERS,
    OPTION_DEVICE,
    OPTION_UNSET,
    OPTION_NO,
    OPTION_PID,
    OPTION_GRACE,
    OPTION_FORCE,
    OPTION_SETTING = 512 /* plus the index in setting_fields */
};
#define OPTIONS_MAX 40

static const struct option fixed_options[] = {
    {"instance", required_argument, NULL, OPTION_INSTANCE},
    {"json", no_argument, NULL, OPTION_JSON},
    {"timeout", required_argument, NULL, 't'},
    {"user", required_argument, NULL, OPTION_USER},
    {"default", no_argument, NULL, OPTION_DEFAULT},
    {"others", no_argument, NULL, OPTION_OTHERS},
    {"device", required_argument, NULL, OPTION_DEVICE},
    {"force", no_argument, NULL, OPTION_FORCE},
    {"unset", required_argument, NULL, OPTION_UNSET},
    {"no", no_argument, NULL, OPTION_NO},
    {"pid", required_argument, NULL, OPTION_PID},
    {"grace", required_argument, NULL, OPTION_GRACE},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'}};

static void options_make(struct option options[OPTIONS_MAX])
{
    size_t count = ARRAY_SIZE(fixed_options);

    memset(options, 0, OPTIONS_MAX * sizeof(*options));
    memcpy(options, fixed_options, sizeof(fixed_options));
    for (size_t i = 0; i < setting_field_count && count + 1 < OPTIONS_MAX; i++)
        options[count++] = (struct option){
            setting_fields[i].name,
            setting_fields[i].kind == SETTING_YES ? optional_argument : required_argument, NULL,
            OPTION_SETTING + (int)i};
}

struct given {
    bool json, timeout, target, user, settings, kill, help;
};

static void option_apply(struct command_options *options, struct given *given, int code)
{
    switch (code) {
    case OPTION_INSTANCE:
        options->instance = optarg;
        break;
    case OPTION_JSON:
        options->json = given->json = true;
        break;
    case 't':
        options->timeout_s = (uint32_t)number_parse("--timeout", optarg, UINT32_MAX);
        given->timeout = true;
        break;
    case OPTION_USER:
        target_set(options, CTL_USER, uid_parse(optarg));
        given->user = true;
        break;
    case OPTION_PID:
        options->pid = (int32_t)number_parse("--pid", optarg, INT32_MAX);
        given->kill = true;
        break;
    case OPTION_GRACE:
        options->grace_ms = (uint32_t)number_parse("--grace", optarg, 86400000);
        given->kill = true;
        break;
    case OPTION_DEFAULT:
        target_set(options, CTL_DEFAULT, 0);
        given->target = true;
        break;
    case OPTION_OTHERS:
        target_set(options, CTL_USER, CTL_OTHERS);
        given->target = true;
        break;
    case OPTION_DEVICE:
        options->device = (int32_t)number_parse("--device", optarg, INT32_MAX);
        break;
    case OPTION_UNSET:
        unset_add(options, optarg);
        given->settings = true;
        break;
    case OPTION_NO:
        options->no = true;
        break;
    case OPTION_FORCE:
        options->force = true;
        break;
    case 'h':
        given->help = true;
        break;
    case 'V':
        puts("gsctl " GS_VERSION_STRING);
        exit(EXIT_SUCCESS);
    default:
        if (code < OPTION_SETTING) /* getopt has printed the error */
            usage_hint();
        setting_set(options, &setting_fields[code - OPTION_SETTING], optarg);
        given->settings = true;
        break;
    }
}

static const struct command *command_find(const struct command *commands, size_t count,
                                          const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(commands[i].name, name))
            return &commands[i];
    }
    usage("there is no command '%s'", name);
}

/* An option that the command does not accept is an error. */
static void given_check(const struct command *command, const struct command_options *options,
                        const struct given *given)
{
    uint32_t sms = CTL_SMS | CTL_MASK;

    if (given->timeout && !(command->takes & TAKES_TIMEOUT))
        usage("%s has no --timeout", command->name);
    if (given->json && !(command->takes & TAKES_JSON))
        usage("%s has no --json", command->name);
    if ((given->target && !(command->takes & TAKES_TARGET)) ||
        (given->user && !(command->takes & (TAKES_TARGET | TAKES_KILL))))
        usage("%s has no --user and no --default", command->name);
    if (given->kill && !(command->takes & TAKES_KILL))
        usage("%s has no --pid and no --grace", command->name);
    if (options->device >= 0 && !(command->takes & (TAKES_TARGET | TAKES_SMS | TAKES_RESTART)))
        usage("%s has no --device", command->name);
    if (given->settings && !(command->takes & TAKES_SETTINGS) &&
        (!(command->takes & TAKES_SMS) || options->unset || options->set.fields & ~sms))
        usage("%s takes %s", command->name,
              command->takes & TAKES_SMS ? "no settings but --sms and --mask" : "no settings");
    if (options->no && !(command->takes & TAKES_NO))
        usage("%s has no --no", command->name);
    if (options->force && !(command->takes & TAKES_RESTART))
        usage("%s has no --force", command->name);
    if (command->operand_needed && !options->operand)
        usage("what is missing: gsctl %s %s", command->name, command->synopsis);
}

const struct command *options_parse(int argc, char **argv, const struct command *commands,
                                    size_t count, struct command_options *options)
{
    const char *instance = getenv("GSHARE_INSTANCE");
    const struct command *command = &commands[0];
    struct option long_options[OPTIONS_MAX];
    struct given given = {0};
    struct instance named_instance;
    const char *wrong;
    bool named;
    int code;

    *options = (struct command_options){
        .instance = instance && *instance ? instance : "default", .grace_ms = 5000, .device = -1};
    options_make(long_options);
    /* Hints name the command if it is the first argument, where it usually stands. */
    for (size_t i = 0; argc > 1 && i < count; i++) {
        if (!strcmp(commands[i].name, argv[1]))
            command_name = commands[i].name;
    }
    while ((code = getopt_long(argc, argv, "t:hV", long_options, NULL)) != -1)
        option_apply(options, &given, code);
    named = optind < argc;
    if (named)
        command = command_find(commands, count, argv[optind++]);
    if (given.help && !named)
        help_all(commands, count);
    if (given.help)
        help_command(command);
    if (optind < argc && command->takes & TAKES_OPERAND)
        options->operand = argv[optind++];
    if (optind < argc)
        usage("unexpected argument '%s'", argv[optind]);
    given_check(command, options, &given);
    if (command->takes & (TAKES_TARGET | TAKES_KILL) && options->operand)
        target_set(options, CTL_TENANT, session_parse(options->operand));
    if (command->takes & TAKES_TARGET && options->device >= 0)
        target_set(options, CTL_DEVICE, (uint64_t)options->device);
    wrong = instance_parse(options->instance, &named_instance);
    if (wrong)
        usage("instance name '%s': %s", options->instance, wrong);
    return command;
}
