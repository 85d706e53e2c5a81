/*
 * gsctl.h - what the commands of gsctl share. The program runs one command, in one thread.
 *
 * Calls go down: main -> options, commands -> rows -> ask, json -> format -> memory. The one other
 * thread is that of `gsctl metrics --listen`, while the first one waits.
 */
#ifndef GS_GSCTL_GSCTL_H
#define GS_GSCTL_GSCTL_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/request.h"
#include "common/setting_text.h"

#define WATCH_S  2u    /* seconds between two looks, where nothing else is said */
#define GRACE_MS 5000u /* for what a session runs when it is ended */

enum { EXIT_ERROR = 1, EXIT_USAGE = 2, EXIT_NO_SERVER = 3 };

struct command;
struct command_options {
    const char *instance;
    bool json;
    uint32_t timeout_s;  /* of quit */
    uint32_t watch_s;    /* of those that print anew and of top; 0: not given */
    bool yes;            /* of quit: do not ask */
    const char *operand; /* the word after the command; NULL: none */
    char **words;        /* of mps: its command and that one's arguments, as they were given */
    int word_count;
    /* Of set and get: whose settings. */
    bool target_given;
    enum ctl_target target;
    uint64_t id;
    /* Of set and reserve. */
    int32_t device; /* -1: not given */
    struct ctl_settings set;
    uint32_t unset;
    bool no;    /* of trust and drain: not any more */
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
    /* Of completion: the table that was given to options_parse. */
    const struct command *commands;
    size_t command_count;
};

/* Each returns the exit status. */
int command_status(struct control *control, const struct command_options *options);
int command_ps(struct control *control, const struct command_options *options);
int command_info(struct control *control, const struct command_options *options);
int command_top(struct control *control, const struct command_options *options);
int command_quit(struct control *control, const struct command_options *options);
int command_kill(struct control *control, const struct command_options *options);
int command_restart(struct control *control, const struct command_options *options);
int command_set(struct control *control, const struct command_options *options);
int command_trust(struct control *control, const struct command_options *options);
int command_get(struct control *control, const struct command_options *options);
int command_explain(struct control *control, const struct command_options *options);
int command_reserve(struct control *control, const struct command_options *options);
int command_release(struct control *control, const struct command_options *options);
int command_dump(struct control *control, const struct command_options *options);
int command_metrics(struct control *control, const struct command_options *options);
int command_log(struct control *control, const struct command_options *options);
int command_trace(struct control *control, const struct command_options *options);
int command_mps(struct control *control, const struct command_options *options);
int command_completion(struct control *control, const struct command_options *options);
int command_drain(struct control *control, const struct command_options *options);
int command_provision(struct control *control, const struct command_options *options);
int kill_check(const struct command_options *options);
int set_check(const struct command_options *options);
int trust_check(const struct command_options *options);
int reserve_check(const struct command_options *options);
int reservation_check(const struct command_options *options); /* the name alone */
int provision_check(const struct command_options *options);
int mps_check(const struct command_options *options);

/* ---- options.c ------------------------------------------------------------------------------- */

struct command {
    const char *name;
    int (*run)(struct control *control, const struct command_options *options);
    const char *help;     /* one line */
    const char *synopsis; /* the operands and options after the name */
    const char *details;  /* further text of `gsctl NAME --help` */
    unsigned takes;       /* options that the command accepts: bits of enum command_takes */
    bool operand_needed;
    /* Checks what options_parse cannot know to be wrong, before a server is looked for. Returns 0
     * or the exit status. NULL: there is nothing to check. */
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
    TAKES_WORDS = 4096,   /* all that follows the command's options, options too, is its own */
    TAKES_METRICS = 8192, /* --listen and --textfile */
    TAKES_TRACE = 16384,  /* --output, --svg, --seconds and --tenant */
    TAKES_LOG = 32768,    /* --follow */
    TAKES_DRAIN = 65536,  /* --device and --no */
    NO_JSON = 1 << 28, /* there is no JSON of what it prints, which is said where --json is given */
    NO_SERVER = 1 << 29, /* main opens no server's queue for it */
    TAKES_ALL = 1 << 30  /* of an option: all commands have it */
};

