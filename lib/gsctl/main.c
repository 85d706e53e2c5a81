/* main.c - gsctl: looks at a gshare server, sets its limits, and ends it. */
#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/util.h"
#include "gsctl/ask/ask.h"
#include "gsctl/base/memory.h"
#include "gsctl/base/options.h"
#include "gsctl/change/change.h"
#include "gsctl/completion.h"
#include "gsctl/metrics/metrics.h"
#include "gsctl/mps/mps.h"
#include "gsctl/show/show.h"
#include "gsctl/top/top.h"
#include "gsctl/trace/trace.h"

static const struct command commands[] = {
    {"status", command_status, "the server and its devices; also without a command", "", "",
     TAKES_JSON | TAKES_WATCH, false, NULL},
    {"servers", command_servers, "the servers of this machine, whose they are, their devices", "",
     "It shows the servers that serve the caller; root sees all. SERVER is a name for --instance.\n"
     "Servers of other IPC namespaces, such as those of containers, are not shown.\n\n",
     TAKES_JSON | TAKES_WATCH | NO_SERVER, false, NULL},
    {"ps", command_ps, "the tenants: process, SMs, class, memory, GPU time, launches", "", "",
     TAKES_JSON | TAKES_WATCH, false, NULL},
    {"top", command_top, "the tenants, live: SMs, GPU time, launches, latency, memory", "",
     "Keys: q quits; the arrows select a session, and k ends it after asking; u shows one user's;\n"
     "n s g l m p d x sort by session, SMs, GPU time, launches, memory, latency, depth of the\n"
     "queue and strays, r the other way round.\n"
     "GPU% is time on the device in percent of the time that passed; kernels of several tenants\n"
     "run at once. P50 and P99 are latencies of launches since the last look; QUEUE counts\n"
     "launches that have not ended; MEM% is memory in percent of its limit, or of the device's;\n"
     "FAULTS counts workers lost by sessions of that user. --json needs no terminal: it prints\n"
     "what tenants did in one second, or with --watch in each interval.\n\n",
     TAKES_JSON | TAKES_WATCH | TAKES_TOP, false, NULL},
    {"info", command_info, "the devices, and who may run on which of their SMs", "",
     "A cell of the map is an SM; the last row is all of them together.\n\n",
     TAKES_JSON | TAKES_WATCH, false, NULL},
    {"dump", command_dump, "everything for scripts: lines of fields separated by tabs", "",
     "gsctl(1) has the fields. '-' stands for a missing value. Later versions may add kinds of "
     "lines,\n"
     "and fields at the ends of lines. --json: what status, get and ps print, in one document.\n\n",
     TAKES_JSON | TAKES_WATCH, false, NULL},
    {"metrics", command_metrics, "the figures for Prometheus: printed, in a file, or served", "",
     "Prints OpenMetrics once, or:\n\n"
     "      --textfile FILE       replace FILE, in the form that node_exporter reads\n"
     "      --listen ADDR:PORT    serve http://ADDR:PORT/metrics; without ADDR on the loopback\n",
     TAKES_JSON | TAKES_WATCH | TAKES_METRICS | NO_SERVER, false, NULL},
    {"log", command_log, "the server's log: its file, or the journal", "",
     "The log shows what all users do, so only the server's owner and root may read it.\n\n"
     "With --json each line is an object: its time, who wrote it, and its keys or its message.\n\n"
     "  -f, --follow              print new lines as they come, also after the file was rotated\n",
     TAKES_JSON | TAKES_LOG, false, NULL},
    {"trace", command_trace, "writes what tenants and devices do into a file for Perfetto",
     "-o FILE|--svg FILE|--json [--seconds N] [--tenant SESSION|PID|USER]...",
     "Ends after --seconds, or by Ctrl-C; ui.perfetto.dev opens the file. Users besides the\n"
     "server's owner and root see their own sessions.\n\n"
     "  -o, --output FILE         the file; - is standard output\n"
     "      --svg FILE            the same as a picture, also beside -o\n"
     "      --seconds N           how long to trace\n"
     "      --tenant WHO          only this session, process or user; may be given several times\n"
     "\nThe file is JSON with and without --json. --json without -o writes to standard output.\n\n",
     TAKES_JSON | TAKES_TRACE, false, NULL},
    {"quit", command_quit, "ends the server, and waits for its end", "",
     "On a terminal it asks first if tenants are attached.\n\n"
     "  -t, --timeout SECS        how long tenants have to detach; default 0\n"
     "  -y, --yes                 do not ask\n",
     TAKES_JSON | TAKES_QUIT, false, NULL},
    {"drain", command_drain, "admits no new tenants; those that are attached may stay", "",
     "Attaches are refused, to one device or all, until --no, or until the server ends. With "
     "several\n"
     "devices, tenants that name none go to another one. To end the server when the last tenant "
     "has\n"
     "gone: gsctl quit -t SECONDS.\n\n"
     "      --device D            this device; default: all\n"
     "      --no                  admit tenants again\n",
     TAKES_JSON | TAKES_DRAIN, false, NULL},
    {"kill", command_kill, "ends sessions, also in the middle of a kernel",
     "SESSION|--pid PID|--user NAME",
     "Queued work of the sessions is dropped; running kernels have the time of --grace. Then the\n"
     "device's worker is ended, also if it does not answer, and another one takes up the other\n"
     "sessions. Those with unfinished work are told that they were interrupted, or run it again\n"
     "(GS_ON_FAULT_REPLAY). Processes are not ended.\n\n"
     "      --grace MS            time for running kernels; default 5000\n",
     TAKES_JSON | TAKES_KILL | TAKES_OPERAND, false, kill_check},
    {"restart-worker", command_restart, "has another worker process take a device over", "",
     "A standby is made ready, the worker finishes running kernels and takes no more, and the\n"
     "standby takes the sessions up; tenants notice a pause. Refused if kernels run on for 10 s,\n"
     "if a session would end, because it holds what only its worker has, and if the worker does\n"
     "not answer (it is stopped): then --force ends it at once, with unfinished work.\n\n"
     "      --device D            of this device; default 0\n"
     "      --force               also if sessions end\n",
     TAKES_JSON | TAKES_RESTART, false, NULL},
    {"set", command_set, "limits a session, a user, or everybody; live",
     "SESSION|--user NAME|--others|--default|--device D",
     "A session has the tightest limit of those that are set for everybody, for its user and for\n"
     "itself, and of what it asked for. --others: users besides root and the server's own, unless\n"
     "something is set for them. Counts and percentages of SMs are rounded up to whole groups.\n"
     "--latency-sms goes with --device: it is how many SMs best-effort work leaves to latency\n"
     "work; by default 12% of the device for each latency session at work.\n\n",
     TAKES_JSON | TAKES_TARGET | TAKES_SETTINGS | TAKES_OPERAND, false, set_check},
    {"trust", command_trust, "does not fence a user's sessions: machine code loads in them",
     "[--no] USER",
     "Trust holds for sessions that attach from now on; the command is the short form of\n"
     "'gsctl set --user USER --trust'. Kernels of a trusted user reach the memory of all sessions\n"
     "of the device. A server with --fence always fences them nevertheless, and so does a session\n"
     "that asks for it.\n\n"
     "      --no                  fence the user's sessions again\n",
     TAKES_JSON | TAKES_NO | TAKES_OPERAND, true, trust_check},
    {"get", command_get, "what is set, and what sessions have of it",
     "[SESSION|--user NAME|--others|--default|--device D]", "",
     TAKES_JSON | TAKES_WATCH | TAKES_TARGET | TAKES_OPERAND, false, NULL},
    {"explain", command_explain, "what holds for a session, who says so, and whom it waits for",
     "SESSION", "", TAKES_JSON | TAKES_WATCH | TAKES_SESSION | TAKES_OPERAND, true, NULL},
    {"reserve", command_reserve, "sets SMs apart for sessions that attach to their name",
     "NAME --sms N|--mask LIST",
     "      --sms VALUE           the number of SMs, rounded up to whole groups\n"
     "      --mask VALUE          these SMs, such as 0-7,16\n"
     "      --device D            of this device; default 0\n",
     TAKES_JSON | TAKES_SMS | TAKES_OPERAND, true, reserve_check},
    {"release", command_release, "gives the SMs of a reservation back to all", "RESERVATION", "",
     TAKES_JSON | TAKES_OPERAND, true, reservation_check},
    {"provision", command_provision, "shares the SMs out to all tenants, as they come and go",
     "uniform|half|weighted|exact",
     "Each of n tenants has at most: uniform 1/n of the SMs; half 2/n, so that every SM has two;\n"
     "weighted its weight's part of the sum; exact (the default) what is set for it. Rounded up\n"
     "to whole groups of SMs; reserved ones are not counted.\n\n",
     TAKES_JSON | TAKES_OPERAND, true, provision_check},
    {"mps", command_mps, "takes the commands of nvidia-cuda-mps-control", "[COMMAND [ARGUMENT]...]",
     "The command is given as arguments, or several on standard input, a line each. 'gsctl mps "
     "help'\n"
     "lists them; doc/mps.md says what stands here for each part of MPS. --json, before or "
     "behind,\n"
     "gives a document for each command.\n\n",
     TAKES_JSON | TAKES_WORDS, false, mps_check},
    {"completion", command_completion, "prints a shell's completion script", "bash|zsh", "",
     NO_JSON | TAKES_OPERAND | NO_SERVER, true, NULL},
};

