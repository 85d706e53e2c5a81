/* completion.c - `gsctl completion bash|zsh`: the script by which a shell completes gsctl's words,
 * made from the tables of commands, options and settings. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "common/util.h"
#include "gsctl/base/options.h"
#include "gsctl/completion.h"
#include "gsctl/mps/mps.h"

static const char bash_head[] =
    "# bash completion for gsctl; made by 'gsctl completion bash'\n"
    "_gsctl()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= i\n"
    "    local -a words=() of=()\n"
    "    COMPREPLY=()\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        case ${COMP_WORDS[i]} in\n"
    "        -n|--instance)\n" /* bash takes --instance=NAME apart into three words */
    "            [ \"${COMP_WORDS[i+1]}\" = = ] && ((i++))\n"
    "            of=(--instance \"${COMP_WORDS[i+1]}\"); ((i++)) ;;\n"
    "        ";
static const char bash_found[] = ") [ \"$command\" ] || command=${COMP_WORDS[i]} ;;\n"
                                 "        esac\n"
                                 "    done\n"
                                 "    case $prev in\n";
static const char bash_tail[] = "    esac\n"
                                "    COMPREPLY=($(compgen -W \"${words[*]}\" -- \"$cur\"))\n"
                                "}\n"
                                "complete -F _gsctl gsctl\n";

static const char zsh_head[] = "#compdef gsctl\n"
                               "# zsh completion for gsctl; made by 'gsctl completion zsh'\n"
                               "local command= i\n"
                               "local -a words_ commands of\n"
                               "for ((i = 2; i < CURRENT; i++)); do\n"
                               "    case $words[i] in\n"
                               "    -n|--instance) of=(--instance $words[i+1]); ((i++)) ;;\n"
                               "    --instance=*) of=($words[i]) ;;\n"
                               "    ";
static const char zsh_found[] = ") [ \"$command\" ] || command=$words[i] ;;\n"
                                "    esac\n"
                                "done\n"
                                "case $words[CURRENT-1] in\n";
static const char zsh_tail[] = "esac\n"
                               "compadd -a words_\n";

/* The differences of the two shells' scripts, besides the texts above. */
struct shell {
    const char *name, *head, *found, *tail;
    const char *array;              /* the array of the words that fit */
    const char *only, *only_end;    /* text around words, if nothing else fits */
    const char *users, *more_users; /* text for a user's name only, and to add users' names to
                                       the words */
};
/* Words from the server that the command line names. */
#define SESSIONS "$(gsctl ps \"${of[@]}\" 2>/dev/null | sed -n 's/^ *\\([0-9][0-9]*\\) .*/\\1/p')"
#define RESERVATIONS                                                                               \
    "$(gsctl get \"${of[@]}\" 2>/dev/null | sed -n 's/^reservation \\([^:]*\\): .*/\\1/p')"
static const struct shell shells[] = {
    {"bash", bash_head, bash_found, bash_tail, "words", "COMPREPLY=($(compgen -W \"",
     "\" -- \"$cur\")); return", "COMPREPLY=($(compgen -u -- \"$cur\")); return",
     "words+=($(compgen -u))"},
    {"zsh", zsh_head, zsh_found, zsh_tail, "words_", "compadd -- ", "; return", "_users; return",
     "_users"},
};

/* ---- What follows an option ------------------------------------------------------------------ */

static void classes_print(const struct shell *shell)
{
    printf("--class) %s", shell->only);
    for (uint32_t cls = 0; cls <= GS_CLASS_BEST_EFFORT; cls++)
        printf("%s%s", cls ? " " : "", class_name(cls));
    printf("%s ;;\n", shell->only_end);
}

static void settings_print(const struct shell *shell, const char *option)
{
    printf("--%s) %s", option, shell->only);
    for (size_t i = 0; i < setting_field_count; i++)
        printf("%s ", setting_fields[i].name);
    printf("all%s ;;\n", shell->only_end);
}

