/*
 * peer_window.h - peer windows: the windows of other sessions of the same process, on other
 * devices. A session reserves their addresses on this device too, so that imports and joined host
 * blocks lie at the addresses that their owners have for them. A fenced session has no peer
 * windows, because its kernels do not leave its own window. Service threads, in the session's job
 * in progress.
 */
#ifndef GS_WORKER_MEMORY_PEER_WINDOW_H
#define GS_WORKER_MEMORY_PEER_WINDOW_H

#include "worker/session_parts.h"

/* Reserves a peer window and notes it in the journal. False: the addresses are not free here. */
bool peer_window_reserve(struct session *session, uint64_t base, uint64_t size);
/* Reserves a peer window that a former worker has noted in the journal. False: as above. */
bool peer_window_reserve_again(struct session *session, uint64_t base, uint64_t size);
/* Returns whether the address is in a peer window of the session. */
bool peer_window_has(struct session *session, uint64_t address);
/* Returns whether the session can have no further peer window. */
bool peer_windows_full(const struct session *session);
/* Takes a place for a chunk in a peer window. False: the place is in no peer window, or is taken.
 */
bool peer_window_put(struct session *session, uint64_t address, uint64_t size, void *tag);
/* Notes that a chunk has left the place at `address`. If that is in a peer window without further
 * chunks, the peer window is freed. */
void peer_window_left(struct session *session, uint64_t address);
/* Notes that host memory at `address` waits for its deferred release. If that is in a peer window,
 * the addresses of the window are freed only after that release. */
void peer_window_deferred(struct session *session, uint64_t address);
/* Frees the peer windows without chunks, which remain where a worker was lost during an import. */
void peer_windows_settle(struct session *session);

#endif
