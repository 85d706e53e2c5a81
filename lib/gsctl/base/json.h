/* json.h - prints JSON to stdout, with commas and escapes. */
#ifndef GS_GSCTL_BASE_JSON_H
#define GS_GSCTL_BASE_JSON_H

#include <stddef.h>
#include <stdint.h>

/* Returns the length of the well-formed UTF-8 sequence at s; 0 if there is none. */
size_t utf8_length(const unsigned char *s);
/* name: the member's name inside an object; NULL inside an array. */
void json_open(const char *name, char bracket); /* '{' or '[' */
/* '}' or ']'. A newline follows the last one of a document. */
void json_close(char bracket);
void json_text(const char *name, const char *text);
void json_number(const char *name, uint64_t number);
void json_integer(const char *name, int64_t number);
/* Prints a number that is given as text. */
void json_figure(const char *name, const char *digits);
/* Prints nanoseconds as microseconds with a fraction. */
void json_micros(const char *name, uint64_t ns);
/* Prints the members "user" (the name) and "uid". */
void json_user(uint32_t uid);
/* Prints a pid; null if it is 0, which means no process, or one in another PID namespace. */
void json_pid(const char *name, int32_t pid);

#endif
