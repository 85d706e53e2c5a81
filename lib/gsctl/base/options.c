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

static const char *command_name; /* named in hints; NULL: not known yet */

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

/* Refuses a file name that begins with '-': getopt takes the next word for the file even if that is
 * an option, as in "--svg -o FILE". */
static const char *file_parse(const char *option, const char *name)
{
    if (name[0] == '-' && name[1])
        usage("%s: a file is missing before '%s'; a file of that name is ./%s", option, name, name);
    return name;
}

/* Adds a session, a process or a user to --tenant. */
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

/* The functions of options that do more than set a member of command_options. */
static void user_take(struct command_options *options, const char *name)
{
    target_set(options, CTL_USER, uid_parse("--user", name));
}

static void default_take(struct command_options *options, const char *unused)
{
    (void)unused;
    target_set(options, CTL_DEFAULT, 0);
}

static void others_take(struct command_options *options, const char *unused)
{
    (void)unused;
    target_set(options, CTL_USER, CTL_OTHERS);
}

static void watch_take(struct command_options *options, const char *seconds)
{
    options->watch_s = seconds ? (uint32_t)number_parse("--watch", seconds, 1, 86400) : WATCH_S;
}

static void version_print(struct command_options *options, const char *unused)
{
    (void)options;
    (void)unused;
    puts("gsctl " GS_VERSION_STRING);
    exit(EXIT_SUCCESS);
}

/* Values of getopt for options without a letter: */
enum {
    OPTION_NAMED = 256,  /* plus the index in command_options */
    OPTION_SETTING = 512 /* plus the index in setting_fields */
};
#define OPTIONS_MAX 48

#define FLAG(member)       OPTION_FLAG, offsetof(struct command_options, member), 0, 0, NULL
#define TEXT(member)       OPTION_TEXT, offsetof(struct command_options, member), 0, 0, NULL
#define NAMED_FILE(member) OPTION_FILE, offsetof(struct command_options, member), 0, 0, NULL
#define NUMBER(member, min, max)                                                                   \
    OPTION_NUMBER, offsetof(struct command_options, member), min, max, NULL
#define CALL(argument, take) OPTION_##argument, 0, 0, 0, take

const char values_users[] = "users", values_settings[] = "settings";
const struct command_option command_options[] = {
    {"instance", 'n', TAKES_ALL, NULL, TEXT(instance)},
    {"json", 0, TAKES_JSON | NO_JSON, NULL, FLAG(json)},
    {"timeout", 't', TAKES_QUIT, NULL, NUMBER(timeout_s, 0, UINT32_MAX)},
    {"yes", 'y', TAKES_QUIT, NULL, FLAG(yes)},
    {"user", 0, TAKES_TARGET | TAKES_KILL | TAKES_TOP, values_users, CALL(TEXT, user_take)},
    {"default", 0, TAKES_TARGET, NULL, CALL(FLAG, default_take)},
    {"others", 0, TAKES_TARGET, NULL, CALL(FLAG, others_take)},
    {"device", 0, TAKES_TARGET | TAKES_SMS | TAKES_RESTART | TAKES_DRAIN, NULL,
     NUMBER(device, 0, INT32_MAX)},
    {"force", 0, TAKES_RESTART, NULL, FLAG(force)},
    {"unset", 0, TAKES_SETTINGS, values_settings, CALL(TEXT, unset_add)},
    {"no", 0, TAKES_NO | TAKES_DRAIN, NULL, FLAG(no)},
    {"pid", 0, TAKES_KILL, NULL, NUMBER(pid, 0, INT32_MAX)},
    {"grace", 0, TAKES_KILL, NULL, NUMBER(grace_ms, 0, 86400000)},
    {"watch", 0, TAKES_WATCH, NULL, CALL(PERHAPS, watch_take)},
    {"listen", 0, TAKES_METRICS, NULL, TEXT(listen)},
    {"textfile", 0, TAKES_METRICS, NULL, NAMED_FILE(textfile)},
    {"follow", 'f', TAKES_LOG, NULL, FLAG(follow)},
    {"output", 'o', TAKES_TRACE, NULL, NAMED_FILE(output)},
    {"svg", 0, TAKES_TRACE, NULL, NAMED_FILE(svg)},
    {"seconds", 0, TAKES_TRACE, NULL, NUMBER(seconds, 1, 86400)},
    {"tenant", 0, TAKES_TRACE, values_users, CALL(TEXT, tenant_add)},
    {"help", 'h', TAKES_ALL, NULL, FLAG(help)},
    {"version", 'V', TAKES_ALL, NULL, CALL(FLAG, version_print)},
};
const size_t command_option_count = ARRAY_SIZE(command_options);