/* Prints the completions of options' values. An option whose value can be anything has none. */
static void values_print(const struct shell *shell)
{
    for (size_t i = 0; i < command_option_count; i++) {
        const struct command_option *o = &command_options[i];

        if (o->kind == OPTION_FLAG || o->kind == OPTION_PERHAPS)
            continue;
        if (o->values == values_users)
            printf("--%s) %s ;;\n", o->name, shell->users);
        else if (o->values == values_settings)
            settings_print(shell, o->name);
        else
            printf("--%s) return ;;\n", o->name);
    }
    for (size_t i = 0; i < setting_field_count; i++) {
        if (setting_fields[i].kind == SETTING_CLASS)
            classes_print(shell);
        else if (setting_fields[i].kind != SETTING_YES)
            printf("--%s) return ;;\n", setting_fields[i].name);
    }
}

/* ---- What follows a command ------------------------------------------------------------------ */

/* Prints the completions of operands, which are in the synopsis: words in lower case stand for
 * themselves, SESSION and RESERVATION for those of the server. Returns true if an operand is a
 * user. */
static bool operands_print(const char *synopsis)
{
    static const char gaps[] = " |[]";
    bool user = false, value = false; /* value: what follows an option */

    for (const char *at = synopsis; *at; at += strcspn(at, gaps)) {
        size_t length;

        for (; *at && strchr(gaps, *at); at++)
            value = value && *at == ' ';
        length = strcspn(at, gaps);
        if (value || length == 0 || *at == '-') {
            value = *at == '-';
            continue;
        }
        if (islower((unsigned char)*at))
            printf(" %.*s", (int)length, at);
        else if (length == 7 && !strncmp(at, "SESSION", 7))
            fputs(" " SESSIONS, stdout);
        else if (length == 11 && !strncmp(at, "RESERVATION", 11))
            fputs(" " RESERVATIONS, stdout);
        user = user || (length == 4 && !strncmp(at, "USER", 4));
    }
    return user;
}

static void command_print(const struct shell *shell, const struct command *command)
{
    bool user;

    printf("%s) %s=(", command->name, shell->array);
    for (size_t i = 0; i < command_option_count; i++) {
        if (command_options[i].takes & ((command->takes & ~(unsigned)NO_JSON) | TAKES_ALL))
            printf(" --%s", command_options[i].name);
    }
    for (size_t i = 0; i < setting_field_count; i++) {
        if (command->takes & TAKES_SETTINGS ||
            (command->takes & TAKES_SMS && setting_fields[i].bit & (CTL_SMS | CTL_MASK)))
            printf(" --%s", setting_fields[i].name);
    }
    user = operands_print(command->synopsis);
    if (command->takes & TAKES_WORDS)
        mps_names_print();
    printf(")%s%s ;;\n", user ? "; " : "", user ? shell->more_users : "");
}

/* ---- The command ----------------------------------------------------------------------------- */

static void names_print(const struct command_options *options, const char *gap)
{
    for (size_t i = 0; i < options->command_count; i++)
        printf("%s%s", i ? gap : "", options->commands[i].name);
}

/* Prints the completions before a command: the commands, for zsh with their descriptions. */
static void commands_print(const struct shell *shell, const struct command_options *options)
{
    printf("'') %s=(--help --version --instance", shell->array);
    if (shell->array == shells[0].array) {
        putchar(' ');
        names_print(options, " ");
        puts(") ;;");
        return;
    }
    puts(")");
    for (size_t i = 0; i < options->command_count; i++)
        printf("commands+=(\"%s:%s\")\n", options->commands[i].name, options->commands[i].help);
    puts("_describe command commands ;;");
}

int command_completion(struct control *control, const struct command_options *options)
{
    const struct shell *shell = NULL;

    (void)control;
    for (size_t i = 0; i < ARRAY_SIZE(shells); i++) {
        if (!strcmp(options->operand, shells[i].name))
            shell = &shells[i];
    }
    if (!shell)
        usage("completion: for bash or zsh, not '%s'", options->operand);
    fputs(shell->head, stdout);
    names_print(options, "|");
    fputs(shell->found, stdout);
    values_print(shell);
    puts("esac\ncase $command in");
    commands_print(shell, options);
    for (size_t i = 0; i < options->command_count; i++)
        command_print(shell, &options->commands[i]);
    fputs(shell->tail, stdout);
    return 0;
}
