/* options.c - gsctl's command line: one set of options, of which each command accepts some. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/help_text.h"
#include "common/names.h"
#include "common/util.h"
#include "gsctl/base/memory.h"
#include "gsctl/base/options.h"

static const char *command_name; /* which hints name; NULL: not known yet */

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

#define HELP_COLUMN 28 /* of descriptions */
#define EXIT_HELP                                                                                  \
    "Exit status: 0 done, 1 refused or failed, 2 wrong usage, 3 no such server runs.\n"

static void __attribute__((noreturn)) help_all(const struct command *commands, size_t count)
{
    fputs("Usage: gsctl [COMMAND] [OPTION]...\n"
          "Looks at a gshare server, sets its limits, and ends it.\n\n",
          stdout);
    for (size_t i = 0; i < count; i++)
        printf("  %-14s %s\n", commands[i].name, commands[i].help);
    fputs("\n"
          "  -n, --instance NAME  the server's name, yours before root's; USER:NAME: that\n"
          "                       user's; default: $GSHARE_INSTANCE, else \"default\"\n"
          "      --json           print JSON: all commands but completion\n"
          "      --watch [SECS]   status, servers, ps, top, info, dump, metrics, get,\n"
          "                       explain: again every so often, default 2; with --json\n"
          "                       a document a line\n"
          "  -h, --help           this text; after a command: what it takes\n"
          "  -V, --version        the version\n"
          "\n" EXIT_HELP,
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
    help_text_print(
        "      --unset FIELD         takes back what was set here under that name; all: "
        "all that was set here. What is set elsewhere (for the user, say) stays\n",
        HELP_COLUMN);
}

static void __attribute__((noreturn)) help_command(const struct command *command)
{
    char usage_line[160];

    snprintf(usage_line, sizeof(usage_line), "Usage: gsctl %s%s%s [OPTION]...", command->name,
             *command->synopsis ? " " : "", command->synopsis);
    help_text_print(usage_line, HELP_COLUMN);
    printf("%c%s.\n\n", toupper(command->help[0]), command->help + 1);
    help_text_print(command->details, HELP_COLUMN);
    if (command->takes & TAKES_SETTINGS)
        settings_help();
    fputs("  -n, --instance NAME       the server's name, or USER:NAME\n", stdout);
    if (command->takes & TAKES_JSON)
        fputs("      --json                print JSON\n", stdout);
    if (command->takes & TAKES_WATCH)
        fputs("      --watch [SECONDS]     look again every so often; default 2\n", stdout);
    if (command->takes & TAKES_TOP)
        fputs("      --user NAME           only this user's tenants\n", stdout);
    if (command->takes & (TAKES_TARGET | TAKES_KILL | TAKES_SESSION))
        fputs("\nSESSION is a number that 'gsctl ps' shows.\n", stdout);
    fputs("\n" EXIT_HELP, stdout);
    exit(EXIT_SUCCESS);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static uint64_t number_parse(const char *what, const char *text, uint64_t min, uint64_t max)
{
    char *end;

    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *end || !isdigit((unsigned char)text[0]) || value < min ||
        value > max)
        usage("%s '%s': a number from %llu to %llu", what, text, (unsigned long long)min,
              (unsigned long long)max);
    return value;
}

static uint64_t session_parse(const char *text)
{
    for (const char *c = text; *c; c++) {
        if (!isdigit((unsigned char)*c))
            usage("'%s' is no session: a number that 'gsctl ps' shows", text);
    }
    return number_parse("session", text, 0, UINT64_MAX >> 8);
}

static uint64_t uid_parse(const char *option, const char *name)
{
    uid_t uid;

    if (!user_parse(name, &uid))
        usage("%s '%s': there is no user of that name", option, name);
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
    if (!setting_parse(&options->set, field, value) || !setting_possible(&options->set, field))
        usage("--%s '%s': %s", field->name, value, field->values);
}

static void unset_add(struct command_options *options, const char *name)
{
    const struct setting_field *field = setting_find(name);

    if (!field && strcmp(name, "all") != 0)
        usage("--unset '%s': there is no such setting", name);
    options->unset |= field ? field->bit : CTL_FIELDS;
}

/* getopt takes the next word for the file, also where that is an option: "--svg -o FILE". */
static const char *file_parse(const char *option, const char *name)
{
    if (name[0] == '-' && name[1])
        usage("%s: a file is missing before '%s'; a file of that name is ./%s", option, name, name);
    return name;
}

/* A session, a process, or a user. */
static void tenant_add(struct command_options *options, const char *word)
{
    if (options->tenant_count == ARRAY_SIZE(options->tenant))
        usage("--tenant: at most %zu", ARRAY_SIZE(options->tenant));
    if (isdigit((unsigned char)*word))
        number_parse("--tenant", word, 0, UINT64_MAX >> 8);
    else
        uid_parse("--tenant", word);
    options->tenant[options->tenant_count++] = word;
}

/* ---- Options --------------------------------------------------------------------------------- */

enum {
    OPTION_JSON = 256,
    OPTION_USER,
    OPTION_DEFAULT,
    OPTION_OTHERS,
    OPTION_DEVICE,
    OPTION_UNSET,
    OPTION_NO,
    OPTION_PID,
    OPTION_GRACE,
    OPTION_FORCE,
    OPTION_WATCH,
    OPTION_LISTEN,
    OPTION_TEXTFILE,
    OPTION_SECONDS,
    OPTION_SVG,
    OPTION_TENANT,
    OPTION_SETTING = 512 /* plus the index in setting_fields */
};
#define OPTIONS_MAX 48

const char values_users[] = "users", values_settings[] = "settings";
const struct command_option command_options[] = {
    {{"instance", required_argument, NULL, 'n'}, TAKES_ALL, NULL},
    {{"json", no_argument, NULL, OPTION_JSON}, TAKES_JSON | NO_JSON, NULL},
    {{"timeout", required_argument, NULL, 't'}, TAKES_QUIT, NULL},
    {{"yes", no_argument, NULL, 'y'}, TAKES_QUIT, NULL},
    {{"user", required_argument, NULL, OPTION_USER},
     TAKES_TARGET | TAKES_KILL | TAKES_TOP,
     values_users},
    {{"default", no_argument, NULL, OPTION_DEFAULT}, TAKES_TARGET, NULL},
    {{"others", no_argument, NULL, OPTION_OTHERS}, TAKES_TARGET, NULL},
    {{"device", required_argument, NULL, OPTION_DEVICE},
     TAKES_TARGET | TAKES_SMS | TAKES_RESTART | TAKES_DRAIN,
     NULL},
    {{"force", no_argument, NULL, OPTION_FORCE}, TAKES_RESTART, NULL},
    {{"unset", required_argument, NULL, OPTION_UNSET}, TAKES_SETTINGS, values_settings},
    {{"no", no_argument, NULL, OPTION_NO}, TAKES_NO | TAKES_DRAIN, NULL},
    {{"pid", required_argument, NULL, OPTION_PID}, TAKES_KILL, NULL},
    {{"grace", required_argument, NULL, OPTION_GRACE}, TAKES_KILL, NULL},
    {{"watch", optional_argument, NULL, OPTION_WATCH}, TAKES_WATCH, NULL},
    {{"listen", required_argument, NULL, OPTION_LISTEN}, TAKES_METRICS, NULL},
    {{"textfile", required_argument, NULL, OPTION_TEXTFILE}, TAKES_METRICS, NULL},
    {{"follow", no_argument, NULL, 'f'}, TAKES_LOG, NULL},
    {{"output", required_argument, NULL, 'o'}, TAKES_TRACE, NULL},
    {{"svg", required_argument, NULL, OPTION_SVG}, TAKES_TRACE, NULL},
    {{"seconds", required_argument, NULL, OPTION_SECONDS}, TAKES_TRACE, NULL},
    {{"tenant", required_argument, NULL, OPTION_TENANT}, TAKES_TRACE, values_users},
    {{"help", no_argument, NULL, 'h'}, TAKES_ALL, NULL},
    {{"version", no_argument, NULL, 'V'}, TAKES_ALL, NULL},
};
const size_t command_option_count = ARRAY_SIZE(command_options);

static void options_make(struct option options[OPTIONS_MAX])
{
    size_t count = 0;

    memset(options, 0, OPTIONS_MAX * sizeof(*options));
    while (count < command_option_count) {
        options[count] = command_options[count].option;
        count++;
    }
    for (size_t i = 0; i < setting_field_count && count + 1 < OPTIONS_MAX; i++)
        options[count++] = (struct option){
            setting_fields[i].name,
            setting_fields[i].kind == SETTING_YES ? optional_argument : required_argument, NULL,
            OPTION_SETTING + (int)i};
}

static void option_apply(struct command_options *options, int code)
{
    switch (code) {
    case 'n':
        options->instance = optarg;
        break;
    case OPTION_JSON:
        options->json = true;
        break;
    case 't':
        options->timeout_s = (uint32_t)number_parse("--timeout", optarg, 0, UINT32_MAX);
        break;
    case 'y':
        options->yes = true;
        break;
    case OPTION_USER:
        target_set(options, CTL_USER, uid_parse("--user", optarg));
        break;
    case OPTION_PID:
        options->pid = (int32_t)number_parse("--pid", optarg, 0, INT32_MAX);
        break;
    case OPTION_GRACE:
        options->grace_ms = (uint32_t)number_parse("--grace", optarg, 0, 86400000);
        break;
    case OPTION_DEFAULT:
        target_set(options, CTL_DEFAULT, 0);
        break;
    case OPTION_OTHERS:
        target_set(options, CTL_USER, CTL_OTHERS);
        break;
    case OPTION_DEVICE:
        options->device = (int32_t)number_parse("--device", optarg, 0, INT32_MAX);
        break;
    case OPTION_UNSET:
        unset_add(options, optarg);
        break;
    case OPTION_NO:
        options->no = true;
        break;
    case OPTION_FORCE:
        options->force = true;
        break;
    case OPTION_WATCH:
        options->watch_s = optarg ? (uint32_t)number_parse("--watch", optarg, 1, 86400) : WATCH_S;
        break;
    case OPTION_LISTEN:
        options->listen = optarg;
        break;
    case OPTION_TEXTFILE:
        options->textfile = file_parse("--textfile", optarg);
        break;
    case 'f':
        options->follow = true;
        break;
    case 'o':
        options->output = file_parse("--output", optarg);
        break;
    case OPTION_SVG:
        options->svg = file_parse("--svg", optarg);
        break;
    case OPTION_SECONDS:
        options->seconds = (uint32_t)number_parse("--seconds", optarg, 1, 86400);
        break;
    case OPTION_TENANT:
        tenant_add(options, optarg);
        break;
    case 'h':
        break;
    case 'V':
        puts("gsctl " GS_VERSION_STRING);
        exit(EXIT_SUCCESS);
    default:
        if (code < OPTION_SETTING) /* getopt has printed the error */
            usage_hint();
        setting_set(options, &setting_fields[code - OPTION_SETTING], optarg);
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
    for (size_t i = 0; i < count; i++) {
        if (!strncmp(commands[i].name, name, 2))
            usage("there is no command '%s'; is '%s' meant?", name, commands[i].name);
    }
    usage("there is no command '%s'", name);
}

/* An option that the command does not accept is an error. given: bits of command_options. */
static void given_check(const struct command *command, const struct command_options *options,
                        uint64_t given)
{
    uint32_t sms = CTL_SMS | CTL_MASK;

    for (size_t i = 0; i < command_option_count; i++) {
        if (given >> i & 1 && !(command_options[i].takes & (command->takes | TAKES_ALL)))
            usage("%s has no --%s", command->name, command_options[i].option.name);
    }
    if (options->set.fields & ~(command->takes & TAKES_SMS ? sms : 0) &&
        !(command->takes & TAKES_SETTINGS))
        usage("%s takes %s", command->name,
              command->takes & TAKES_SMS ? "no settings but --sms and --mask" : "no settings");
    if (options->json && command->takes & NO_JSON)
        usage("%s has no --json: what it prints is for a shell", command->name);
    if ((command->operand_needed && !options->operand) ||
        (command->takes & TAKES_TRACE && !options->output && !options->svg && !options->json))
        usage("an argument is missing: gsctl %s %s", command->name, command->synopsis);
}

/* The next option. The words between options move to the front of argv: the command, at argv[1],
 * and its operands. All that follows a command that TAKES_WORDS, from its first word on, is words.
 */
static int option_next(int argc, char **argv, const struct option *options, int *words,
                       const struct command *commands, size_t count)
{
    int code;

    while ((code = getopt_long(argc, argv, "+n:fo:t:yhV", options, NULL)) == -1 && optind < argc) {
        bool rest = !strcmp(argv[optind - 1], "--") ||
                    (*words == 1 && command_find(commands, count, argv[1])->takes & TAKES_WORDS);

        do {
            argv[++*words] = argv[optind++];
        } while (rest && optind < argc);
        if (!command_name)
            command_name = command_find(commands, count, argv[1])->name;
        /* After "--" getopt would begin anew with the words. */
        if (rest)
            return -1;
    }
    return code;
}

/* Reads the options, and moves the words before them; see option_next. Returns how many words there
 * are. given: bits of command_options. */
static int line_read(int argc, char **argv, const struct command *commands, size_t count,
                     struct command_options *options, uint64_t *given, bool *help)
{
    struct option long_options[OPTIONS_MAX];
    int code, words = 0;

    options_make(long_options);
    while ((code = option_next(argc, argv, long_options, &words, commands, count)) != -1) {
        for (size_t i = 0; i < command_option_count; i++)
            *given |= (uint64_t)(command_options[i].option.val == code) << i;
        *help = *help || code == 'h';
        if (code == OPTION_WATCH && !optarg && optind < argc &&
            isdigit((unsigned char)argv[optind][0]))
            optarg = argv[optind++];
        option_apply(options, code);
    }
    return words;
}

/* Takes what follows the command: `count` words. */
static void operands_take(const struct command *command, char **words, int count,
                          struct command_options *options)
{
    if (command->takes & TAKES_WORDS) {
        /* Where the other commands may have it, too. */
        if (count > 1 && !strcmp(words[count - 1], "--json")) {
            options->json = true;
            count--;
        }
        options->words = words;
        options->word_count = count;
        return;
    }
    if (count && command->takes & TAKES_OPERAND)
        options->operand = words[0];
    if (count > (options->operand ? 1 : 0))
        usage("unexpected argument '%s'", words[options->operand ? 1 : 0]);
}

static void instance_check(const char *name)
{
    struct instance instance;
    const char *wrong = instance_parse(name, &instance);

    if (wrong)
        usage("instance name '%s': %s", name, wrong);
}

const struct command *options_parse(int argc, char **argv, const struct command *commands,
                                    size_t count, struct command_options *options)
{
    const char *instance = getenv("GSHARE_INSTANCE");
    const struct command *command = &commands[0];
    uint64_t given = 0;
    bool help = false;
    int words;

    *options = (struct command_options){.instance = instance && *instance ? instance : "default",
                                        .grace_ms = GRACE_MS,
                                        .device = -1,
                                        .commands = commands,
                                        .command_count = count};
    if (argc > 1 && !strcmp(argv[1], "help")) {
        if (argc == 2)
            help_all(commands, count);
        help_command(command_find(commands, count, argv[2]));
    }
    words = line_read(argc, argv, commands, count, options, &given, &help);
    if (words)
        command = command_find(commands, count, argv[1]);
    if (help && !words)
        help_all(commands, count);
    if (help)
        help_command(command);
    operands_take(command, argv + 2, words ? words - 1 : 0, options);
    given_check(command, options, given);
    if (command->takes & (TAKES_TARGET | TAKES_KILL | TAKES_SESSION) && options->operand)
        target_set(options, CTL_TENANT, session_parse(options->operand));
    if (command->takes & TAKES_TARGET && options->device >= 0)
        target_set(options, CTL_DEVICE, (uint64_t)options->device);
    instance_check(options->instance);
    return command;
}
