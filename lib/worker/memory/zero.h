/* zero.h - clears device memory before a tenant sees it. Service threads. */
#ifndef GS_WORKER_MEMORY_ZERO_H
#define GS_WORKER_MEMORY_ZERO_H

#include <stdint.h>

#include "worker/driver/driver.h"

/* Clears the memory mapped there, because the driver may hand out what another tenant has just
 * given back. Waits for the device. */
CUresult device_zero(uint64_t address, uint64_t size);

#endif
