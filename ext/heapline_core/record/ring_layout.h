/* SPDX-License-Identifier: MIT */
/*
 * The ring file's layout: what a recorded process writes and the drain reads (ext/heapline_capture/drain.hpp).
 *
 * One file belongs to one recording of one process. Behind the header lie tables that only grow (strings, frames,
 * nodes) and a pool of chunks, which are used again and again: a lane takes a free one, writes events into it, goes on
 * to the next, and the drain gives back what it has read. A reader checks every number against the table's bounds.
 *
 * Q1  A string, frame or node is complete before its number is in an event, and never changes.
 * Q2  An event's first word is written last, and is not 0; a free chunk is all zeros. So a reader sees whole events.
 * Q3  A chunk's lane and sequence are written before its state says HL_CHUNK_OPEN. `end` is written once, by the lane,
 *     when it has gone on to another chunk; behind an event that is still to come the lane may have gone on already.
 */
#ifndef HL_RING_LAYOUT_H
#define HL_RING_LAYOUT_H

#include <stdint.h>

#define HL_RING_MAGIC "HEAPRING"
#define HL_RING_VERSION 4u

#define HL_CHUNK_BYTES 65536u
#define HL_CHUNKS 384u
/* Events of a chunk end here. What is reserved beyond by signal handlers on top of each other stays in the chunk. */
#define HL_CHUNK_LIMIT (HL_CHUNK_BYTES - 1024u)
#define HL_RING_STRINGS (6u << 20) /* bytes */
#define HL_RING_FRAMES (1u << 17)
#define HL_RING_NODES (1u << 20)
#define HL_RING_LANES 129u /* further threads write into the first one, in turns */

/* A string: its place in the table, in bytes; there: uint16_t length, then the bytes. 0: none. */

enum hl_frame_kind {
    HL_FRAME_RUBY = 1,   /* name: path, label, line */
    HL_FRAME_NATIVE = 2, /* name: path of the library (0: none), offset in it, or the address */
    HL_FRAME_NOTE = 3,   /* label alone: says what is not told */
};

struct hl_ring_frame {
    uint32_t kind; /* enum hl_frame_kind */
    uint32_t path;
    uint32_t label;
    uint32_t line;
    uint64_t offset;
};

/* A stack: its last frame, and the stack that called it; 0: none. */
struct hl_ring_node {
    uint32_t parent;
    uint32_t frame;
};

/* HL_CHUNK_TAKEN: between two states. */
enum hl_chunk_state { HL_CHUNK_FREE = 0, HL_CHUNK_TAKEN = 1, HL_CHUNK_OPEN = 2 };

struct hl_ring_chunk {
    uint32_t state;
    uint32_t lane;
    uint32_t sequence; /* of the lane's chunks, from 1 */
    uint32_t end;      /* bytes; 0: more may come */
};

/*
 * Events: 64-bit words.
 *
 *   word 0   kind << 56 | time (units of `clock`, since the start)
 *   word 1   births, deaths: address | binary logarithm of the alignment << 58; others: see there
 *   word 2   births: size | stack << 40; a size of HL_EVENT_SIZE_MAX or more stands in word 3, and that here
 *            deaths: stack << 40
 */
#define HL_EVENT_TIME_BITS 56
#define HL_EVENT_ADDRESS_BITS 48
#define HL_EVENT_ALIGNMENT_SHIFT 58
#define HL_EVENT_STACK_SHIFT 40
#define HL_EVENT_CLASS_SHIFT 16
#define HL_EVENT_CLASS_MASK 0xffffffu
#define HL_EVENT_FRESH_CLASS 0x100u
#define HL_EVENT_SIZE_MAX ((1ull << HL_EVENT_STACK_SHIFT) - 1)
#define HL_EVENT_WORDS_MAX 4u

