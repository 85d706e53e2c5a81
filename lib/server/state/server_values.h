/* server_values.h - parses values that both the policy file's [server] and gshared's command line
 * have. Pure.
 */
#ifndef GS_SERVER_SERVER_VALUES_H
#define GS_SERVER_SERVER_VALUES_H

#include <stdbool.h>

#define CACHE_PATH_MAX      256
#define METRICS_ADDRESS_MAX 64

/* Takes the directory for machine code: an absolute path, or "none". Returns false if the value is
 * neither, or too long. */
bool cache_parse(char cache[CACHE_PATH_MAX], const char *value);
/* Takes "[ADDR:]PORT", both in numbers, or "none". Returns false if the value is neither. */
bool metrics_parse(char address[METRICS_ADDRESS_MAX], const char *value);

/* Cuts white space off both ends, in place. Returns the first character that is not white space. */
char *value_trim(char *text);

#endif
