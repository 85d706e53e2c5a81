/* server.h - the demo's own gshared: started and stopped with the programs of the build, as a user
 * would, and what is left of it afterwards. Functions that can fail print why and return false. */
#ifndef DEMO_SERVER_H
#define DEMO_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SERVER_PIDS_MAX 64

struct server {
    char programs[4096 + 64]; /* folder of gshared and gsctl */
    char instance[32];
    pid_t pid[SERVER_PIDS_MAX]; /* the server, then its workers */
    unsigned pids;
};

/* `gshared -d`; sets GSHARE_INSTANCE for this process and its children. */
bool server_start(struct server *server, const char *device);
/* Notes the processes of the server, for server_leftovers. */
void server_note_processes(struct server *server, pid_t pid);
/* `gsctl COMMAND`; its output goes to the demo's, each line after `indent`. NULL: no output. */
bool server_tool(const struct server *server, const char *command, const char *indent);
/* `gsctl quit`, and waits until the server's processes have ended. */
bool server_stop(struct server *server);
/* SIGKILL, for when the demo itself fails. */
void server_kill(struct server *server);

struct leftovers {
    unsigned processes, queues, segments;
};
void server_leftovers(const struct server *server, struct leftovers *leftovers);

#endif