struct command_option {
    struct option option;
    unsigned takes;     /* the commands that have the option */
    const char *values; /* values_..., by which the completion goes; NULL: anything */
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

/* ---- ask.c ----------------------------------------------------------------------------------- */

/* The clock_ns() by which a server must have answered a request that is sent now. */
uint64_t ask_deadline(void);
/* Checks the head of a page of an answer: the page has at most `most` rows, and the next page, if
 * there is one, begins after this page's cursor. GS_ERR_PROTOCOL, with a message. */
gs_status page_check(uint32_t count, uint32_t most, uint64_t next, uint64_t cursor,
                     char message[REQUEST_MESSAGE_MAX]);
/* A wait for what takes its time. */
struct wait {
    uint64_t since_ns;
    bool told;
};
/* It has lasted a second, and nothing is said of it yet. */
bool wait_due(const struct wait *wait);
/* Says once, when the wait has lasted a second, what it is for, when it ends at the latest (by
 * clock_ns(); 0: open), and how the user ends it. */
void wait_tell(struct wait *wait, uint64_t deadline_ns, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Remembers the server that this process asks, for the words of ask_failed. */
void ask_begin(const struct control *control);
/* Says which command of MPS this process does, for the words of ask_failed. */
void ask_of_mps(const char *command);
/* Prints the message of a failed request and returns the exit status for it. */
int ask_failed(gs_status status, const char *message);

/* ---- set.c, kill.c, quit.c: changes, which mps makes too ------------------------------------- */

/* Asks for a change and returns the exit status. A remark of the server on a change that it made
 * goes to standard error, with `json` into a document on standard output. */
int change_ask(struct control *control, struct ctl_header *request, uint16_t op, size_t size,
               bool json);
/* The same for settings; says so where it has no effect: the settings are as they were, or a
 * session has what it had. */
int settings_change(struct control *control, struct ctl_set *request, bool json);
/* The same without a word; remark receives what is to be said of it, "": nothing, or the message of
 * the failure. */
gs_status settings_make(struct control *control, struct ctl_set *request,
                        char remark[REQUEST_MESSAGE_MAX]);
/* What is to be said of changes that were made; "": nothing. */
void change_remark(const char *remark, bool json);
/* Ends the sessions that are meant and waits until they hold nothing of a device. */
gs_status sessions_end(struct control *control, struct ctl_kill *request, uint32_t *count,
                       char message[REQUEST_MESSAGE_MAX]);
/* Tells the server to quit and waits for its end. *pid: of the server. */
gs_status server_quit(struct control *control, uint32_t timeout_s, int32_t *pid,
                      char message[REQUEST_MESSAGE_MAX]);

/* ---- mps.c ----------------------------------------------------------------------------------- */

/* Prints the names of MPS's commands, each after a blank. */
void mps_names_print(void);

/* ---- rows.c: the rows of CTL_GET ------------------------------------------------------------- */

struct rows {
    struct ctl_row *row; /* the caller frees it, also on failure */
    size_t count;
    uint32_t provision;
};
gs_status rows_read(struct control *control, struct rows *rows, char message[REQUEST_MESSAGE_MAX]);
/* One row; none if the server has none of that name, but for a user, who may have no settings. */
gs_status row_read(struct control *control, enum ctl_target target, uint64_t id, struct rows *rows,
                   char message[REQUEST_MESSAGE_MAX]);
enum ctl_target row_target(const struct ctl_row *row);
unsigned long long row_id(const struct ctl_row *row); /* of its target */

/* ---- get.c ----------------------------------------------------------------------------------- */

/* The members "provision" and "rows" of get's document. */
void rows_members_json(const struct rows *rows);
void row_members_json(const struct ctl_row *row); /* of an object of its "rows" */

/* ---- status.c -------------------------------------------------------------------------------- */

gs_status status_read(struct control *control, struct ctl_status_reply *reply,
                      char message[REQUEST_MESSAGE_MAX]);
/* Asks where the server's log is, which it tells its owner and root. */
gs_status log_place_read(struct control *control, struct ctl_log_reply *reply,
                         char message[REQUEST_MESSAGE_MAX]);
const char *device_state_name(uint32_t state); /* "?" for an unknown state */
/* "fault", "eviction" ... of enum ctl_takeover; "?" for an unknown one */
const char *takeover_cause_name(uint32_t cause);

/* The members of status's document, or of an object of its "devices". */
void status_members_json(const struct ctl_status_reply *reply, const struct control *control);
void devices_json(const struct ctl_status_reply *reply);

/* ---- ps.c ------------------------------------------------------------------------------------ */

/* All tenants, in the order in which they attached. The caller frees *tenants, also on failure. */
gs_status tenants_read(struct control *control, struct ctl_tenant **tenants, size_t *count,
                       char message[REQUEST_MESSAGE_MAX]);
uint64_t histogram_sum(const struct ctl_histogram *h);     /* of all counts */
void tenant_members_json(const struct ctl_tenant *tenant); /* of an object of ps's "tenants" */

/* ---- memory.c -------------------------------------------------------------------------------- */

/* realloc for count elements; ends the program if there is no memory. */
void *memory_more(void *memory, size_t count, size_t size);

/* ---- format.c: figures for people; each function returns out --------------------------------- */

#define FORMAT_MAX 32
/* "512 B", "1.5 MiB" */
const char *format_bytes(char out[FORMAT_MAX], uint64_t bytes);
/* "950", "1.2M" */
const char *format_count(char out[FORMAT_MAX], uint64_t count);
/* "15us", "1.2ms", "350ms", "1.0s"; "-": 0 */
const char *format_time(char out[FORMAT_MAX], uint64_t ns);
/* "12 s", "2 h 3 min" */
const char *format_duration(char out[FORMAT_MAX], uint64_t ns);
/* The user's name; the number if the user has no name. */
const char *format_user(char out[FORMAT_MAX], uint32_t uid);
/* "worker pid 42", "no worker" */
const char *format_worker(char out[FORMAT_MAX], const struct ctl_device *device);
/* Prints the line that a device begins with. */
void device_title_print(uint32_t index, const struct ctl_device *device);
/* Name of a session's state (enum ctl_tenant_state), such as "attached" or "ending"; "?" for an
 * unknown state. */
const char *state_name(uint32_t state);

/* True if output goes to a terminal and NO_COLOR is not set: colours and bold. */
bool colour_wanted(void);
/* The width of the terminal, else $COLUMNS, else 80. */
unsigned columns_wanted(void);

/* A table. Each column is as wide as its widest cell; the header is bold on a terminal. A column
 * whose every cell is its `dull` text or "-" is left out. On a terminal that is too narrow the
 * `spare` columns are left out, one after the other, and then the last one is cut. */
#define TABLE_COLUMNS_MAX 18
#define TABLE_CELL_MAX    64
struct table {
    const char *const *header;
    const bool *right;          /* aligned to the right */
    const char *const *dull;    /* for each column its dull text or NULL; NULL: no column has one */
    const unsigned char *spare; /* columns, the one to be left out first; NULL: none */
    unsigned spare_count;
    unsigned columns;
    unsigned cells, room;
    char (*cell)[TABLE_CELL_MAX];
};
/* Adds the next cell; cells come row by row. */
void table_add(struct table *table, const char *text);
void table_print(const struct table *table);
void table_deinit(struct table *table);

/* ---- json.c: prints JSON to stdout, with commas and escapes ---------------------------------- */

/* Length of the well-formed UTF-8 sequence at s; 0 if there is none. */
size_t utf8_length(const unsigned char *s);
/* name: the member's name inside an object; NULL inside an array. */
void json_open(const char *name, char bracket); /* '{' or '[' */
/* '}' or ']'. A newline follows the last one of a document. */
void json_close(char bracket);
void json_text(const char *name, const char *text);
void json_number(const char *name, uint64_t number);
void json_integer(const char *name, int64_t number);
/* A number that is text already. */
void json_figure(const char *name, const char *digits);
/* Nanoseconds, as microseconds with a fraction. */
void json_micros(const char *name, uint64_t ns);
/* "user", the name, and "uid" */
void json_user(uint32_t uid);
/* A process's id; null where it is 0: there is none, or it is in another PID namespace. */
void json_pid(const char *name, int32_t pid);

#endif
