/* SPDX-License-Identifier: MIT */
/*
 * What lies below the functions that are interposed beside the family (real_malloc.h), which is mostly libc: found in
 * the first call of all, where dlsym may be called. A handler of signals, a child of vfork or a thread with any lock
 * may call them later.
 */
#ifndef HL_BELOW_H
#define HL_BELOW_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

#define HL_BELOW(X)                                                                                                    \
    X(int, pthread_getattr_np, (pthread_t, pthread_attr_t *))                                                          \
    X(int, execve, (const char *, char *const *, char *const *))                                                       \
    X(int, raise, (int))                                                                                               \
    X(sighandler_t, signal, (int, sighandler_t))                                                                       \
    X(void *, mmap, (void *, size_t, int, int, int, off_t))                                                            \
    X(int, munmap, (void *, size_t))                                                                                   \
    X(void *, mremap, (void *, size_t, size_t, int, ...))

/* C++'s operators new, whose failing calls go on to what lies below ours (interpose_cxx.c). */
#define HL_BELOW_NEW(X)                                                                                                \
    X(_Znwm)                                                                                                           \
    X(_Znam)                                                                                                           \
    X(_ZnwmRKSt9nothrow_t)                                                                                             \
    X(_ZnamRKSt9nothrow_t)                                                                                             \
    X(_ZnwmSt11align_val_t)                                                                                            \
    X(_ZnamSt11align_val_t)                                                                                            \
    X(_ZnwmSt11align_val_tRKSt9nothrow_t)                                                                              \
    X(_ZnamSt11align_val_tRKSt9nothrow_t)

/* NULL: not found, or not yet. */
struct hl_below {
#define HL_MEMBER(type, name, parameters) type(*name) parameters;
    HL_BELOW(HL_MEMBER)
#undef HL_MEMBER
#define HL_MEMBER(mangled) void *mangled;
    HL_BELOW_NEW(HL_MEMBER)
#undef HL_MEMBER
};
extern struct hl_below hl_below;

/* Find them, and the clock's (system_call.h). */
void hl_below_resolve(void);

#endif
