/* SPDX-License-Identifier: MIT */
/*
 * The words of all loaded objects that lead to what we define (definitions.h): they are found, changed, and put back.
 *
 * D1  A word is changed alone, whole, from the value that was judged; a thread may call through it at any time.
 * D2  A word is changed only where it leads to what lies below us, or is still to be bound; so a definition of the
 *     program's own keeps its callers.
 * D3  Only objects that the linker is done with are changed, and only while it can take none away. Pages that it made
 *     read-only are opened for the moment of writing, and closed again.
 * D4  One thread at a time walks. Who waits for its turn holds no lock of the linker's; a fork waits, too, so a child
 *     never begins in the middle of a walk.
 * D5  Besides the words that the linker fills, variables are changed that hold the address of what lies below us: a
 *     function that was looked for by its name, or an address that was copied. Not on the heap.
 *
 * Nothing is allocated while words are changed.
 */
#ifndef HL_WORDS_H
#define HL_WORDS_H

#include <stdint.h>

struct hl_word_figures {
    uint32_t words;       /* that hold our definitions */
    char left_names[512]; /* of the objects that call or hold another allocator, without folders, parted by newlines */
};
struct hl_word_figures hl_word_figures(void);

/* Called after each look, with what it found, by who looked; the linker's locks may be held. NULL: no one is. */
extern void (*hl_words_looked)(const struct hl_word_figures *figures);

/* Memory, and the handlers of forks. 0 or -errno. */
int hl_words_prepare(void);

/* Change the words of all objects that were not looked at yet. `opens`: from now on they are ours; else nothing is done
 * where they are not. 0, or -EBUSY where no turn came: who has it looks again then, where the words are ours. */
int hl_words_look(int opens);

/* The same, where objects were loaded since. */
void hl_words_follow(void);

/* Put back what was there. */
void hl_words_put_back(void);

int hl_words_are_ours(void);

#endif
