/*
 * help_text.h - prints what --help says, in 80 columns, whatever the lines of its source are.
 *
 * The text: lines that begin at the margin are a paragraph until an empty line or an option; a line
 * that begins with spaces is an option, whose description stands in it from a column on, and in the
 * lines behind it that begin at that column.
 */
#ifndef GS_COMMON_HELP_TEXT_H
#define GS_COMMON_HELP_TEXT_H

/* column: that of descriptions. */
void help_text_print(const char *text, unsigned column);

#endif
