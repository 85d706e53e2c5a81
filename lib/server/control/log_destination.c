/* log_destination.c - CTL_LOG: tells the server's owner and root where the log goes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/control/operator.h"

/* Writes the path as an absolute one; "": it does not fit. */
static void path_absolute(char out[CTL_PATH_MAX], const char *path)
{
    char folder[CTL_PATH_MAX] = "";

    if (*path != '/' && !getcwd(folder, sizeof(folder)))
        return;
    if (snprintf(out, CTL_PATH_MAX, "%s%s%s", folder, *path == '/' ? "" : "/", path) >=
        (int)CTL_PATH_MAX)
        out[0] = 0;
}

/* Where lines go without --log-file: standard error. */
static enum ctl_log_destination error_destination(char path[CTL_PATH_MAX])
{
    struct stat st;

    if (getenv("JOURNAL_STREAM"))
        return CTL_LOG_JOURNAL;
    const ssize_t length = readlink("/proc/self/fd/2", path, CTL_PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
    if (length <= 0 || !strcmp(path, "/dev/null"))
        return CTL_LOG_NOWHERE;
    if (fstat(STDERR_FILENO, &st) < 0)
        return CTL_LOG_ELSEWHERE;
    /* The kernel's word for these has a number that says nothing. */
    if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
        snprintf(path, CTL_PATH_MAX, "%s", S_ISFIFO(st.st_mode) ? "a pipe" : "a socket");
    return S_ISREG(st.st_mode) ? CTL_LOG_FILE : CTL_LOG_ELSEWHERE;
}

void operator_log(const struct server *server, const struct ctl_admin *request,
                  const struct reply *reply)
{
    struct ctl_log_reply answer = {.status = GS_OK, .destination = CTL_LOG_FILE};

    (void)request;
    if (server->options.log_file)
        path_absolute(answer.path, server->options.log_file);
    else
        answer.destination = error_destination(answer.path);
    reply_send(reply, &answer.h, sizeof(answer));
}
