/* SPDX-License-Identifier: MIT */
#include "platform/memory_maps.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"

static const struct hl_mapping *find(const struct hl_mapping *mappings, int64_t count, const void *address) {
    for (int64_t i = 0; i < count; i++)
        if ((uintptr_t)address - mappings[i].begin < mappings[i].end - mappings[i].begin) return &mappings[i];
    return NULL;
}

static int global = 1;

static void each_mapping_is_what_it_is(void) {
    struct hl_mapping *mappings;
    void *shared = mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    void *closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const int64_t count = hl_memory_maps(&mappings);
    CHECK(count > 10);
    const struct hl_mapping *data = find(mappings, count, &global),
                            *code = find(mappings, count, (void *)(uintptr_t)find);
    const struct hl_mapping *stack = find(mappings, count, &count);
    CHECK(data && data->readable && data->writable && !data->executable && data->is_file && !data->shared);
    CHECK(code && code->executable && !code->writable && strstr(code->path, "memory_maps_test"));
    CHECK(stack && !strcmp(stack->path, "[stack]") && !stack->is_file);
    CHECK(find(mappings, count, shared)->shared && !find(mappings, count, shared)->writable);
    CHECK(!find(mappings, count, closed)->readable && !strcmp(find(mappings, count, closed)->path, ""));
    for (int64_t i = 1; i < count; i++) CHECK(mappings[i].begin >= mappings[i - 1].end);
}

static int zero;
static const int constant = 1;

static void count_own(void *found, uintptr_t begin, uintptr_t end) {
    const uintptr_t wanted[] = {(uintptr_t)&global, (uintptr_t)&zero};
    for (unsigned i = 0; i < 2; i++) ((int *)found)[i] += wanted[i] >= begin && wanted[i] < end;
    CHECK((uintptr_t)&constant < begin || (uintptr_t)&constant >= end);
}

static void variables_are_data_and_zeros(void) {
    int found[2] = {0, 0};
    hl_variables_of((uintptr_t)&__ehdr_start, count_own, found);
    CHECK_EQUAL(found[0], 1);
    CHECK_EQUAL(found[1], 1);
}

static const struct check_test tests[] = {{"each_mapping_is_what_it_is", each_mapping_is_what_it_is},
                                          {"variables_are_data_and_zeros", variables_are_data_and_zeros}};
CHECK_MAIN(tests)
