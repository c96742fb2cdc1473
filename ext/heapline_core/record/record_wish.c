/* SPDX-License-Identifier: MIT */
#include "record/record_wish.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flight/flight.h"
#include "platform/text.h"

/* A file beside the flight files names the one process that is recorded. Who makes it is that. */
static int is_the_first(uint32_t drain) {
    char path[600], text[32] = {0};
    const char *directory = hl_flight_directory();
    if (!directory || hl_fit(path, sizeof(path), "%s/%u.recorded", directory, drain)) return 1;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    const int first = fd >= 0;
    if (first) {
        hl_text(text, sizeof(text), "%d", (int)getpid());
        if (write(fd, text, strlen(text)) < 0) text[0] = 0;
    } else {
        fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0) text[0] = 0;
    }
    if (fd >= 0) close(fd);
    const char *cursor = text;
    return first || hl_parse_number(&cursor) == (uint64_t)getpid();
}

void hl_record_wish_refused(uint32_t drain) {
    char path[600];
    const char *directory = hl_flight_wanted_directory();
    if (!directory || hl_fit(path, sizeof(path), "%s/%u.refused", directory, drain)) return;
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0) close(fd);
}

/* `word` with its comma, in a list of them. */
static int has_word(const char *list, const char *word) {
    const char *found = strstr(list, word);
    return found && (found[strlen(word)] == ',' || !found[strlen(word)]);
}

struct hl_record_wish hl_record_wish(void) {
    struct hl_record_wish wish = {0};
    const char *text = secure_getenv("HEAPLINE_RECORD");
    if (!text) return wish;
    wish.drain = (uint32_t)hl_parse_number(&text);
    wish.follow = has_word(text, ",follow");
    wish.native = has_word(text, ",native");
    if (wish.drain && !wish.follow && !is_the_first(wish.drain)) wish.drain = 0;
    return wish;
}
