/* worker.c - see worker.h. */
#include "worker/worker.h"

struct worker worker;
