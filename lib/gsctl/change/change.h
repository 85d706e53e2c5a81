/* change.h - the commands that change something, and functions that make changes, which mps uses
 * too. */
#ifndef GS_GSCTL_CHANGE_CHANGE_H
#define GS_GSCTL_CHANGE_CHANGE_H

#include "gsctl/base/options.h"

/* Each returns the exit status. */
int command_set(struct control *control, const struct command_options *options);
int command_trust(struct control *control, const struct command_options *options);
int command_reserve(struct control *control, const struct command_options *options);
int command_release(struct control *control, const struct command_options *options);
int command_provision(struct control *control, const struct command_options *options);
int command_drain(struct control *control, const struct command_options *options);
int command_kill(struct control *control, const struct command_options *options);
int command_restart(struct control *control, const struct command_options *options);
int command_quit(struct control *control, const struct command_options *options);

/* Each checks what the table of options cannot, and returns 0 or the exit status. */
int set_check(const struct command_options *options);
int trust_check(const struct command_options *options);
int reserve_check(const struct command_options *options);
int reservation_check(const struct command_options *options); /* checks only the name */
int provision_check(const struct command_options *options);
int kill_check(const struct command_options *options);

/* Asks for a change and returns the exit status. If the server made the change with a remark, the
 * remark goes to standard error, or with `json` into a document on standard output. */
int change_ask(struct control *control, struct ctl_header *request, uint16_t op, size_t size,
               bool json);
/* Asks for other settings. `remark` receives a remark on the change, such as that it has no effect;
 * "": none; or the message of a failure. */
gs_status settings_make(struct control *control, struct ctl_set *request,
                        char remark[REQUEST_MESSAGE_MAX]);
/* The remark on a change to what is set already. */
extern const char set_already[];
/* Prints the remark on changes that were made; "": prints none. */
void change_remark(const char *remark, bool json);
/* Ends the sessions that the request names and waits until they hold nothing of a device. */
gs_status sessions_end(struct control *control, struct ctl_kill *request, uint32_t *count,
                       char message[REQUEST_MESSAGE_MAX]);
/* Tells the server to quit and waits for its end. *pid: of the server. */
gs_status server_quit(struct control *control, uint32_t timeout_s, int32_t *pid,
                      char message[REQUEST_MESSAGE_MAX]);

#endif
