/* SPDX-License-Identifier: MIT */
#include "platform/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

#define FORMATS_AS_PRINTF(...)                                                                                         \
    do {                                                                                                               \
        char own[200], reference[200];                                                                                 \
        const size_t length = hl_text(own, sizeof(own), __VA_ARGS__);                                                  \
        CHECK_EQUAL(length, snprintf(reference, sizeof(reference), __VA_ARGS__));                                      \
        CHECK(strcmp(own, reference) == 0);                                                                            \
    } while (0)

static void formats_what_printf_would(void) {
    FORMATS_AS_PRINTF("nothing to fill in");
    FORMATS_AS_PRINTF("%s and %s", "one", "");
    FORMATS_AS_PRINTF("%.*s|", 3, "abcdef");
    FORMATS_AS_PRINTF("%.*s|", 9, "abc");
    FORMATS_AS_PRINTF("%d %d %d", 0, -1, 2147483647);
    FORMATS_AS_PRINTF("%d", -2147483647 - 1);
    FORMATS_AS_PRINTF("%u %x %zu", 4294967295u, 0xbeefu, (size_t)1 << 63);
    FORMATS_AS_PRINTF("%llu", 18446744073709551615ull);
    FORMATS_AS_PRINTF("100%% of %s", "it");
}

static void cuts_at_the_size_and_ends_with_nul(void) {
    char buffer[8];
    memset(buffer, 'x', sizeof(buffer));
    CHECK_EQUAL(hl_text(buffer, 5, "%s-%d", "abc", 12345), 4);
    CHECK(memcmp(buffer, "abc-\0xxx", 8) == 0);
    CHECK_EQUAL(hl_text(buffer, 1, "%d", 7), 0);
    CHECK_EQUAL(buffer[0], 0);
}

static void what_must_be_whole_is_whole_or_nothing(void) {
    char buffer[8] = "former";
    CHECK_EQUAL(hl_fit(buffer, sizeof(buffer), "%s/%d", "abc", 123), 0);
    CHECK(strcmp(buffer, "abc/123") == 0);
    CHECK_EQUAL(hl_fit(buffer, sizeof(buffer), "%s/%d", "abc", 1234), -ENAMETOOLONG);
    CHECK_EQUAL(buffer[0], 0);
    CHECK_EQUAL(hl_fit(buffer, 0, "%s", "x"), -ENAMETOOLONG);
}

static void writes_nothing_into_no_room(void) {
    char buffer[1] = {'x'};
    CHECK_EQUAL(hl_text(buffer, 0, "%s", "abc"), 0);
    CHECK_EQUAL(buffer[0], 'x');
}

static void reads_no_byte_behind_a_counted_string(void) {
    const char unterminated[3] = {'a', 'b', 'c'}; /* under the address sanitizer a read behind it fails */
    char buffer[8];
    CHECK_EQUAL(hl_text(buffer, sizeof(buffer), "%.*s", 3, unterminated), 3);
}

static void says_one_line_and_keeps_errno(void) {
    int ends[2];
    char line[600] = "", long_word[600];
    CHECK(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) >= 0);
    errno = EXDEV;
    hl_say("%s is %d", "it", 3);
    CHECK_EQUAL(errno, EXDEV);
    CHECK_EQUAL(read(ends[0], line, sizeof(line)), 18);
    CHECK(strcmp(line, "heapline: it is 3\n") == 0);
    memset(long_word, 'w', sizeof(long_word) - 1);
    long_word[sizeof(long_word) - 1] = 0;
    hl_say("%s", long_word);
    const ssize_t length = read(ends[0], line, sizeof(line));
    CHECK(length > 0 && length <= 512 && line[length - 1] == '\n');
}

static void parses_digits_and_stops_behind_them(void) {
    const char *cursor = "120.5", *none = "x";
    CHECK_EQUAL(hl_parse_number(&cursor), 120);
    CHECK(*cursor == '.');
    CHECK_EQUAL(hl_parse_number(&none), 0);
    CHECK(*none == 'x');
}

static const struct check_test tests[] = {
    {"formats_what_printf_would", formats_what_printf_would},
    {"cuts_at_the_size_and_ends_with_nul", cuts_at_the_size_and_ends_with_nul},
    {"what_must_be_whole_is_whole_or_nothing", what_must_be_whole_is_whole_or_nothing},
    {"writes_nothing_into_no_room", writes_nothing_into_no_room},
    {"reads_no_byte_behind_a_counted_string", reads_no_byte_behind_a_counted_string},
    {"says_one_line_and_keeps_errno", says_one_line_and_keeps_errno},
    {"parses_digits_and_stops_behind_them", parses_digits_and_stops_behind_them},
};
CHECK_MAIN(tests)
