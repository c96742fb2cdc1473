/* SPDX-License-Identifier: MIT */
/*
 * The ring file of a recording: made, mapped, and its parts handed out (ring_layout.h says what lies where).
 *
 * R1  A part is backed before it is handed out: a full file system is an error here, never a SIGBUS later.
 * R2  The mapping begins at a multiple of HL_CHUNK_BYTES, and so does each chunk.
 * Callable from any thread with the guard entered; nothing here allocates through malloc.
 */
#ifndef HL_RING_H
#define HL_RING_H

#include <stddef.h>
#include <stdint.h>

#include "platform/platform.h"
#include "record/ring_layout.h"

struct hl_ring {
    char *base; /* NULL: none */
    struct hl_ring_header *header;
    struct hl_ring_chunk *states;
    struct hl_ring_frame *frames;
    struct hl_ring_node *nodes;
};
extern struct hl_ring hl_ring HL_HIDDEN;

/* Make the file beside the flight file, in place of one of an earlier recording. 0 or -errno. */
int hl_ring_create(void);
/* Tell readers that it is complete. */
void hl_ring_show(void);
/* Take its name and the mapping away. Nobody may write into it any more. */
void hl_ring_destroy(void);
/* In a forked child: the parent's is not ours. */
void hl_ring_forget(void);

/* A string of `length` bytes, cut at 4000; 0 where there is no room. */
uint32_t hl_ring_string(const char *bytes, size_t length);
/* The number of a fresh frame or node; 0 where there is no room. */
uint32_t hl_ring_add_frame(const struct hl_ring_frame *frame);
uint32_t hl_ring_add_node(uint32_t parent, uint32_t frame);

/* The number of a free chunk, which is the caller's now; HL_CHUNKS where there is none. */
uint32_t hl_ring_take_chunk(void);

HL_INLINE const char *hl_ring_text(uint32_t string, size_t *length) {
    const char *text = hl_ring.base + HL_RING_STRINGS_AT + string;
    *length = *(const uint16_t *)(const void *)text;
    return text + sizeof(uint16_t);
}

HL_INLINE char *hl_ring_chunk(uint32_t number) {
    return hl_ring.base + HL_RING_CHUNKS_AT + (size_t)number * HL_CHUNK_BYTES;
}

#endif
