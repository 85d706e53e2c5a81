// The error of a lowering; only the first one is kept. Every other file of the lowering calls this
// one, so it calls none of them.
#include <stdarg.h>
#include <stdio.h>

#include "softcuda/lower/lower.h"

void *lower_fail(struct lower *L, int error, const char *format, ...)
{
    if (L->error)
        return NULL;
    L->error = error;
    if (!L->log_size)
        return NULL;
    char text[96] = "";
    if (L->inst)
        ptx_inst_format(L->func, L->inst, text, sizeof text);
    int n = snprintf(L->log, L->log_size, "%s, line %u: ", L->func->name,
                     L->inst ? L->inst->line : L->func->line);
    if (n > 0 && (size_t)n < L->log_size) {
        va_list args;
        va_start(args, format);
        int m = vsnprintf(L->log + n, L->log_size - (size_t)n, format, args);
        va_end(args);
        n = m < 0 ? n : n + m;
    }
    if (text[0] && n > 0 && (size_t)n < L->log_size)
        snprintf(L->log + n, L->log_size - (size_t)n, ": %s", text);
    return NULL;
}
