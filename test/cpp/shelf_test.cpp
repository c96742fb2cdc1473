/* SPDX-License-Identifier: MIT */
/* Long lists in memory and in files, and what is said where a file cannot be written. */
#include "shelf.hpp"

#include <dirent.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "check.h"
#include "ledger.hpp"

using namespace heapline;

namespace {

const uint32_t MANY = 1000000;

size_t descriptors() {
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

void check_list(Shelf<uint32_t> &list) {
    CHECK_EQUAL(list.size(), MANY);
    for (uint32_t i = 0; i < MANY; i++) CHECK_EQUAL(list[i], i / 3000 * 3000); /* pages of zeros are among them */
}

void fill(Shelf<uint32_t> &list) {
    for (uint32_t i = 0; i < MANY / 2; i++) list.push_back(i / 3000 * 3000);
    Column<uint32_t> rest;
    for (uint32_t i = MANY / 2; i < MANY; i++) rest.push_back(i / 3000 * 3000);
    list.append(rest.data(), rest.size());
    list.finish();
}

/* In files from the beginning, from the middle on, and never. */
void test_a_list() {
    const size_t before = descriptors();
    for (size_t in_memory : {size_t{0}, size_t{1} << 20, size_t{1} << 30}) {
        auto store = std::make_shared<Store>(in_memory);
        Shelf<uint32_t> list(store), empty(store);
        fill(list);
        empty.finish();
        CHECK_EQUAL(store->in_files(), in_memory < MANY * sizeof(uint32_t));
        check_list(list);
        Shelf<uint32_t> other(std::move(list));
        check_list(other);
        CHECK(empty.empty() && list.empty());
    }
    CHECK_EQUAL(descriptors(), before);
}

void test_a_column() {
    for (size_t in_memory : {size_t{0}, size_t{1} << 30}) {
        Column<uint32_t> column;
        for (uint32_t i = 0; i < MANY; i++) column.push_back(i / 3000 * 3000);
        Shelf<uint32_t> list(std::make_shared<Store>(in_memory));
        list.append(column.data(), column.size());
        list.finish();
        check_list(list);
    }
}

size_t kilobytes(const char *what) {
    char text[4096];
    FILE *file = fopen("/proc/self/status", "r");
    text[fread(text, 1, sizeof(text) - 1, file)] = 0;
    fclose(file);
    return strtoul(strstr(text, what) + strlen(what), nullptr, 10);
}

/* Of what is read no more stays mapped than may be, and it can be read again. */
void test_what_is_mapped() {
    auto store = std::make_shared<Store>(0, 1 << 20);
    Shelf<uint32_t> list(store);
    for (uint32_t i = 0; i < 16 * MANY; i++) list.push_back(i);
    list.finish();
    const size_t before = kilobytes("RssFile:");
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < 16 * MANY; i++) {
            store->trim();
            CHECK_EQUAL(list[i], i);
            if (i % MANY == 0) CHECK(kilobytes("RssFile:") < before + 4096);
        }
}

/* A ledger in memory, one for which the room does not do, and one in files from the beginning; kept and not. */
void test_a_ledger() {
    const size_t before = descriptors(), bytes = MANY * sizeof(uint32_t);
    for (size_t room : {size_t{0}, 2 * bytes, size_t{1} << 30}) {
        auto store = std::make_shared<Store>(0, room);
        for (bool local : {false, true}) {
            Ledger<uint32_t> first(store, MANY, local), second(store, MANY);
            CHECK_EQUAL(first[MANY - 1] + second[0], 0);
            for (uint32_t i = MANY; i-- > 0;) first[i] = second[i] = i / 3000 * 3000;
            first.keep();
            for (uint32_t i = 0; i < MANY; i++) CHECK_EQUAL(first[i] + second[i], i / 3000 * 6000);
            Ledger<uint32_t> other(std::move(first));
            CHECK(other[MANY - 1] == (MANY - 1) / 3000 * 3000 && !first.size());
        }
        CHECK(store->hold(room / 2)); /* all was let go of */
    }
    CHECK_EQUAL(descriptors(), before);
}

/* A sanitizer has memory of its own for each page that is looked at: an eighth of it, several times it. */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || defined(__SANITIZE_ADDRESS__) ||            \
    defined(__SANITIZE_THREAD__)
const char *const RESIDENT = "RssFile:";
#else
const char *const RESIDENT = "VmRSS:";
#endif

/* However many ledgers there are, no more than the room is in memory. */
void test_ledgers_beyond_the_room() {
    const size_t room = size_t{6} << 20, before = kilobytes(RESIDENT);
    auto store = std::make_shared<Store>(0, room);
    Ledger<uint32_t> small(store, MANY), large(store, 4 * MANY), same(store, 4 * MANY);
    for (uint32_t i = 0; i < 4 * MANY; i++) {
        store->trim();
        small[i % MANY] = i;
        large[i * 101 % (4 * MANY)] = same[i] = i;
        if (i % (MANY / 4) == 0) CHECK(kilobytes(RESIDENT) < before + (room + room / 4) / 1024);
    }
    for (uint32_t i = 0; i < 4 * MANY; i++) {
        store->trim();
        CHECK(same[i] == i && large[i * 101 % (4 * MANY)] == i);
    }
}

/* The message of what goes wrong. */
template <typename Body> std::string failure_of(const char *directory, rlim_t most, const Body &body) {
    const size_t before = descriptors();
    struct rlimit old, few;
    getrlimit(RLIMIT_FSIZE, &old);
    few = {most, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    setenv("TMPDIR", directory, 1);
    setrlimit(RLIMIT_FSIZE, &few);
    std::string message;
    try {
        body();
    } catch (const Failure &failure) {
        message = failure.what();
    }
    setrlimit(RLIMIT_FSIZE, &old);
    unsetenv("TMPDIR");
    CHECK_EQUAL(descriptors(), before);
    return message;
}

void fill_one() {
    Shelf<uint32_t> list(std::make_shared<Store>(0));
    fill(list);
}

void make_a_ledger() {
    Ledger<uint32_t>(std::make_shared<Store>(0, 0), MANY);
}

void test_no_room() {
    for (void (*body)() : {fill_one, make_a_ledger}) {
        CHECK(failure_of("/tmp", 1 << 20, body) == "there is no room in /tmp (TMPDIR): File too large");
        CHECK(failure_of("/tmp", RLIM_INFINITY, body).empty());
    }
}

/* Another place is taken. */
void test_no_such_directory() {
    CHECK(failure_of("/nowhere", RLIM_INFINITY, fill_one).empty());
}

const check_test TESTS[] = {{"a list", test_a_list},
                            {"a column", test_a_column},
                            {"what is mapped", test_what_is_mapped},
                            {"a ledger", test_a_ledger},
                            {"ledgers beyond the room", test_ledgers_beyond_the_room},
                            {"no room", test_no_room},
                            {"no such directory", test_no_such_directory}};

} // namespace

CHECK_MAIN(TESTS)
