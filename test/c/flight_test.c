/* SPDX-License-Identifier: MIT */
#include "flight/child_flight.h"
#include "flight/flight.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "check.h"
#include "core.h"

enum { NOBODY = 65534 };

static char place[256];
static const char *problem;

static const char *in_directory(const char *name) {
    snprintf(place, sizeof(place), "%s/%s", core_directory(), name);
    return place;
}

static int has_path(void) {
    char path[600];
    return hl_flight_path(path, sizeof(path)) > 0;
}

/* Wherever it lies, it works. */
static void check_usable(void) {
    size_t length;
    uint32_t page = hl_flight_pages(2);
    CHECK(page >= HL_FIXED_PAGES);
    memset(hl_flight_page(page), 0x5a, 2 * HL_PAGE_SIZE);
    hl_string_ref text = hl_flight_string("abc", 3);
    CHECK(text && strcmp(hl_flight_text(text, &length), "abc") == 0 && length == 3);
}

/* ---- where the file lies ---- */

static void a_new_file_says_what_it_is(void) {
    char path[600], head[sizeof(struct hl_flight_header)];
    struct stat status;
    CHECK_EQUAL(hl_flight_create(in_directory("new"), &problem), 0);
    CHECK(problem == NULL);
    CHECK(stat(place, &status) == 0 && (status.st_mode & 07777) == 0700);
    CHECK(hl_flight_path(path, sizeof(path)) == strlen(path));
    CHECK(stat(path, &status) == 0 && (status.st_mode & 07777) == 0600);
    int fd = open(path, O_RDONLY);
    CHECK(read(fd, head, sizeof(head)) == sizeof(head));
    const struct hl_flight_header *header = (const void *)head;
    CHECK(memcmp(header->magic, HL_FLIGHT_MAGIC, 8) == 0 && header->version == HL_FLIGHT_VERSION);
    CHECK_EQUAL(header->pid, getpid());
    CHECK_EQUAL(header->parent, getppid());
    CHECK_EQUAL(header->state, HL_STATE_RUNNING);
    CHECK(header->start_ticks && header->started_ns && header->command_length);
    CHECK(hl_flight.fd > 2 + 60); /* out of the way of programs that use low descriptors */
    CHECK(fcntl(hl_flight.fd, F_GETFD) & FD_CLOEXEC);
    check_usable();
    hl_flight_remove();
    CHECK(access(path, F_OK) && !has_path());
    check_usable();
}

static void refused_directory(const char *path, const char *reason) {
    CHECK_EQUAL(hl_flight_create(path, &problem), 0);
    CHECK(problem && strstr(problem, reason));
    CHECK(!has_path());
    check_usable();
}

/* A name that is cut short is another directory's. */
static void a_directory_whose_name_is_too_long_is_refused(void) {
    char path[1024];
    memset(path, 'd', sizeof(path));
    for (size_t i = 0; i < sizeof(path); i += 200) path[i] = '/';
    path[sizeof(path) - 1] = 0;
    refused_directory(path, "too long");
    path[200] = 0;
    CHECK(access(path, F_OK));
}

static void a_directory_open_to_others_is_refused(void) {
    CHECK(mkdir(in_directory("open"), 0700) == 0 && chmod(place, 0777) == 0);
    refused_directory(place, "others may write");
}

static void a_link_is_refused(void) {
    CHECK(mkdir(in_directory("linked"), 0700) == 0);
    CHECK(symlink("linked", in_directory("link")) == 0);
    refused_directory(place, "");
}

static void anothers_directory_is_refused(void) {
    if (geteuid()) check_skip("only root can make a directory of another user");
    CHECK(mkdir(in_directory("other"), 0700) == 0 && chown(place, NOBODY, NOBODY) == 0);
    refused_directory(place, "another user");
}

static void a_missing_parent_is_survived(void) {
    refused_directory(in_directory("no/such/directory"), "No such file");
}

static void a_file_in_its_place_is_survived(void) {
    int fd = open(in_directory("file"), O_CREAT | O_WRONLY, 0600);
    CHECK(fd >= 0);
    refused_directory(place, "");
}

