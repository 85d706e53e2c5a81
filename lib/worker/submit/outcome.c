/* outcome.c - see outcome.h. */
#include "worker/submit/outcome.h"

#include "worker/submit/session_fault.h"

enum outcome record_rejected(struct session *session, uint32_t index, record_refusal refusal)
{
    session_fault(session, index, GS_FAULT_REJECTED, GS_ERR_INVALID_VALUE, "", refusal);
    return RECORD_ENDED;
}

enum outcome record_refused(struct session *session, uint32_t index, CUresult result,
                            const char *kernel)
{
    char text[192];

    if (driver_fatal(result))
        device_lost(result);
    driver_describe(text, sizeof(text));
    session_fault(session, index, GS_FAULT_LAUNCH, driver_status(result), kernel, text);
    return RECORD_ENDED;
}

enum outcome record_issued(struct session *session, uint32_t index, CUresult result)
{
    return result ? record_refused(session, index, result, "") : RECORD_TAKEN;
}
