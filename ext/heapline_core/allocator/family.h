/* SPDX-License-Identifier: MIT */
/*
 * The intercepted functions, once. Declarations, the resolution of what lies below, and the list of exported symbols
 * come from here.
 *
 * HL_FAMILY(X): X(return type, name, (parameters), (arguments)) of what the allocator below must or may export.
 */
#ifndef HL_FAMILY_H
#define HL_FAMILY_H

#define HL_FAMILY(X)                                                                                                   \
    X(void *, malloc, (size_t size), (size))                                                                           \
    X(void *, calloc, (size_t count, size_t size), (count, size))                                                      \
    X(void *, realloc, (void *block, size_t size), (block, size))                                                      \
    X(void, free, (void *block), (block))                                                                              \
    X(int, posix_memalign, (void **block, size_t alignment, size_t size), (block, alignment, size))                    \
    X(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size))                                       \
    X(void *, memalign, (size_t alignment, size_t size), (alignment, size))                                            \
    X(void *, valloc, (size_t size), (size))                                                                           \
    X(void *, pvalloc, (size_t size), (size))                                                                          \
    X(size_t, malloc_usable_size, (void *block), (block))

#endif