enum hl_event {
    HL_EVENT_NONE = 0,
    /* births */
    HL_EVENT_MALLOC = 1,
    HL_EVENT_CALLOC,
    HL_EVENT_REALLOC, /* ends HL_EVENT_REALLOC_FROM, where there was a block before */
    HL_EVENT_POSIX_MEMALIGN,
    HL_EVENT_ALIGNED_ALLOC,
    HL_EVENT_MEMALIGN,
    HL_EVENT_VALLOC,
    HL_EVENT_PVALLOC,
    HL_EVENT_NEW,
    HL_EVENT_MMAP,
    HL_EVENT_MREMAP, /* ends HL_EVENT_MREMAP_FROM, where there was a mapping before */
    HL_EVENT_LAST_BIRTH = HL_EVENT_MREMAP,
    /* deaths */
    HL_EVENT_FREE = 32,
    HL_EVENT_DELETE,
    HL_EVENT_LAST_DEATH = HL_EVENT_DELETE,
    /* what belongs to a realloc: two words, without a stack */
    HL_EVENT_REALLOC_FROM, /* before the call */
    HL_EVENT_UNMOVED,      /* the call failed: the block is where it was */
    HL_EVENT_GONE,         /* it is no block of the program's any more: as if freed */
    /* two words */
    HL_EVENT_THREAD_START = 48, /* word 1: kernel thread id; words 2, 3: its name */
    HL_EVENT_THREAD_END,        /* likewise */
    HL_EVENT_GC_END,            /* its sweep is over */
    HL_EVENT_GC_ENTER,          /* the program stands still for GC from here */
    HL_EVENT_GC_EXIT,           /* up to here */
    HL_EVENT_RUBY_HEAP,         /* word 1: bytes of the pages of Ruby's object heap, from now on */
    /* a Ruby object is freed */
    HL_EVENT_OBJECT_FREED, /* word 1: address */
    HL_EVENT_TAG,          /* word 1: string; what follows in this lane has this tag. At first it has none */
    /* three words */
    HL_EVENT_GC, /* a GC begins, or (without gc_events.h) is first seen; word 1: GC.count with it, word 2: stack << 40
                  */
    HL_EVENT_OBJECT,       /* word 1: address; word 2: bytes of its slot | class << 16 | stack << 40 */
    HL_EVENT_OBJECT_MOVED, /* word 1: from; word 2: to | bytes of its slot << 48, where these are others now */
    HL_EVENT_CLASS,        /* word 1: its number; word 2: type | 0x100 where another class had it so far | name << 32 */
    /* four words */
    HL_EVENT_MUNMAP,      /* word 1: address, word 2: size, word 3: stack */
    HL_EVENT_MREMAP_FROM, /* likewise; after the call */
};

/* Words of an event by its first and third one. */
static inline uint32_t hl_event_words(uint32_t kind, uint64_t third) {
    if (kind <= HL_EVENT_LAST_BIRTH) return (third & HL_EVENT_SIZE_MAX) == HL_EVENT_SIZE_MAX ? 4 : 3;
    if (kind <= HL_EVENT_LAST_DEATH) return 3;
    if (kind == HL_EVENT_THREAD_START || kind == HL_EVENT_THREAD_END || kind >= HL_EVENT_MUNMAP) return 4;
    return kind >= HL_EVENT_GC ? 3 : 2;
}

/* EXECED: the process is executing another program; if that succeeds, nothing more comes. */
enum hl_ring_state { HL_RING_RECORDING = 1, HL_RING_STOPPED = 2, HL_RING_EXECED = 3 };
/* What is recorded besides, as it was asked for. */
enum hl_ring_option { HL_RING_NATIVE = 1, HL_RING_OBJECTS = 2, HL_RING_FOLLOW = 4 };
enum hl_ring_clock { HL_CLOCK_TSC = 1, HL_CLOCK_NS = 2 };

struct hl_ring_header {
    char magic[8]; /* written last */
    uint32_t version;
    uint32_t state; /* enum hl_ring_state */
    uint32_t pid;
    uint32_t clock;         /* enum hl_ring_clock */
    uint64_t start;         /* of `clock` */
    uint64_t start_ns;      /* CLOCK_MONOTONIC then */
    uint64_t start_wall_ns; /* CLOCK_REALTIME then */
    uint64_t stop;          /* of `clock`; 0: it goes on */
    uint64_t generation;    /* GC.count at the start */
    uint64_t ruby_heap;     /* bytes of the pages of Ruby's object heap at the start; 0: not known */
    uint64_t threads;       /* started so far */

    uint32_t strings_used; /* bytes */
    uint32_t frames_used;  /* number 0 included */
    uint32_t nodes_used;
    uint32_t chunks_backed; /* that may be taken */

    uint64_t lost;           /* events that found no chunk */
    uint64_t stacks_refused; /* strings, frames and nodes: a table was full */

    uint32_t asked_by;  /* pid of the process that is to drain it; 0: any */
    uint32_t drain_pid; /* the process that drains it; set once, by that */
    uint64_t chunks_freed;
    uint64_t waited_ns; /* of the program for the drain, all threads together (the program's) */

    /* As in the flight file. */
    char ruby[96];
    char allocator[64];
    char command[1024];
    uint32_t command_length;

    uint32_t options; /* enum hl_ring_option, those that hold */

    uint64_t objects_end; /* of `clock`: from then on no Ruby objects are recorded, though all else is; 0: they are */
};

/* Where each part begins; all are multiples of 64 KB. */
#define HL_RING_STATES_AT 4096u
#define HL_RING_STRINGS_AT 65536u
#define HL_RING_FRAMES_AT (HL_RING_STRINGS_AT + HL_RING_STRINGS)
#define HL_RING_NODES_AT (HL_RING_FRAMES_AT + HL_RING_FRAMES * 24u)
#define HL_RING_CHUNKS_AT (HL_RING_NODES_AT + HL_RING_NODES * 8u)
#define HL_RING_BYTES (HL_RING_CHUNKS_AT + HL_CHUNKS * HL_CHUNK_BYTES)

#endif