/* Runs the command; with --watch again and again, each time replacing the terminal's contents in
 * one write. */
static int command_run(const struct command *command, struct control *control,
                       const struct command_options *options)
{
    static char buffer[65536];
    bool again = options->watch_s && command->run != command_top;
    bool terminal = isatty(STDOUT_FILENO) && !options->textfile;
    int result;

    if (again)
        setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
    for (;;) {
        if (again && terminal)
            fputs("\033[H\033[2J", stdout);
        result = command->run(control, options);
        /* The output of a command that fails is dropped: the terminal keeps its last contents, with
         * the message below. */
        if (again && terminal && result != 0)
            __fpurge(stdout);
        if (!again || result != 0 || fflush(stdout))
            return result;
        nanosleep(&(struct timespec){.tv_sec = (time_t)options->watch_s}, NULL);
        if (!terminal && !options->json && !options->textfile)
            putchar('\n');
    }
}

/* Returns whether the command needs a server. MPS's list of commands needs none. */
static bool server_needed(const struct command *command, const struct command_options *options)
{
    return !(command->takes & NO_SERVER) && !(command->takes & TAKES_WORDS && options->word_count &&
                                              !strcmp(options->words[0], "help"));
}

int main(int argc, char **argv)
{
    struct command_options options;
    const struct command *command =
        options_parse(argc, argv, commands, ARRAY_SIZE(commands), &options);
    char message[REQUEST_MESSAGE_MAX];
    struct control control = {.queue = -1};
    int result = command->check ? command->check(&options) : 0;

    /* A wrong command line is reported before a server is looked for. */
    if (result != 0)
        return result;
    gs_status status = server_needed(command, &options)
                           ? control_open(&control, options.instance, message)
                           : GS_OK;

    if (status != GS_OK)
        return ask_failed(status, message);
    ask_begin(&control);
    result = command_run(command, &control, &options);
    control_close(&control);
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "gsctl: writing: %s\n", strerror(errno));
        return EXIT_ERROR;
    }
    return result;
}
