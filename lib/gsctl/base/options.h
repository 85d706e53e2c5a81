/*
 * options.h - gsctl's command line: the descriptions of commands and options, and the options given
 * to a command. The program runs one command, in one thread; the one other thread is that of `gsctl
 * metrics --listen`, while the first one waits.
 */
#ifndef GS_GSCTL_BASE_OPTIONS_H
#define GS_GSCTL_BASE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/request.h"
#include "common/setting_text.h"
#include "gsctl/base/memory.h"

#define WATCH_S  2u    /* seconds between two samples by default */
#define GRACE_MS 5000u /* default grace for the running work of a session that is ended */

struct command;
struct command_options {
    const char *instance;
    bool json;
    bool help;
    uint32_t timeout_s;  /* of quit */
    uint32_t watch_s;    /* of top and of commands that repeat; 0: not given */
    bool yes;            /* of quit: do not ask */
    const char *operand; /* the word after the command; NULL: none */
    char **words;        /* of mps: its command with arguments, as given */
    int word_count;
    /* Of set and get: the target. */
    bool target_given;
    enum ctl_target target;
    uint64_t id;
    /* Of set and reserve. */
    int32_t device; /* -1: not given */
    struct ctl_settings set;
    uint32_t unset;
    bool no;    /* of trust and drain: undo it */
    bool force; /* of restart-worker */
    /* Of kill. */
    int32_t pid;                   /* 0: not given */
    uint32_t grace_ms;             /* default: 5 s */
    const char *listen, *textfile; /* of metrics; NULL: not given */
    bool follow;                   /* of log */
    /* Of trace. */
    const char *output;     /* NULL: not given */
    const char *svg;        /* likewise */
    uint32_t seconds;       /* 0: until a signal */
    const char *tenant[16]; /* each a session, a process or a user */
    uint32_t tenant_count;
    /* Of completion: the table passed to options_parse. */
    const struct command *commands;
    size_t command_count;
};

struct command {
    const char *name;
    int (*run)(struct control *control, const struct command_options *options);
    const char *help;     /* one line */
    const char *synopsis; /* the operands and options after the name */
    const char *details;  /* further text of `gsctl NAME --help` */
    unsigned takes;       /* options that the command accepts: bits of enum command_takes */
    bool operand_needed;
    /* Checks what options_parse cannot check, before a server is asked. Returns 0 or the exit
     * status. NULL: nothing to check. */
    int (*check)(const struct command_options *options);
};
enum command_takes {
    TAKES_JSON = 1,
    TAKES_QUIT = 2,     /* --timeout and --yes */
    TAKES_TARGET = 4,   /* --user, --default, --device, or a session's id as the operand */
    TAKES_SETTINGS = 8, /* every setting, and --unset */
    TAKES_SMS = 16,     /* --sms, --mask and --device */
    TAKES_OPERAND = 32,
    TAKES_NO = 64,
    TAKES_KILL = 128,    /* --user, --pid, --grace, or a session's id as the operand */
    TAKES_RESTART = 256, /* --device and --force */
    TAKES_WATCH = 512,
    TAKES_TOP = 1024,     /* --user */
    TAKES_SESSION = 2048, /* a session's id as the operand */
    TAKES_WORDS = 4096,   /* all words and options behind the command's own options are its
                             arguments */
    TAKES_METRICS = 8192, /* --listen and --textfile */
    TAKES_TRACE = 16384,  /* --output, --svg, --seconds and --tenant */
    TAKES_LOG = 32768,    /* --follow */
    TAKES_DRAIN = 65536,  /* --device and --no */
    NO_JSON = 1 << 28,    /* it prints no JSON, and --json is refused */
    NO_SERVER = 1 << 29,  /* main opens no server's queue for it */
    TAKES_ALL = 1 << 30   /* of an option: all commands accept it */
};

enum option_kind {
    OPTION_FLAG, /* has no value */
    OPTION_TEXT,
    OPTION_FILE,
    OPTION_NUMBER,
    OPTION_PERHAPS /* a number, or no value */
};
struct command_option {
    const char *name;
    char letter;        /* 0: none */
    unsigned takes;     /* the commands that have the option */
    const char *values; /* values_..., for the shell's completion; NULL: anything */
    enum option_kind kind;
    size_t member;     /* offset in struct command_options of the member that gets the value */
    uint32_t min, max; /* of a number */
    void (*take)(struct command_options *options, const char *value); /* takes the value instead
                                                                         of a member */
};
extern const char values_users[], values_settings[];
/* The options besides the settings (setting_fields). */
extern const struct command_option command_options[];
extern const size_t command_option_count;
/* Reads the command line and returns the command that it names; the first of `commands` if it names
 * none. Prints help and ends the program if the line asks for help; ends the program with
 * EXIT_USAGE if the line is wrong. */
const struct command *options_parse(int argc, char **argv, const struct command *commands,
                                    size_t count, struct command_options *options);
/* Prints the message and ends the program with EXIT_USAGE. */
void usage(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
