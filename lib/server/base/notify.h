/* notify.h - tells systemd (or whoever set NOTIFY_SOCKET) the server's state. */
#ifndef GS_SERVER_NOTIFY_H
#define GS_SERVER_NOTIFY_H

/* Sends a state such as "READY=1". Does nothing without NOTIFY_SOCKET. A failure is logged. */
void notify_send(const char *state);

#endif
