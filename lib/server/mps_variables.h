/*
 * mps_variables.h - the environment variables by which NVIDIA MPS's daemon limits its clients.
 * gshared takes them as settings for everybody, where neither the policy file nor gsctl has set the
 * same. Reads the environment, and changes nothing but its arguments.
 */
#ifndef GS_SERVER_MPS_VARIABLES_H
#define GS_SERVER_MPS_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/wire.h"

#define MPS_ERROR_MAX 192

/* Reads $CUDA_MPS_ACTIVE_THREAD_PERCENTAGE, $CUDA_MPS_PINNED_DEVICE_MEM_LIMIT and
 * $CUDA_MPS_CLIENT_PRIORITY. devices: how many the server takes, 0 for all. false, and the reason:
 * one of them makes no sense. */
bool mps_variables_read(struct ctl_settings *settings, int devices, char error[MPS_ERROR_MAX]);

/* Writes the name of the log file in $CUDA_MPS_LOG_DIRECTORY, which is made where it is missing;
 * false: it is not set, or too long. */
bool mps_variables_log(char *path, size_t size);

#endif
