/* log.c - `gsctl log`: prints the server's log, wherever it is, and follows it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/util.h"
#include "gsctl/ask/ask.h"
#include "gsctl/ask/server.h"
#include "gsctl/base/memory.h"
#include "gsctl/base/options.h"
#include "gsctl/show/log_json.h"
#include "gsctl/show/show.h"

#define LINES_BEFORE 10u       /* existing lines that -f prints first, as tail does */
#define LOOK_NS      100000000 /* between two reads of the file */

/* ---- A file ---------------------------------------------------------------------------------- */

/* Prints the rest of the file from the descriptor's position on. `json`: NULL for plain text.
 * Returns false on failure. */
static bool rest_print(int fd, struct log_json *json)
{
    char bytes[65536];
    ssize_t n;

    while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
        if (json)
            log_json_bytes(json, bytes, (size_t)n);
        else
            fwrite(bytes, 1, (size_t)n, stdout);
    }
    return n == 0 && fflush(stdout) == 0;
}

/* Seeks to the beginning of the last LINES_BEFORE lines. */
static void last_lines_seek(int fd)
{
    off_t at = lseek(fd, 0, SEEK_END);
    unsigned lines = 0;
    char byte;

    while (at > 0 && pread(fd, &byte, 1, at - 1) == 1 && (byte != '\n' || lines++ < LINES_BEFORE))
        at--;
    lseek(fd, at, SEEK_SET);
}

/* Returns whether the path names another file by now, into which the server writes already. After a
 * rotation the server writes into the old file until it has reopened its log. */
static bool file_replaced(int fd, const char *path)
{
    struct stat old, now;

    return fstat(fd, &old) == 0 && stat(path, &now) == 0 && now.st_size > 0 &&
           (old.st_ino != now.st_ino || old.st_dev != now.st_dev);
}

static bool file_cut(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_size < lseek(fd, 0, SEEK_CUR);
}

static int file_failed(const char *path)
{
    fprintf(stderr, "gsctl: %s: %s\n", path, strerror(errno));
    return EXIT_ERROR;
}

static int file_print(const char *path, bool follow, struct log_json *json)
{
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return file_failed(path);
    if (follow)
        last_lines_seek(fd);
    if (!follow)
        return rest_print(fd, json) ? 0 : file_failed(path);
    while (rest_print(fd, json)) {
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
        if (file_cut(fd))
            lseek(fd, 0, SEEK_SET);
        if (!file_replaced(fd, path))
            continue;
        rest_print(fd, json); /* the end of the old file, which was written before the new one */
        const int next = open(path, O_RDONLY | O_CLOEXEC);
        if (next >= 0) {
            close(fd);
            fd = next;
        }
    }
    return file_failed(path);
}

/* ---- The journal ----------------------------------------------------------------------------- */

/* Writes journalctl's match for the process: the service of its control group, as
 * "--user-unit=NAME" for one of a user's manager. If no service is visible, the program's name,
 * since the server has several processes. */
static void journal_match(int32_t pid, char out[256])
{
    char path[64], line[512] = "";

    snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file) && !strstr(line, ".service"))
        ;
    if (file)
        fclose(file);
    line[strcspn(line, "\n")] = 0;
    const char *unit = strrchr(line, '/');
    const size_t length = unit ? strlen(unit) : 0;
    if (length > 8 && !strcmp(unit + length - 8, ".service"))
        snprintf(out, 256, "--%sunit=%.200s", strstr(line, "/user@") ? "user-" : "", unit + 1);
    else
        snprintf(out, 256, "_COMM=gshared");
}

/* Replaces this process by journalctl, which prints the lines as they are or, for JSON, with
 * complete times. */
static int journalctl(const char *match, bool follow, bool json)
{
    const char *words[6] = {"journalctl", match};
    size_t count = 2;

    if (follow)
        words[count++] = "--follow";
    if (json) {
        words[count++] = "--output=short-iso-precise";
        words[count++] = "--no-pager";
    }
    execvp(words[0], (char *const *)(uintptr_t)words);
    fprintf(stderr, "gsctl: the log is in the journal: journalctl %s%s: %s\n", match,
            follow ? " --follow" : "", strerror(errno));
    return EXIT_ERROR;
}

/* Runs journalctl, and prints its lines as JSON. */
static int journal_json_print(const char *match, bool follow)
{
    static struct log_json json = {.of_journal = true};
    char bytes[65536];
    int ends[2], status = -1;
    ssize_t n = 0;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
        fprintf(stderr, "gsctl: starting journalctl: %s\n", strerror(errno));
        return EXIT_ERROR;
    }
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        dup2(ends[1], STDOUT_FILENO);
        _exit(journalctl(match, follow, true));
    }
    close(ends[1]);
    while ((n = read(ends[0], bytes, sizeof(bytes))) > 0) {
        log_json_bytes(&json, bytes, (size_t)n);
        if (fflush(stdout))
            break;
    }
    close(ends[0]);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : EXIT_ERROR;
}

static int journal_print(int32_t pid, bool follow, bool json)
{
    char match[256];

    journal_match(pid, match);
    fflush(stdout);
    return json ? journal_json_print(match, follow) : journalctl(match, follow, false);
}

/* ---- The command ----------------------------------------------------------------------------- */

int command_log(struct control *control, const struct command_options *options)
{
    static struct log_json json;
    char message[REQUEST_MESSAGE_MAX];
    struct ctl_status_reply server;
    struct ctl_log_reply reply;
    gs_status status = status_read(control, &server, message);

    if (status == GS_OK)
        status = log_destination_read(control, &reply, message);
    if (status != GS_OK)
        return ask_failed(status, message);
    switch (reply.destination) {
    case CTL_LOG_FILE:
        return file_print(reply.path, options->follow, options->json ? &json : NULL);
    case CTL_LOG_JOURNAL:
        return journal_print(server.server_pid, options->follow, options->json);
    case CTL_LOG_ELSEWHERE:
        fprintf(stderr, "gsctl: the server writes its log to %s; gshared --log-file keeps it\n",
                reply.path);
        return EXIT_ERROR;
    default:
        fputs("gsctl: the server keeps no log; gshared --log-file does\n", stderr);
        return EXIT_ERROR;
    }
}
