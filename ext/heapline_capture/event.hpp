/* SPDX-License-Identifier: MIT */
/* What a capture records: one event, and the kinds that there are. The numbers of kinds are the file's. */
#ifndef HEAPLINE_CAPTURE_EVENT_HPP
#define HEAPLINE_CAPTURE_EVENT_HPP

#include <cstdint>

namespace heapline {
namespace capture {

enum class Kind : uint8_t {
    /* Births: a block begins. */
    malloc = 1,
    calloc,
    realloc, /* of nothing */
    memalign,
    aligned_alloc,
    posix_memalign,
    valloc,
    pvalloc,
    cxx_new,
    mmap,
    realloc_older, /* realloc of a block that is older than the recording */
    mremap_older,
    remains, /* what is left of a mapping that was cut; no call */

    /* Changes: a block ends, and another begins under its number. */
    resize = 14, /* realloc of a block that is known */
    remap,       /* mremap of a mapping that is known */

    /* Ends. */
    free = 16,
    cxx_delete,
    munmap,
    vanish, /* its end was not seen, or was part of another call; no call */

    /* Ends of what is older than the recording: no number. */
    free_older = 20,
    munmap_older,

    /* Ruby objects. */
    object = 22,  /* born; size: bytes of its slot */
    object_freed, /* the VM has swept it */

    /* Marks. */
    thread_start = 24,
    thread_end,
    gc_start, /* size: the number of GCs that began before */
    gc_end,
    lost,     /* size: so many events were lost before this one */
    gc_enter, /* the program stands still for GC from here, */
    gc_exit,  /* and goes on: a GC may do its work in several pieces */

    object_resized = 31, /* it moved into a slot of this size */
};

const unsigned KINDS = 32;

inline bool is_birth(Kind kind) {
    return kind <= Kind::remains;
}
inline bool is_change(Kind kind) {
    return kind == Kind::resize || kind == Kind::remap;
}
inline bool is_end(Kind kind) {
    return kind >= Kind::free && kind <= Kind::vanish;
}
inline bool is_mark(Kind kind) {
    return kind >= Kind::thread_start && kind != Kind::object_resized;
}
inline bool is_object(Kind kind) {
    return kind == Kind::object || kind == Kind::object_freed || kind == Kind::object_resized;
}
/* Has it a stack, a tag and a size that was asked for? */
inline bool allocates(Kind kind) {
    return kind <= Kind::remap;
}
/* Does a block begin with it, or (objects) a Ruby object? */
inline bool begins(Kind kind, bool objects) {
    return objects ? kind == Kind::object : allocates(kind);
}
/* Does it name one of malloc's blocks, or a mapping? */
inline bool has_block(Kind kind) {
    return kind <= Kind::vanish;
}
/* What an event holds besides its time and its thread: a number in Event::block; the stack and the tag of a birth, or
 * of a call that ends a block and of what ran into a GC; a size. */
inline bool has_number(Kind kind) {
    return has_block(kind) || is_object(kind);
}
inline bool has_stack(Kind kind) {
    return allocates(kind) || kind == Kind::object;
}
inline bool has_end_stack(Kind kind) {
    return (kind >= Kind::free && kind <= Kind::munmap_older && kind != Kind::vanish) || kind == Kind::gc_start;
}
inline bool has_size(Kind kind) {
    return has_stack(kind) || is_mark(kind) || kind == Kind::object_resized;
}
inline bool has_alignment(Kind kind) {
    return kind >= Kind::memalign && kind <= Kind::cxx_new;
}
/* Is it about a mapping, and not about malloc's blocks? */
inline bool is_mapping(Kind kind) {
    return kind == Kind::mmap || kind == Kind::mremap_older || kind == Kind::remains || kind == Kind::remap ||
           kind == Kind::munmap || kind == Kind::munmap_older;
}
inline bool is_known(unsigned kind) {
    return kind >= 1 && kind < KINDS;
}

/* The function that was called; empty where none was. */
const char *function_of(Kind kind);

struct Event {
    uint64_t time_ns;   /* since the recording began, in steps of the header's time_unit_ns */
    uint64_t size;      /* births and changes: bytes asked for; marks: see Kind */
    uint64_t alignment; /* bytes; 0: none was asked for */
    uint32_t block;     /* a number from 1 that no other block has while this one lives; numbers are used again at once,
                           so the highest is the most that were alive; objects have numbers of the same kind. 0: the kind
                           has none */
    uint32_t stack;     /* node: of who began it, of who ended it; 0: unknown */
    uint32_t thread;    /* 0: unknown */
    uint32_t tag;       /* likewise; 0: none */
    uint32_t klass;     /* of objects that are born; else 0 */
    Kind kind;
};

} // namespace capture
} // namespace heapline

#endif
