/* worker.c - see worker.h. */
#include "worker/driver/worker.h"

struct worker worker;
