/*
 * help_text.h - prints the text of --help in 80 columns, however its source breaks the lines.
 *
 * The text: lines that begin at the margin are a paragraph until an empty line or an option; a line
 * that begins with spaces is an option, whose description stands in it from a column on, and in the
 * lines behind it that begin at that column.
 */
#ifndef GS_COMMON_HELP_TEXT_H
#define GS_COMMON_HELP_TEXT_H

/* Prints the text to stdout. `column` is the column of the descriptions. */
void help_text_print(const char *text, unsigned column);

#endif
