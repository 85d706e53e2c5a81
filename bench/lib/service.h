/*
 * service.h - what a side needs running: gshared, or NVIDIA's MPS daemon. Each is private to this
 * run: its own instance name, its own pipe folder. Runs in the runner; a cell may have gshareds of
 * its own.
 *
 * Functions that can fail say why in text and return false.
 */
#ifndef GS_BENCH_SERVICE_H
#define GS_BENCH_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* ---- gshared --------------------------------------------------------------------------------- */

struct server {
    pid_t pid;  /* 0: not running */
    int socket; /* on which it tells its state, while it runs */
    char instance[32];
};

#define SERVER_OPTIONS_MAX 4

/* Starts gshared and waits until it is ready; sets GSHARE_INSTANCE. Its log goes to the file.
 * `options`, ended by NULL, are further ones; NULL: none. */
bool server_start(struct server *server, const char *program, const char *device,
                  const char *const *options, const char *log, char *text, size_t size);
/* Ends the server, by force if it does not end when asked, and removes what a killed server leaves.
 * False: it had ended by itself, or had to be killed. */
bool server_stop(struct server *server, char *text, size_t size);

/* ---- MPS ------------------------------------------------------------------------------------- */

struct mps {
    bool running;
    char folder[64]; /* pipes; "": not started yet */
};

bool mps_installed(void);
/* Points the environment to a folder with no daemon, so that CUDA programs are not MPS clients,
 * also where the machine runs a daemon of its own. Before all else. */
bool mps_avoid(struct mps *mps, char *text, size_t size);
/* Starts the daemon and points CUDA programs started from now on to it. */
bool mps_start(struct mps *mps, const char *log_folder, char *text, size_t size);
/* Ends the daemon, if it runs, and avoids it again. */
bool mps_stop(struct mps *mps, char *text, size_t size);
/* Removes the daemon's folder. */
void mps_free(struct mps *mps);

#endif
