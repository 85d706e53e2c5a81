/*
 * mps.h - what the files of `gsctl mps` share: mps.c has the table of MPS's commands and reads
 * them, mps_list.c lists, mps_limit.c has the limits, mps_change.c the other changes.
 *
 * MPS's control daemon and its servers are one server here: MPS's server pid is gshared's pid, and
 * a setting for a server is set for all its sessions. Where MPS takes a server's pid for a limit,
 * gsctl also takes a client's.
 */
#ifndef GS_GSCTL_MPS_MPS_H
#define GS_GSCTL_MPS_MPS_H

#include "gsctl/base/options.h"

/* Each returns the exit status. */
int command_mps(struct control *control, const struct command_options *options);
int mps_check(const struct command_options *options);

/* Prints the names of MPS's commands, each after a blank. */
void mps_names_print(void);

struct mps_call;
struct mps_limit;

struct mps_command {
    const char *name, *arguments, *help;
    int least, most; /* arguments */
    int (*run)(const struct mps_call *call);
    const struct mps_limit *limit; /* of commands that set or get a limit */
};

/* A command and its arguments. */
struct mps_call {
    struct control *control;
    const struct mps_command *command;
    char **argument;
    int count;
    bool json;
};

/* The SMs of a chunk, the unit of MPS's commands for static partitions. */
#define MPS_CHUNK_SMS 8u

/* Each returns the exit status. */
int mps_server_list(const struct mps_call *call);
int mps_server_status(const struct mps_call *call);
int mps_client_list(const struct mps_call *call);
int mps_device_client_list(const struct mps_call *call);
int mps_ps(const struct mps_call *call);
int mps_device_query(const struct mps_call *call);
int mps_partitions(const struct mps_call *call);
int mps_server_start(const struct mps_call *call);
int mps_server_shutdown(const struct mps_call *call);
int mps_quit(const struct mps_call *call);
int mps_client_terminate(const struct mps_call *call);
int mps_partition(const struct mps_call *call);
/* Commands on the default's limits, and on those of one server or client. */
int mps_default_set(const struct mps_call *call);
int mps_default_get(const struct mps_call *call);
int mps_limit_set(const struct mps_call *call);
int mps_limit_get(const struct mps_call *call);
extern const struct mps_limit mps_percentage, mps_memory, mps_priority;

/* ---- mps.c ----------------------------------------------------------------------------------- */

/* Prints what is wrong with the call, and returns `result`. */
int mps_wrong(const struct mps_call *call, int result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Reads an argument that is a number. */
bool mps_number(const struct mps_call *call, const char *text, uint64_t max, uint64_t *number);
/* Reads an argument that names a device, and the server's status. Returns the exit status. */
int mps_device(const struct mps_call *call, const char *text, uint32_t *device,
               struct ctl_status_reply *reply);
/* Reads an argument that is the server's pid, and the server's status. Returns the exit status. */
int mps_server(const struct mps_call *call, const char *text, struct ctl_status_reply *reply);

#endif