static void no_permission_is_survived(void) {
    CHECK(mkdir(in_directory("locked"), 0700) == 0);
    if (geteuid() == 0) CHECK(chown(core_directory(), NOBODY, NOBODY) == 0 && chown(place, NOBODY, NOBODY) == 0);
    if (geteuid() == 0) CHECK(setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0);
    CHECK(chmod(place, 0500) == 0);
    refused_directory(place, "Permission denied");
    chmod(core_directory(), 0755); /* the program removes it in the end, as the user that it began as */
}

/* ---- a file system of its own ---- */

static void mount_tmpfs(const char *options, unsigned long flags) {
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
        check_skip("a file system can be mounted by root only");
    CHECK(mkdir(in_directory("mounted"), 0700) == 0 || errno == EEXIST);
    if (mount("none", place, "tmpfs", flags, options)) check_skip("a file system cannot be mounted here");
}

static void a_read_only_file_system_is_survived(void) {
    mount_tmpfs("size=1m,mode=700", MS_RDONLY);
    refused_directory(place, "Read-only");
}

static void a_full_file_system_is_survived_from_the_start(void) {
    mount_tmpfs("size=64k,mode=700", 0);
    refused_directory(place, "No space");
}

/* L1: each page that was handed out can be written; the next one is refused. */
static void a_file_system_that_fills_up_refuses_pages(void) {
    uint32_t page, pages = 0;
    mount_tmpfs("size=1m,mode=700", 0);
    CHECK_EQUAL(hl_flight_create(place, &problem), 0);
    CHECK(problem == NULL && has_path());
    errno = EXDEV;
    for (; pages < 1000 && (page = hl_flight_pages(1)); pages++) memset(hl_flight_page(page), 0xff, HL_PAGE_SIZE);
    CHECK(pages > 100 && pages < 256);
    CHECK_EQUAL(errno, EXDEV);
    CHECK_EQUAL(hl_flight.header->pages_refused, 1);
    CHECK_EQUAL(hl_flight_pages(1), 0);
}

/* ---- limits ---- */

