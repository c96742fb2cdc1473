/* SPDX-License-Identifier: MIT */
/*
 * The allocator that is measured: which one it is, and how it gives memory back.
 */
#ifndef HL_BELOW_H
#define HL_BELOW_H

struct hl_below {
    const char *name;    /* glibc, jemalloc …; "other" */
    char version[64];    /* may be empty */
    const char *library; /* path of what `malloc` is from */
    const char *missing; /* a function of the family that is from elsewhere; NULL: none */
};

/* Before the replay: it looks for symbols, and that allocates. */
void hl_below_init(struct hl_below *below);

/* Give back what can be given back; 0 where the allocator has no way. */
int hl_below_trim(void);

#endif
