/*
 * mps_variables.h - reads the environment variables by which NVIDIA MPS's daemon limits its
 * clients. gshared takes them as settings for all sessions, for fields that neither the policy file
 * nor gsctl sets. The functions read the environment, and change nothing but their arguments.
 */
#ifndef GS_SERVER_MPS_VARIABLES_H
#define GS_SERVER_MPS_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/wire.h"

#define MPS_ERROR_MAX 192

/* Reads $CUDA_MPS_ACTIVE_THREAD_PERCENTAGE, $CUDA_MPS_PINNED_DEVICE_MEM_LIMIT and
 * $CUDA_MPS_CLIENT_PRIORITY. `devices` is the number of devices that the server takes, 0 for all.
 * Returns false, with the reason in `error`, if a variable is invalid. */
bool mps_variables_read(struct ctl_settings *settings, int devices, char error[MPS_ERROR_MAX]);

/* Writes the name of the log file in $CUDA_MPS_LOG_DIRECTORY, and makes that folder if it is
 * missing. Returns false if the variable is not set, or too long. */
bool mps_variables_log(char *path, size_t size);

#endif
