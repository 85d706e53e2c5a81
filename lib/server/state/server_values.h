/* server_values.h - values that the policy file's [server] and gshared's command line both have.
 * Pure.
 */
#ifndef GS_SERVER_SERVER_VALUES_H
#define GS_SERVER_SERVER_VALUES_H

#include <stdbool.h>

#define CACHE_PATH_MAX      256
#define METRICS_ADDRESS_MAX 64

/* Takes the directory for machine code: a whole path, or "none". false: it is neither, or too long.
 */
bool cache_parse(char cache[CACHE_PATH_MAX], const char *value);
/* Takes "[ADDR:]PORT", both in numbers, or "none". false: it is neither. */
bool metrics_parse(char address[METRICS_ADDRESS_MAX], const char *value);

/* Cuts white space off both ends. Returns the first character that is none. */
char *value_trim(char *text);

#endif