static void limit_file_size(size_t bytes) {
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = bytes;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static void a_limit_for_file_sizes_is_survived_from_the_start(void) {
    limit_file_size(1 << 16);
    refused_directory(in_directory("limited"), "ulimit -f");
}

/* L1: beyond the limit the kernel would send SIGXFSZ, which ends this test. */
static void a_limit_set_later_refuses_pages(void) {
    uint32_t page, pages = 0;
    CHECK_EQUAL(hl_flight_create(in_directory("later"), &problem), 0);
    limit_file_size(100 * HL_PAGE_SIZE);
    for (; pages < 1000 && (page = hl_flight_pages(1)); pages++) memset(hl_flight_page(page), 0xff, HL_PAGE_SIZE);
    CHECK(pages < 100);
    CHECK(hl_flight.header->pages_refused > 0);
}

static void the_page_limit_refuses_pages(void) {
    CHECK_EQUAL(hl_flight_create(in_directory("pages"), &problem), 0);
    hl_flight.header->page_limit = HL_FIXED_PAGES + 3;
    CHECK_EQUAL(hl_flight_pages(2), HL_FIXED_PAGES);
    CHECK_EQUAL(hl_flight_pages(2), 0);
    CHECK_EQUAL(hl_flight_pages(1), HL_FIXED_PAGES + 2);
    CHECK_EQUAL(hl_flight_pages(1), 0);
    CHECK_EQUAL(hl_flight_string("abc", 3), 0);
    CHECK_EQUAL(hl_flight.header->pages_refused, 3);
    CHECK_EQUAL(hl_flight.header->page_count, HL_FIXED_PAGES + 3);
}

/* ---- descriptors that the program closes or takes over ---- */

static void a_closed_descriptor_is_opened_again(void) {
    CHECK_EQUAL(hl_flight_create(in_directory("closed"), &problem), 0);
    for (int fd = 3; fd < 1024; fd++) close(fd);
    CHECK(hl_flight_descriptor() >= 0);
    for (int i = 0; i < 300; i++) CHECK(hl_flight_pages(1) != 0);
}

static void anothers_file_under_our_number_is_left_alone(void) {
    char path[300];
    struct stat status;
    CHECK_EQUAL(hl_flight_create(in_directory("taken"), &problem), 0);
    snprintf(path, sizeof(path), "%s/victim", core_directory());
    const int fd = hl_flight.fd, victim = open(path, O_CREAT | O_RDWR, 0600);
    CHECK(dup2(victim, fd) == fd);
    for (int i = 0; i < 300; i++) hl_flight_pages(1);
    CHECK(fstat(victim, &status) == 0 && status.st_size == 0 && status.st_blocks == 0);
    CHECK(fcntl(fd, F_GETFD) >= 0); /* nor closed */
    CHECK(hl_flight_descriptor() >= 0 && hl_flight_descriptor() != fd);
}

static void without_name_and_descriptor_pages_run_out(void) {
    uint32_t page, pages = 0;
    CHECK_EQUAL(hl_flight_create(in_directory("lost"), &problem), 0);
    close(hl_flight.fd);
    hl_flight_remove();
    CHECK_EQUAL(hl_flight_descriptor(), -1);
    for (; pages < 1000 && (page = hl_flight_pages(1)); pages++) memset(hl_flight_page(page), 0xff, HL_PAGE_SIZE);
    CHECK(pages < 1000);
}

/* ---- strings and threads ---- */

static void strings_are_cut_at_their_longest(void) {
    static char bytes[HL_STRING_MAX + 100];
    size_t length;
    memset(bytes, 'b', sizeof(bytes));
    CHECK_EQUAL(hl_flight_create(in_directory("strings"), &problem), 0);
    for (int i = 0; i < 100; i++) {
        hl_string_ref text = hl_flight_string(bytes, sizeof(bytes));
        const char *kept = hl_flight_text(text, &length);
        CHECK_EQUAL(length, HL_STRING_MAX);
        CHECK(memcmp(kept, bytes, length) == 0 && kept[length] == 0);
    }
    hl_flight_text(hl_flight_string("", 0), &length);
    CHECK_EQUAL(length, 0);
}

enum { THREADS = 64, ROUNDS = 200 };
static hl_string_ref texts[THREADS][ROUNDS];
static uint32_t pages[THREADS][ROUNDS];

static size_t text_for(unsigned thread, unsigned round, char *bytes, size_t size) {
    return (size_t)snprintf(bytes, size, "%u-%u-%.*s", thread, round, (int)(round % 50),
                            "................................................");
}

static void take_strings_and_pages(unsigned thread) {
    char bytes[100];
    for (unsigned round = 0; round < ROUNDS; round++) {
        texts[thread][round] = hl_flight_string(bytes, text_for(thread, round, bytes, sizeof(bytes)));
        pages[thread][round] = hl_flight_pages(1);
        *(uint32_t *)hl_flight_page(pages[thread][round]) = thread << 16 | round;
    }
}

/* L2 */
static void threads_get_places_of_their_own(void) {
    char bytes[100];
    size_t length;
    CHECK_EQUAL(hl_flight_create(in_directory("threads"), &problem), 0);
    core_threads(THREADS, take_strings_and_pages);
    for (unsigned thread = 0; thread < THREADS; thread++)
        for (unsigned round = 0; round < ROUNDS; round++) {
            const char *text = hl_flight_text(texts[thread][round], &length);
            CHECK_EQUAL(length, text_for(thread, round, bytes, sizeof(bytes)));
            CHECK(memcmp(text, bytes, length) == 0 && text[length] == 0);
            CHECK_EQUAL(*(uint32_t *)hl_flight_page(pages[thread][round]), thread << 16 | round);
        }
}

/* ---- fork ---- */

static uint64_t *kept;
static char parents_path[600];

static void fork_with(void (*part)(void)) {
    check_in_child(part);
}

/* In a child that takes over at once. */
static void become_child(void) {
    CHECK_EQUAL(hl_flight_begin_child(NULL, 0, 1), 0);
    CHECK(hl_flight_rests());
    CHECK_EQUAL(hl_flight_bring(), 0);
    CHECK_EQUAL(hl_flight_become_child(), 0);
    CHECK(!hl_flight_rests());
    hl_flight_leave_parent();
}

static void be_a_child(void) {
    char path[600];
    char *base = hl_flight.base;
    become_child();
    CHECK(hl_flight.base == base); /* L3 */
    CHECK_EQUAL(*kept, 4711);
    CHECK_EQUAL(hl_flight.header->pid, getpid());
    CHECK_EQUAL(hl_flight.header->forked_from, getppid());
    CHECK_EQUAL(hl_flight_path(path, sizeof(path)), 0); /* nobody reads what is not complete */
    hl_flight_show();
    CHECK(hl_flight_path(path, sizeof(path)) && strcmp(path, parents_path) != 0 && access(path, F_OK) == 0);
    *kept = 1;
    check_usable();
    hl_flight_remove();
}

static void a_child_goes_on_in_a_file_of_its_own(void) {
    CHECK_EQUAL(hl_flight_create(in_directory("fork"), &problem), 0);
    hl_flight_path(parents_path, sizeof(parents_path));
    kept = hl_flight_page(hl_flight_pages(1));
    *kept = 4711;
    for (int i = 0; i < 3; i++) fork_with(be_a_child);
    CHECK_EQUAL(*kept, 4711);
    CHECK_EQUAL(hl_flight.header->pid, getpid());
    CHECK(access(parents_path, F_OK) == 0);
}

/* Its descriptor is gone, so that it takes over in memory; of the two pages only the second is its own already. */
static void write_across_the_end(void) {
    static char bytes[2 * HL_PAGE_SIZE];
    memset(bytes, 'a', sizeof(bytes));
    CHECK_EQUAL(hl_flight_begin_child(NULL, 0, 1), 0);
    const uint32_t own = hl_flight_pages(1);
    char *first = hl_flight_page(own - 1);
    CHECK(first == (char *)kept);
    close(hl_flight.fd);
    CHECK_EQUAL(hl_flight_bring(), 0);
    CHECK_EQUAL(hl_flight_write_child((uint64_t)(own - 1) * HL_PAGE_SIZE, bytes, sizeof(bytes)), 0);
    CHECK_EQUAL(hl_flight_become_child(), 0);
    CHECK(memcmp(first, bytes, sizeof(bytes)) == 0);
}

static void a_child_writes_pages_that_are_its_own_in_part(void) {
    CHECK_EQUAL(hl_flight_create(in_directory("across"), &problem), 0);
    kept = hl_flight_page(hl_flight_pages(1));
    fork_with(write_across_the_end);
}

static void do_nothing(void) {}

static void a_child_that_counts_nothing_leaves_nothing(void) {
    char command[400];
    CHECK_EQUAL(hl_flight_create(in_directory("idle"), &problem), 0);
    const int next = dup(0);
    close(next);
    fork_with(do_nothing);
    CHECK_EQUAL(dup(0), next); /* no descriptor left open */
    snprintf(command, sizeof(command), "test $(ls %s | wc -l) = 1", place);
    CHECK(system(command) == 0);
}

static void be_a_child_in_memory(void) {
    char *base = hl_flight.base;
    become_child();
    CHECK(hl_flight.base == base);
    CHECK_EQUAL(*kept, 4711);
    *kept = 1;
    check_usable();
}

static void a_child_of_a_flight_in_memory_has_its_own(void) {
    limit_file_size(1 << 16);
    CHECK_EQUAL(hl_flight_create(in_directory("memory"), &problem), 0);
    CHECK(hl_flight.fd < 0);
    kept = hl_flight_page(hl_flight_pages(1));
    *kept = 4711;
    fork_with(be_a_child_in_memory);
    CHECK_EQUAL(*kept, 4711);
}

enum { FILLER = 3000, NAME_LENGTH = 200, CHILDREN = 5, NAMES_A_CHILD = 20000 };
static struct hl_object_class *class;
static uint32_t children;

static void know_the_class(void) {
    become_child();
    size_t length;
    const char *text = hl_flight_text(class->name, &length);
    CHECK(class->name < hl_flight.header->page_count * HL_PAGE_SIZE / 8);
    CHECK_EQUAL(length, NAME_LENGTH);
    CHECK_EQUAL(text[NAME_LENGTH - 1], 'n');
}

static void name_the_class(void) {
    char text[NAME_LENGTH];
    memset(text, 'n', sizeof(text));
    __atomic_store_n(&class->name, hl_flight_string(text, sizeof(text)), __ATOMIC_RELEASE);
}

/* The first thread forks while the other one gives the class one name after the other. */
static void fork_or_name(unsigned number) {
    uint32_t named = 0, child;
    while (number && (child = __atomic_load_n(&children, __ATOMIC_ACQUIRE)) < CHILDREN) {
        if (named == (child + 1) * NAMES_A_CHILD) continue;
        name_the_class();
        named++;
    }
    while (!number && children < CHILDREN) {
        CHECK_EQUAL(check_in_child(know_the_class), 0);
        __atomic_fetch_add(&children, 1, __ATOMIC_RELEASE);
    }
}

static void a_class_is_brought_before_its_name(void) {
    CHECK_EQUAL(hl_flight_create(in_directory("named"), &problem), 0);
    memset(hl_flight_page(hl_flight_pages(FILLER)), 1, (size_t)FILLER * HL_PAGE_SIZE);
    hl_flight.header->object_directory = hl_flight_pages(HL_OBJECT_DIRECTORY_PAGES);
    uint32_t *directory = hl_flight_page(hl_flight.header->object_directory);
    class = hl_flight_page_behind(&directory[HL_OBJECT_ROW_PAGES]);
    name_the_class();
    core_threads(2, fork_or_name);
}

static const struct check_test tests[] = {
    {"a_new_file_says_what_it_is", a_new_file_says_what_it_is},
    {"a_directory_whose_name_is_too_long_is_refused", a_directory_whose_name_is_too_long_is_refused},
    {"a_directory_open_to_others_is_refused", a_directory_open_to_others_is_refused},
    {"a_link_is_refused", a_link_is_refused},
    {"anothers_directory_is_refused", anothers_directory_is_refused},
    {"a_missing_parent_is_survived", a_missing_parent_is_survived},
    {"a_file_in_its_place_is_survived", a_file_in_its_place_is_survived},
    {"no_permission_is_survived", no_permission_is_survived},
    {"a_read_only_file_system_is_survived", a_read_only_file_system_is_survived},
    {"a_full_file_system_is_survived_from_the_start", a_full_file_system_is_survived_from_the_start},
    {"a_file_system_that_fills_up_refuses_pages", a_file_system_that_fills_up_refuses_pages},
    {"a_limit_for_file_sizes_is_survived_from_the_start", a_limit_for_file_sizes_is_survived_from_the_start},
    {"a_limit_set_later_refuses_pages", a_limit_set_later_refuses_pages},
    {"the_page_limit_refuses_pages", the_page_limit_refuses_pages},
    {"a_closed_descriptor_is_opened_again", a_closed_descriptor_is_opened_again},
    {"anothers_file_under_our_number_is_left_alone", anothers_file_under_our_number_is_left_alone},
    {"without_name_and_descriptor_pages_run_out", without_name_and_descriptor_pages_run_out},
    {"strings_are_cut_at_their_longest", strings_are_cut_at_their_longest},
    {"threads_get_places_of_their_own", threads_get_places_of_their_own},
    {"a_child_goes_on_in_a_file_of_its_own", a_child_goes_on_in_a_file_of_its_own},
    {"a_child_writes_pages_that_are_its_own_in_part", a_child_writes_pages_that_are_its_own_in_part},
    {"a_child_that_counts_nothing_leaves_nothing", a_child_that_counts_nothing_leaves_nothing},
    {"a_child_of_a_flight_in_memory_has_its_own", a_child_of_a_flight_in_memory_has_its_own},
    {"a_class_is_brought_before_its_name", a_class_is_brought_before_its_name},
};
CHECK_MAIN(tests)
