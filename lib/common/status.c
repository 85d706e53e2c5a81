/* status.c - see status.h. */
#include "common/status.h"

#define STATUSES(X)                                                                                \
    X(GS_OK, "success")                                                                            \
    X(GS_NOT_READY, "not finished yet")                                                            \
    X(GS_ERR_INVALID_VALUE, "an argument is out of its range")                                     \
    X(GS_ERR_INVALID_HANDLE, "the handle names nothing that this session has")                     \
    X(GS_ERR_INVALID_POINTER, "the device address is not in an allocation of this session")        \
    X(GS_ERR_NO_MEMORY, "host memory ran out")                                                     \
    X(GS_ERR_NO_DEVICE_MEMORY, "device memory ran out")                                            \
    X(GS_ERR_QUOTA, "a memory limit of the session or of its user is reached")                     \
    X(GS_ERR_LIMIT, "a count is at its limit")                                                     \
    X(GS_ERR_NO_SERVER, "no gshare server of this name runs")                                      \
    X(GS_ERR_SERVER_LOST, "the gshare server has ended")                                           \
    X(GS_ERR_VERSION, "library and server speak different versions")                               \
    X(GS_ERR_NO_DEVICE, "the server has no such device")                                           \
    X(GS_ERR_REFUSED, "the server's policy does not admit this tenant")                            \
    X(GS_ERR_BAD_IMAGE, "the image is no module that this device can run")                         \
    X(GS_ERR_NOT_FOUND, "nothing of that name")                                                    \
    X(GS_ERR_PARAMS, "the parameters do not fit the kernel")                                       \
    X(GS_ERR_LAUNCH_CONFIG, "the grid, block or shared memory is beyond the device's limits")      \
    X(GS_ERR_NOT_SUPPORTED, "not supported here")                                                  \
    X(GS_ERR_INTERRUPTED, "another tenant's fault, or the operator, ended the session")            \
    X(GS_ERR_FAULT, "a kernel of this session faulted, and the session has ended")                 \
    X(GS_ERR_FORKED, "the session belongs to the parent process; attach anew after fork")          \
    X(GS_ERR_TIMEOUT, "the server or the device did not answer in time")                           \
    X(GS_ERR_PERMISSION, "not permitted")                                                          \
    X(GS_ERR_RECORDING, "the stream is recording a graph, or is not")                              \
    X(GS_ERR_SYSTEM, "a system call failed")                                                       \
    X(GS_ERR_DRIVER, "a call of the CUDA driver failed")                                           \
    X(GS_ERR_PROTOCOL, "the server's answer makes no sense")                                       \
    X(GS_ERR_ILLEGAL_ADDRESS, "a kernel of this session left its memory, and the session has "     \
                              "ended")

static const struct {
    const char *name, *text;
} table[] = {
#define ROW(name, text) [name] = {#name, text},
    STATUSES(ROW)
#undef ROW
};

static bool known(int32_t status)
{
    return (uint32_t)status < sizeof(table) / sizeof(table[0]) && table[status].name;
}

bool status_is_error(int32_t status)
{
    return status > GS_NOT_READY && known(status);
}

const char *status_name(gs_status status)
{
    return known((int32_t)status) ? table[status].name : "GS_STATUS_?";
}

const char *status_text(gs_status status)
{
    return known((int32_t)status) ? table[status].text : "unknown status";
}
