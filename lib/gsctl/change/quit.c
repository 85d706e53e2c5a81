/* quit.c - `gsctl quit`: ends the server, and waits for its end. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/util.h"
#include "gsctl/ask/ask.h"
#include "gsctl/ask/tenants.h"
#include "gsctl/base/json.h"
#include "gsctl/base/memory.h"
#include "gsctl/base/options.h"
#include "gsctl/change/change.h"

/* Time for the worker to release its device after the tenants' time is over. */
#define END_NS 15000000000u

static size_t users_count(const struct ctl_tenant *tenants, size_t count)
{
    size_t users = 0;

    for (size_t i = 0; i < count; i++) {
        size_t first = 0;

        while (tenants[first].uid != tenants[i].uid)
            first++;
        users += first == i;
    }
    return users;
}

static bool answer_is_yes(void)
{
    int answer = getchar(), c = answer;

    while (c != '\n' && c != EOF)
        c = getchar();
    return tolower(answer) == 'y';
}

/* Asks the user for confirmation if the server's end would end tenants. If the server does not
 * answer with its tenants, it is told to quit without confirmation. */
static bool end_wanted(struct control *control, uint32_t timeout_s)
{
    char message[REQUEST_MESSAGE_MAX], time[48] = "at once";
    struct ctl_tenant *tenants;
    size_t count, users;
    gs_status status = tenants_read(control, &tenants, &count, NULL, message);

    users = users_count(tenants, count);
    free(tenants);
    if (status != GS_OK || count == 0)
        return true;
    if (timeout_s)
        snprintf(time, sizeof(time), "unless they detach within %u s", timeout_s);
    printf("This ends the server '%s' and, %s, %zu tenant%s of %zu user%s. Go on? [y/N] ",
           control->instance, time, count, count == 1 ? "" : "s", users, users == 1 ? "" : "s");
    fflush(stdout);
    return answer_is_yes();
}

gs_status server_quit(struct control *control, uint32_t timeout_s, int32_t *pid,
                      char message[REQUEST_MESSAGE_MAX])
{
    struct ctl_admin request = {.timeout_s = timeout_s};
    struct ctl_quit_reply reply;
    gs_status status = control_ask(control, &request.h, CTL_QUIT, sizeof(request), &reply,
                                   sizeof(reply), ask_deadline(), message);
    const uint64_t begin = clock_ns(), tenants_end = begin + timeout_s * UINT64_C(1000000000);
    struct wait tenants = {begin, false}, workers = {tenants_end, false};

    if (status != GS_OK)
        return status;
    *pid = reply.server_pid;
    /* No message reports the server's end; the kernel drops the server's lock on the queue when the
     * process ends. */
    while (control_served(control)) {
        if (clock_ns() > tenants_end + END_NS) {
            snprintf(message, REQUEST_MESSAGE_MAX, "the server (pid %d) has not ended",
                     reply.server_pid);
            return GS_ERR_TIMEOUT;
        }
        if (timeout_s == CTL_QUIT_PATIENT)
            wait_announce(&tenants, 0,
                          "the server ends once no tenant is attached, and admits nobody else: "
                          "see gsctl ps");
        else if (clock_ns() < tenants_end)
            wait_announce(&tenants, tenants_end, "tenants may detach, and nobody else is admitted");
        else
            wait_announce(&workers, tenants_end + END_NS, "the workers release their devices");
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    return GS_OK;
}

int command_quit(struct control *control, const struct command_options *options)
{
    char message[REQUEST_MESSAGE_MAX];
    gs_status status;
    int32_t pid;

    if (!options->yes && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
        !end_wanted(control, options->timeout_s)) {
        fputs("gsctl: the server goes on\n", stderr);
        return EXIT_ERROR;
    }
    status = server_quit(control, options->timeout_s, &pid, message);
    if (status != GS_OK)
        return ask_failed(status, message);
    if (options->json) {
        json_open(NULL, '{');
        json_text("instance", options->instance);
        json_pid("ended_pid", pid);
        json_close('}');
    } else {
        printf("the server '%s' (pid %d) has ended\n", options->instance, pid);
    }
    return 0;
}
