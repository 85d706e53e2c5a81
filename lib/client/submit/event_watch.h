/*
 * event_watch.h - descriptors that become readable when work is complete, for event loops. One
 * thread of the process polls the completion words of all watched work, and sleeps while there is
 * none. The first descriptor starts the thread. Any thread.
 */
#ifndef GS_CLIENT_EVENT_WATCH_H
#define GS_CLIENT_EVENT_WATCH_H

#include "client/session/session.h"

/* Makes a descriptor that is readable once the stream is complete up to position, or the session
 * has ended, or is detached. The caller closes it. GS_ERR_NO_MEMORY, GS_ERR_SYSTEM. */
gs_status event_watch(const struct session *session, uint32_t stream, uint64_t position, int *fd);

#endif
