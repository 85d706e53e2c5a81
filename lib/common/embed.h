/*
 * embed.h - a file's text inside the program.
 */
#ifndef GS_COMMON_EMBED_H
#define GS_COMMON_EMBED_H

/* Declares and defines the array of char `symbol`: the bytes of the file, whose path is a string,
 * and a NUL. At file scope. The compiler does not see the file: name it in the Makefile. */
#define EMBED_TEXT(symbol, file)                                                                   \
    extern const char symbol[];                                                                    \
    __asm__(".section .rodata\n"                                                                   \
            ".global " #symbol "\n"                                                                \
            ".hidden " #symbol "\n"                                                                \
            ".type " #symbol ", @object\n" #symbol ":\n"                                           \
            ".incbin \"" file "\"\n"                                                               \
            ".byte 0\n"                                                                            \
            ".size " #symbol ", . - " #symbol "\n"                                                 \
            ".previous\n");

#endif