/* Returns getopt's value for the option of that index. */
static int option_code(size_t index)
{
    const char letter = command_options[index].letter;

    return letter ? letter : OPTION_NAMED + (int)index;
}

/* Returns the option; NULL if the code is a setting's, or no option's. */
static const struct command_option *option_find(int code)
{
    for (size_t i = 0; i < command_option_count; i++) {
        if (option_code(i) == code)
            return &command_options[i];
    }
    return NULL;
}

static void options_make(struct option options[OPTIONS_MAX])
{
    static const int argument[] = {[OPTION_FLAG] = no_argument,
                                   [OPTION_TEXT] = required_argument,
                                   [OPTION_FILE] = required_argument,
                                   [OPTION_NUMBER] = required_argument,
                                   [OPTION_PERHAPS] = optional_argument};
    size_t count = 0;

    memset(options, 0, OPTIONS_MAX * sizeof(*options));
    for (; count < command_option_count; count++)
        options[count] =
            (struct option){command_options[count].name, argument[command_options[count].kind],
                            NULL, option_code(count)};
    for (size_t i = 0; i < setting_field_count && count + 1 < OPTIONS_MAX; i++)
        options[count++] = (struct option){
            setting_fields[i].name,
            setting_fields[i].kind == SETTING_YES ? optional_argument : required_argument, NULL,
            OPTION_SETTING + (int)i};
}

static void option_apply(struct command_options *options, const struct command_option *option,
                         const char *value)
{
    void *member = (char *)options + option->member;
    char name[32];

    snprintf(name, sizeof(name), "--%s", option->name);
    if (option->take)
        option->take(options, value);
    else if (option->kind == OPTION_FLAG)
        *(bool *)member = true;
    else if (option->kind == OPTION_TEXT)
        *(const char **)member = value;
    else if (option->kind == OPTION_FILE)
        *(const char **)member = file_parse(name, value);
    else if (option->kind == OPTION_NUMBER)
        *(uint32_t *)member = (uint32_t)number_parse(name, value, option->min, option->max);
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

/* Ends the program if an option was given that the command does not accept. `given`: bits of
 * command_options. */
static void given_check(const struct command *command, const struct command_options *options,
                        uint64_t given)
{
    uint32_t sms = CTL_SMS | CTL_MASK;

    for (size_t i = 0; i < command_option_count; i++) {
        if (given >> i & 1 && !(command_options[i].takes & (command->takes | TAKES_ALL)))
            usage("%s has no --%s", command->name, command_options[i].name);
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

/* Returns the next option. Moves the words between options to the front of argv: the command, at
 * argv[1], and its operands. Behind a command that TAKES_WORDS all arguments from its first word on
 * are words. */
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

/* Reads the options, and moves the words before them; see option_next. Returns the number of words.
 * Sets *given to bits of command_options. */
static int line_read(int argc, char **argv, const struct command *commands, size_t count,
                     struct command_options *options, uint64_t *given)
{
    struct option long_options[OPTIONS_MAX];
    int code, words = 0;

    options_make(long_options);
    while ((code = option_next(argc, argv, long_options, &words, commands, count)) != -1) {
        const struct command_option *option = option_find(code);

        if (!option && code < OPTION_SETTING) /* getopt has printed the error */
            usage_hint();
        if (!option) {
            setting_set(options, &setting_fields[code - OPTION_SETTING], optarg);
            continue;
        }
        if (option->kind == OPTION_PERHAPS && !optarg && optind < argc &&
            isdigit((unsigned char)argv[optind][0]))
            optarg = argv[optind++];
        *given |= UINT64_C(1) << (option - command_options);
        option_apply(options, option, optarg);
    }
    return words;
}

/* Takes the `count` words behind the command. */
static void operands_take(const struct command *command, char **words, int count,
                          struct command_options *options)
{
    if (command->takes & TAKES_WORDS) {
        /* --json may come last, as with the other commands. */
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
    words = line_read(argc, argv, commands, count, options, &given);
    if (words)
        command = command_find(commands, count, argv[1]);
    if (options->help && !words)
        help_all(commands, count);
    if (options->help)
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
