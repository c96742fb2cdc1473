/* SPDX-License-Identifier: MIT */
/*
 * What dlsym answers the core in a test: the fake Ruby's symbols while one is there, else what lies in this process.
 */
#ifndef HL_TEST_FAKE_LINKER_H
#define HL_TEST_FAKE_LINKER_H

/* From now on `name` is `symbol`, for every handle; NULL: there is none. Up to 16 names. */
void fake_linker_set(const char *name, void *symbol);

#endif
