/* SPDX-License-Identifier: MIT */
#include "flight_pages.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int hl_flight_fail(struct hl_problem *problem, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof(problem->text), format, arguments);
    va_end(arguments);
    return -EINVAL;
}

int hl_flight_find_pages(const struct hl_flight_copy *copy, uint32_t number, uint32_t count, const void **found,
                         struct hl_problem *problem) {
    *found = NULL;
    if (number == 0) return 0;
    if (number < HL_FIXED_PAGES || (uint64_t)number + count > copy->pages_now)
        return hl_flight_fail(problem, "it is damaged: it refers to page %u of %llu", number,
                              (unsigned long long)copy->pages_now);
    if ((uint64_t)number + count <= copy->pages) *found = hl_flight_at(copy, number);
    return 0;
}

int hl_flight_find_in_directory(const struct hl_flight_copy *copy, const uint32_t *directory, uint32_t index,
                                uint32_t per_page, const void **found, struct hl_problem *problem) {
    *found = NULL;
    return directory ? hl_flight_find_pages(copy, directory[index / per_page], 1, found, problem) : 0;
}

int hl_flight_find_string(const struct hl_flight_copy *copy, hl_string_ref reference, struct hl_span *span, int *absent,
                          struct hl_problem *problem) {
    span->bytes = NULL;
    span->length = 0;
    if (reference == 0) return 0;
    const uint64_t place = (uint64_t)reference * 8;
    const uint64_t end = copy->pages * HL_PAGE_SIZE, end_now = copy->pages_now * HL_PAGE_SIZE;
    uint16_t length = 0;
    if (place >= (uint64_t)HL_FIXED_PAGES * HL_PAGE_SIZE && place + sizeof(length) <= end) {
        memcpy(&length, copy->bytes + place, sizeof(length));
        if (length <= HL_STRING_MAX && place + sizeof(length) + length <= end) {
            span->bytes = (const char *)copy->bytes + place + sizeof(length);
            span->length = length;
            return 0;
        }
    } else if (place >= end && place < end_now) {
        *absent = 1;
        return 0;
    }
    return hl_flight_fail(problem, "it is damaged: it refers to a string at byte %llu of %llu",
                          (unsigned long long)place, (unsigned long long)end_now);
}
