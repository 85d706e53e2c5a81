/* completion.h - `gsctl completion`. */
#ifndef GS_GSCTL_COMPLETION_H
#define GS_GSCTL_COMPLETION_H

#include "gsctl/base/options.h"

int command_completion(struct control *control, const struct command_options *options);

#endif
