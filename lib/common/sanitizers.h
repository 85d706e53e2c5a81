/*
 * sanitizers.h - ADDRESS_SANITIZER and THREAD_SANITIZER: 1 in a build with that sanitizer, which
 * brings its own allocator and layout of addresses; else 0. gcc defines a macro, clang has a
 * feature test.
 */
#ifndef GS_COMMON_SANITIZERS_H
#define GS_COMMON_SANITIZERS_H

#if defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER 1
#endif
#endif
#ifndef ADDRESS_SANITIZER
#define ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZER 1
#endif
#endif
#ifndef THREAD_SANITIZER
#define THREAD_SANITIZER 0
#endif

#endif
