/* notify.h - telling systemd (or whoever set NOTIFY_SOCKET) how the server is. */
#ifndef GS_SERVER_NOTIFY_H
#define GS_SERVER_NOTIFY_H

/* state: "READY=1" and so on. Does nothing without NOTIFY_SOCKET; a failure is logged. */
void notify_send(const char *state);

#endif
