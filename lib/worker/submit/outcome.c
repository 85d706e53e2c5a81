/* outcome.c - see outcome.h. */
#include "worker/submit/outcome.h"

#include "worker/submit/session_fault.h"

enum outcome record_rejected(struct session *session, uint32_t index, record_refusal refusal)
{
    session_fault(session, &(struct fault){.kind = GS_FAULT_REJECTED,
                                           .status = GS_ERR_INVALID_VALUE,
                                           .stream = index,
                                           .message = refusal});
    return RECORD_ENDED;
}

static enum outcome launch_fault(struct session *session, uint32_t index, gs_status status,
                                 const struct kernel *kernel, uint64_t launch, const char *text)
{
    session_fault(session, &(struct fault){.kind = GS_FAULT_LAUNCH,
                                           .status = status,
                                           .stream = index,
                                           .launch = kernel ? launch : 0,
                                           .kernel = kernel ? kernel->name : NULL,
                                           .message = text});
    return RECORD_ENDED;
}

enum outcome record_driver_refused(struct session *session, uint32_t index, CUresult result,
                                   const struct kernel *kernel, uint64_t launch)
{
    char text[192];

    lost_check(result);
    driver_describe(text, sizeof(text));
    return launch_fault(session, index, driver_status(result), kernel, launch, text);
}

enum outcome record_impossible(struct session *session, uint32_t index, gs_status status,
                               const struct kernel *kernel, const char *text)
{
    return launch_fault(session, index, status, kernel, session->submit.streams[index].launches + 1,
                        text);
}

enum outcome record_issued(struct session *session, uint32_t index, CUresult result)
{
    return result ? record_driver_refused(session, index, result, NULL, 0) : RECORD_TAKEN;
}
