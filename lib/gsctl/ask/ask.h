/* ask.h - functions for all commands that ask a server: deadlines, pages, waits and error
 * messages. */
#ifndef GS_GSCTL_ASK_ASK_H
#define GS_GSCTL_ASK_ASK_H

#include "common/request.h"

/* Returns the clock_ns() by which a server must have answered a request that is sent now. */
uint64_t ask_deadline(void);
/* Checks the head of a page of an answer: the page has at most `most` rows, and the next page, if
 * there is one, begins after this page's cursor. GS_ERR_PROTOCOL, with a message. */
gs_status page_check(uint32_t count, uint32_t most, uint64_t next, uint64_t cursor,
                     char message[REQUEST_MESSAGE_MAX]);
/* A wait for something that may take long. */
struct wait {
    uint64_t since_ns;
    bool announced;
};
/* Returns whether the wait has lasted a second and has not been announced yet. */
bool wait_due(const struct wait *wait);
/* Prints once, when the wait has lasted a second, what the wait is for, when it ends at the latest
 * (deadline_ns by clock_ns(); 0: open), and how the user can end it. */
void wait_announce(struct wait *wait, uint64_t deadline_ns, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Notes the server that this process asks, for the messages of ask_failed. */
void ask_begin(const struct control *control);
/* Notes which command of MPS this process runs, for the messages of ask_failed. */
void ask_of_mps(const char *command);
/* Prints the message of a failed request and returns the exit status for it. */
int ask_failed(gs_status status, const char *message);

#endif
