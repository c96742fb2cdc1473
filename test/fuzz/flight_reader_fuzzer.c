/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target over the flight reader: any bytes as a file. The first byte says where the input is split into two
 * copies, so that the second may differ from the first as it does for a running process. What could be summed is
 * settled.
 */
#include <stdlib.h>
#include <string.h>

#include "../../ext/heapline/flight_pages.h"
#include "../../ext/heapline/flight_reader.h"
#include "../../ext/heapline/object_reader.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* Whole pages of `data`, padded with zeros up to the fixed pages, in memory of exactly that size. */
static struct hl_flight_copy copy_of(const unsigned char *data, size_t size) {
    struct hl_flight_copy copy;
    size_t pages = size / HL_PAGE_SIZE;
    if (pages < HL_FIXED_PAGES) pages = HL_FIXED_PAGES;
    copy.pages = copy.pages_now = pages;
    copy.bytes = calloc(pages, HL_PAGE_SIZE);
    if (!copy.bytes) abort();
    memcpy(copy.bytes, data, size < pages * HL_PAGE_SIZE ? size : pages * HL_PAGE_SIZE);
    return copy;
}

/* Most inputs would stop at the magic: give all a readable beginning, but let one in four keep its own. */
static void mend(struct hl_flight_copy *copy, unsigned char choice) {
    struct hl_flight_header *header = (struct hl_flight_header *)copy->bytes;
    if (choice % 4 == 0) return;
    memcpy(header->magic, HL_FLIGHT_MAGIC, sizeof(header->magic));
    header->version = HL_FLIGHT_VERSION;
    header->byte_order = HL_FLIGHT_BYTE_ORDER;
    header->page_count = copy->pages;
    header->site_count %= 1024;
    header->library_count %= HL_LIBRARIES_MAX;
    header->tag_count %= HL_TAGS_MAX;
    header->object_rows %= 1024;
    header->object_classes %= 1024;
    header->command_length %= sizeof(header->command);
}

static uint64_t touch(struct hl_span span) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < span.length; i++) sum += (unsigned char)span.bytes[i];
    return sum;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    uint64_t sum = 0;
    struct hl_flight_sums sums;
    struct hl_problem problem;
    if (size < 2) return 0;
    const size_t split = data[1] % 2 ? (size - 2) / 2 : 0;
    struct hl_flight_copy second = copy_of(data + 2 + split, size - 2 - split);
    struct hl_flight_copy first = split ? copy_of(data + 2, split) : second;
    mend(&second, data[0]);
    if (split) mend(&first, data[0]);
    if (hl_flight_sum(&first, &second, &sums, &problem) == 0) {
        for (uint32_t i = 0; i < sums.site_count; i++)
            sum += touch(sums.sites[i].path) + touch(sums.sites[i].label) + touch(sums.sites[i].library);
        for (uint32_t i = 0; i < sums.object_count; i++) sum += touch(sums.objects[i].class_name);
        __asm__ volatile("" : : "r"(sum)); /* the reads must not be optimised away */
        hl_flight_sums_release(&sums);
        if (split && hl_flight_settle(&first, &second, &problem)) abort();
    }
    if (split) free(first.bytes);
    free(second.bytes);
    return 0;
}
