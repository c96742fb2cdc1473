/* SPDX-License-Identifier: MIT */
/* settle FIRST SECOND RESULT: two copies of one flight file, the second later, become one file (hl_flight_settle). */
#include <stdio.h>
#include <stdlib.h>

#include "../../ext/heapline/flight_reader.h"

static struct hl_flight_copy copy_of(const char *path) {
    struct hl_flight_copy copy = {0};
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) exit(2);
    copy.pages = (uint64_t)ftell(file) / HL_PAGE_SIZE;
    copy.bytes = malloc(copy.pages * HL_PAGE_SIZE);
    rewind(file);
    if (!copy.bytes || fread(copy.bytes, HL_PAGE_SIZE, copy.pages, file) != copy.pages) exit(2);
    fclose(file);
    copy.pages_now = ((struct hl_flight_header *)copy.bytes)->page_count;
    return copy;
}

int main(int argc, char **argv) {
    struct hl_problem problem;
    if (argc != 4) return 2;
    struct hl_flight_copy first = copy_of(argv[1]), second = copy_of(argv[2]);
    if (hl_flight_settle(&first, &second, &problem)) return 1;
    FILE *file = fopen(argv[3], "wb");
    if (!file || fwrite(second.bytes, HL_PAGE_SIZE, second.pages, file) != second.pages) return 2;
    return fclose(file) ? 2 : 0;
}
