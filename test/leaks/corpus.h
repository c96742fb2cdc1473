/* SPDX-License-Identifier: MIT */
/*
 * The corpus: small pieces of code that lose blocks, and as many that do not. Each is one function; corpus.rb says what
 * is to be found of it. They are built into a Ruby extension (corpus_ruby.c), and, but for those of Ruby, into a
 * program for Valgrind and LeakSanitizer (corpus_main.c).
 */
#ifndef CORPUS_H
#define CORPUS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct corpus_case {
    const char *name;
    void (*run)(void);
};

/* Each list ends with a case without a name. */
extern const struct corpus_case corpus_lost[], corpus_clean[], corpus_lost_cxx[], corpus_clean_cxx[];

/* Run it, and write over what it left on the stack. 0 where there is no case of that name. */
int corpus_run(const char *name);

#define CORPUS_CASE(name)                                                                                              \
    { #name, name }
#define CORPUS_FUNCTION __attribute__((noinline)) static void

#ifdef __cplusplus
}
#endif
#endif
