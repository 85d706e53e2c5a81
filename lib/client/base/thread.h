/* thread.h - starts the library's own threads. Any thread. */
#ifndef GS_CLIENT_THREAD_H
#define GS_CLIENT_THREAD_H

/* Starts a detached thread, which blocks all signals except SIGSEGV, since signals are for the
 * application's threads. `open` lists further signals that it does not block, ended by a 0; NULL:
 * none. Returns 0 or an errno. */
int thread_start(void *(*run)(void *), const int *open);

#endif
