/* server.h - asks for the server and its devices. */
#ifndef GS_GSCTL_ASK_SERVER_H
#define GS_GSCTL_ASK_SERVER_H

#include "common/request.h"

gs_status status_read(struct control *control, struct ctl_status_reply *reply,
                      char message[REQUEST_MESSAGE_MAX]);
/* Reads the status as status_read, with the caller's deadline. */
gs_status status_read_by(struct control *control, struct ctl_status_reply *reply,
                         uint64_t deadline_ns, char message[REQUEST_MESSAGE_MAX]);
/* Asks where the server's log is. The server tells only its owner and root. */
gs_status log_destination_read(struct control *control, struct ctl_log_reply *reply,
                               char message[REQUEST_MESSAGE_MAX]);
const char *device_state_name(uint32_t state); /* "?" for an unknown state */
/* "fault", "eviction" ... of enum ctl_takeover; "?" for an unknown one */
const char *takeover_cause_name(uint32_t cause);

#endif
