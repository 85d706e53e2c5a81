/* server_values.c - see server_values.h. */
#include "server/state/server_values.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

char *value_trim(char *text)
{
    char *end = text + strlen(text);

    while (isspace((unsigned char)*text))
        text++;
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return text;
}

bool cache_parse(char cache[CACHE_PATH_MAX], const char *value)
{
    if ((value[0] != '/' && strcmp(value, "none") != 0) || strlen(value) >= CACHE_PATH_MAX)
        return false;
    strcpy(cache, value);
    return true;
}

bool metrics_parse(char address[METRICS_ADDRESS_MAX], const char *value)
{
    static const char digits[] = "0123456789";
    const char *colon = strrchr(value, ':'), *port = colon ? colon + 1 : value;
    const size_t host = colon ? (size_t)(colon - value) : 0;

    if (strcmp(value, "none") != 0 &&
        (!*port || port[strspn(port, digits)] || strtoul(port, NULL, 10) > 65535 ||
         strspn(value, "0123456789abcdefABCDEF.:[]") < host || colon == value))
        return false;
    if (strlen(value) >= METRICS_ADDRESS_MAX)
        return false;
    strcpy(address, value);
    return true;
}
