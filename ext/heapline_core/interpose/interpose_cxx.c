/* SPDX-License-Identifier: MIT */
/*
 * C++ operators new and delete. They are exported here because an allocator below may export its own, which would
 * bypass malloc. Memory comes from the same allocator; only failure goes to the next definition (libstdc++'s), which
 * calls the new-handler and throws.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "flight/library.h"
#include "interpose/below.h"
#include "interpose/interpose.h"
#include "platform/platform.h"

/* The definition that `caller` would have had without us. A C++ runtime that came with a dlopen'ed extension is in no
 * global scope: it is found among what the extension needs, without the linker's lock, for the program may hold any. */
static void *next(void *below, const char *name, uintptr_t caller) {
    return below ? below : hl_library_needed_function(caller, name);
}

HL_COLD static void *new_failed(void *below, const char *name, uintptr_t caller, size_t size) {
    void *(*definition)(size_t);
    void *symbol = next(below, name, caller);
    memcpy(&definition, &symbol, sizeof(symbol));
    if (!definition) __builtin_trap();
    return definition(size);
}

HL_COLD static void *aligned_new_failed(void *below, const char *name, uintptr_t caller, size_t size,
                                        size_t alignment) {
    void *(*definition)(size_t, size_t);
    void *symbol = next(below, name, caller);
    memcpy(&definition, &symbol, sizeof(symbol));
    if (!definition) __builtin_trap();
    return definition(size, alignment);
}

/* These return NULL instead, after the new-handler had its turns. */
HL_COLD static void *new_nothrow_failed(void *below, const char *name, uintptr_t caller, size_t size,
                                        const void *nothrow) {
    void *(*definition)(size_t, const void *);
    void *symbol = next(below, name, caller);
    memcpy(&definition, &symbol, sizeof(symbol));
    return definition ? definition(size, nothrow) : NULL;
}

HL_COLD static void *aligned_new_nothrow_failed(void *below, const char *name, uintptr_t caller, size_t size,
                                                size_t alignment, const void *nothrow) {
    void *(*definition)(size_t, size_t, const void *);
    void *symbol = next(below, name, caller);
    memcpy(&definition, &symbol, sizeof(symbol));
    return definition ? definition(size, alignment, nothrow) : NULL;
}

#define HL_NEW(mangled)                                                                                                \
    HL_EXPORT void *mangled(size_t size);                                                                              \
    HL_EXPORT void *mangled(size_t size) {                                                                             \
        void *block = hl_malloc_for(size, HL_CALLER);                                                                  \
        return HL_LIKELY(block) ? block : new_failed(hl_below.mangled, #mangled, HL_CALLER, size);                     \
    }
#define HL_NEW_NOTHROW(mangled)                                                                                        \
    HL_EXPORT void *mangled(size_t size, const void *nothrow);                                                         \
    HL_EXPORT void *mangled(size_t size, const void *nothrow) {                                                        \
        void *block = hl_malloc_for(size, HL_CALLER);                                                                  \
        return HL_LIKELY(block) ? block : new_nothrow_failed(hl_below.mangled, #mangled, HL_CALLER, size, nothrow);    \
    }
#define HL_NEW_ALIGNED(mangled)                                                                                        \
    HL_EXPORT void *mangled(size_t size, size_t alignment);                                                            \
    HL_EXPORT void *mangled(size_t size, size_t alignment) {                                                           \
        void *block = hl_memalign_for(alignment, size, HL_CALLER);                                                     \
        return HL_LIKELY(block) ? block : aligned_new_failed(hl_below.mangled, #mangled, HL_CALLER, size, alignment);  \
    }
#define HL_NEW_ALIGNED_NOTHROW(mangled)                                                                                \
    HL_EXPORT void *mangled(size_t size, size_t alignment, const void *nothrow);                                       \
    HL_EXPORT void *mangled(size_t size, size_t alignment, const void *nothrow) {                                      \
        void *block = hl_memalign_for(alignment, size, HL_CALLER);                                                     \
        return HL_LIKELY(block)                                                                                        \
                   ? block                                                                                             \
                   : aligned_new_nothrow_failed(hl_below.mangled, #mangled, HL_CALLER, size, alignment, nothrow);      \
    }
/* All deletes take the block first; what follows (size, alignment, nothrow) tells nothing new. */
#define HL_DELETE(mangled)                                                                                             \
    HL_EXPORT void mangled(void *block);                                                                               \
    HL_EXPORT void mangled(void *block) {                                                                              \
        hl_free_for(block, HL_CALLER);                                                                                 \
    }

HL_NEW(_Znwm)
HL_NEW(_Znam)
HL_NEW_NOTHROW(_ZnwmRKSt9nothrow_t)
HL_NEW_NOTHROW(_ZnamRKSt9nothrow_t)
HL_NEW_ALIGNED(_ZnwmSt11align_val_t)
HL_NEW_ALIGNED(_ZnamSt11align_val_t)
HL_NEW_ALIGNED_NOTHROW(_ZnwmSt11align_val_tRKSt9nothrow_t)
HL_NEW_ALIGNED_NOTHROW(_ZnamSt11align_val_tRKSt9nothrow_t)
HL_DELETE(_ZdlPv)
HL_DELETE(_ZdaPv)
HL_DELETE(_ZdlPvm)
HL_DELETE(_ZdaPvm)
HL_DELETE(_ZdlPvRKSt9nothrow_t)
HL_DELETE(_ZdaPvRKSt9nothrow_t)
HL_DELETE(_ZdlPvSt11align_val_t)
HL_DELETE(_ZdaPvSt11align_val_t)
HL_DELETE(_ZdlPvmSt11align_val_t)
HL_DELETE(_ZdaPvmSt11align_val_t)
HL_DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t)
HL_DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t)
