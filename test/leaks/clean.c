/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <locale.h>
#include <malloc.h>
#include <pthread.h>
#include <regex.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "../c/support/machine.h"

#include "corpus.h"

struct node {
    struct node *next;
    char text[40];
};

static struct node *node(struct node *next) {
    struct node *fresh = calloc(1, sizeof(*fresh));
    fresh->next = next;
    return fresh;
}

CORPUS_FUNCTION held_by_a_static_variable(void) {
    static void *kept;
    kept = malloc(301);
}

void *corpus_global;

CORPUS_FUNCTION held_by_a_global_variable(void) {
    corpus_global = malloc(302);
}

static void *initialised[4] = {&corpus_global};

CORPUS_FUNCTION held_by_initialised_data(void) {
    initialised[2] = malloc(303);
}

CORPUS_FUNCTION held_by_a_list(void) {
    static struct node *head;
    head = node(node(node(node(NULL))));
}

CORPUS_FUNCTION held_by_a_ring(void) {
    static struct node *head;
    struct node *last = node(NULL);
    head = node(node(last));
    last->next = head;
}

CORPUS_FUNCTION held_by_a_table(void) {
    static struct node **table;
    table = calloc(64, sizeof(*table));
    for (int i = 0; i < 64; i += 3) table[i] = node(NULL);
}

CORPUS_FUNCTION held_by_a_moved_table(void) {
    static void **table;
    table = calloc(4, sizeof(*table));
    for (int i = 0; i < 4; i++) table[i] = malloc(304);
    table = realloc(table, 100000 * sizeof(*table));
}

CORPUS_FUNCTION held_by_a_megabyte(void) {
    static void **large;
    large = malloc(1 << 20);
    large[100000] = malloc(305);
}

CORPUS_FUNCTION held_by_an_aligned_block(void) {
    static void *aligned;
    if (posix_memalign(&aligned, 4096, 8192)) abort();
    ((void **)aligned)[1000] = malloc(306);
}

/* ---- threads that live ---- */

static __thread void *of_this_thread;
static pthread_key_t key;
static sem_t ready;

static void start(void *(*work)(void *)) {
    pthread_t thread;
    sem_init(&ready, 0, 0);
    if (pthread_create(&thread, NULL, work, NULL)) abort();
    pthread_detach(thread);
    while (sem_wait(&ready)) continue;
}

static void rest(void) {
    sem_post(&ready);
    for (;;) pause();
}

CORPUS_FUNCTION held_by_tls_of_this_thread(void) {
    of_this_thread = malloc(311);
}

static void *keep_in_tls(void *unused) {
    of_this_thread = malloc(312);
    rest();
    return unused;
}

CORPUS_FUNCTION held_by_tls_of_a_thread(void) {
    start(keep_in_tls);
}

static void *keep_on_stack(void *unused) {
    void *volatile local = malloc(313);
    rest();
    return local ? unused : NULL;
}

CORPUS_FUNCTION held_by_the_stack_of_a_thread(void) {
    start(keep_on_stack);
}

/* Nothing but a register that callees preserve has it, in a system call that saves none. */
static void *keep_in_register(void *unused) {
    void *block = malloc(314);
    sem_post(&ready);
    KEEP_IN_REGISTER(block);
    return unused;
}

CORPUS_FUNCTION held_by_a_register_of_a_thread(void) {
    start(keep_in_register);
    usleep(50000); /* it posts before it moves the pointer: until then its stack has it */
}

static void *keep_as_specific(void *unused) {
    pthread_setspecific(key, malloc(315));
    rest();
    return unused;
}

CORPUS_FUNCTION held_by_the_key_of_a_thread(void) {
    pthread_key_create(&key, NULL);
    start(keep_as_specific);
}

static void *free_in_thread(void *unused) {
    void *volatile block = malloc(316);
    free(block);
    return unused;
}

CORPUS_FUNCTION freed_by_a_thread(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, free_in_thread, NULL)) abort();
    pthread_join(thread, NULL);
}

static ucontext_t here, there;

static void in_context(void) {
    void *volatile local = malloc(317);
    swapcontext(&there, &here);
    free(local);
}

CORPUS_FUNCTION held_by_a_context_in_a_block(void) {
    getcontext(&there);
    there.uc_stack.ss_sp = malloc(65536);
    there.uc_stack.ss_size = 65536;
    makecontext(&there, in_context, 0);
    swapcontext(&here, &there);
}

/* ---- other memory ---- */

static void **map(int flags) {
    return mmap(NULL, 8192, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
}

CORPUS_FUNCTION held_by_a_mapping(void) {
    map(MAP_PRIVATE)[900] = malloc(321);
}

CORPUS_FUNCTION held_by_a_shared_mapping(void) {
    map(MAP_SHARED)[900] = malloc(322);
}

static void **map_advised(int advice) {
    void **page = map(MAP_PRIVATE);
    if (madvise(page, 8192, advice)) abort();
    return page;
}

CORPUS_FUNCTION held_by_a_mapping_that_is_not_forked(void) {
    map_advised(MADV_DONTFORK)[900] = malloc(328);
}

CORPUS_FUNCTION held_by_a_mapping_that_is_wiped_on_fork(void) {
    map_advised(MADV_WIPEONFORK)[900] = malloc(329);
}

static void **map_file(int fd) {
    if (ftruncate(fd, 8192)) abort();
    void **page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return page;
}

CORPUS_FUNCTION held_by_a_memory_file(void) {
    map_file(memfd_create("held", 0))[900] = malloc(325);
}

static char shared_memory[] = "/dev/shm/heapline-corpus-XXXXXX";

static void remove_shared_memory(void) {
    unlink(shared_memory);
}

CORPUS_FUNCTION held_by_shared_memory(void) {
    map_file(mkstemp(shared_memory))[900] = malloc(326);
    atexit(remove_shared_memory);
}

CORPUS_FUNCTION held_by_a_file_without_a_name(void) {
    char path[] = "/tmp/heapline-corpus-XXXXXX";
    const int fd = mkstemp(path);
    unlink(path);
    map_file(fd)[900] = malloc(327);
}

CORPUS_FUNCTION held_by_a_sealed_mapping(void) {
    void **page = map(MAP_PRIVATE);
    page[10] = malloc(323);
    mprotect(page, 8192, PROT_READ);
}

CORPUS_FUNCTION held_where_a_large_block_was(void) {
    void **block = malloc(1 << 20);
    void *place = (void *)((uintptr_t)block & ~(uintptr_t)4095);
    free(block);
    void **page = mmap(place, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (page == MAP_FAILED) page = map(MAP_PRIVATE);
    page[600] = malloc(324);
}

CORPUS_FUNCTION held_by_the_environment(void) {
    putenv(strdup("HEAPLINE_CORPUS=a value"));
}

CORPUS_FUNCTION held_by_stdio(void) {
    static FILE *stream;
    stream = fopen("/dev/null", "w");
    setvbuf(stream, malloc(1024), _IOFBF, 1024);
    fputs("text", stream);
}

static void at_end(void) {}

CORPUS_FUNCTION held_by_atexit(void) {
    for (int i = 0; i < 40; i++) atexit(at_end);
}

CORPUS_FUNCTION held_by_a_pointer_behind_a_length(void) {
    static size_t *elements;
    elements = malloc(8 + 30 * 24);
    *elements = 30;
    elements++;
}

/* ---- freed ---- */

CORPUS_FUNCTION freed_list(void) {
    struct node *head = node(node(node(NULL))), *next;
    for (; head; head = next) {
        next = head->next;
        free(head);
    }
}

CORPUS_FUNCTION freed_after_realloc(void) {
    char *volatile block = malloc(331);
    for (size_t size = 1; size < 100000; size *= 3) block = realloc(block, size);
    free(block);
}

CORPUS_FUNCTION freed_aligned(void) {
    void *block;
    for (size_t alignment = 16; alignment <= 65536; alignment *= 2)
        if (!posix_memalign(&block, alignment, 332)) free(block);
}

CORPUS_FUNCTION freed_of_no_size(void) {
    void *volatile block = malloc(0);
    free(block);
}

CORPUS_FUNCTION freed_by_realloc_to_nothing(void) {
    void *volatile block = malloc(333);
    block = realloc(block, 0);
    free(block);
}

CORPUS_FUNCTION freed_regular_expression(void) {
    regex_t expression;
    if (regcomp(&expression, "a(b|c)*d", REG_EXTENDED)) abort();
    regexec(&expression, "abcbcd", 0, NULL, 0);
    regfree(&expression);
}

CORPUS_FUNCTION freed_memory_stream(void) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    fprintf(stream, "%01000d", 7);
    fclose(stream);
    free(text);
}

CORPUS_FUNCTION freed_large(void) {
    for (int i = 0; i < 5; i++) {
        char *volatile block = malloc(4 << 20);
        block[0] = 1;
        free(block);
    }
}

const struct corpus_case corpus_clean[] = {
    CORPUS_CASE(held_by_a_static_variable),
    CORPUS_CASE(held_by_a_global_variable),
    CORPUS_CASE(held_by_initialised_data),
    CORPUS_CASE(held_by_a_list),
    CORPUS_CASE(held_by_a_ring),
    CORPUS_CASE(held_by_a_table),
    CORPUS_CASE(held_by_a_moved_table),
    CORPUS_CASE(held_by_a_megabyte),
    CORPUS_CASE(held_by_an_aligned_block),
    CORPUS_CASE(held_by_tls_of_this_thread),
    CORPUS_CASE(held_by_tls_of_a_thread),
    CORPUS_CASE(held_by_the_stack_of_a_thread),
    CORPUS_CASE(held_by_a_register_of_a_thread),
    CORPUS_CASE(held_by_the_key_of_a_thread),
    CORPUS_CASE(freed_by_a_thread),
    CORPUS_CASE(held_by_a_context_in_a_block),
    CORPUS_CASE(held_by_a_mapping),
    CORPUS_CASE(held_by_a_shared_mapping),
    CORPUS_CASE(held_by_a_mapping_that_is_not_forked),
    CORPUS_CASE(held_by_a_mapping_that_is_wiped_on_fork),
    CORPUS_CASE(held_by_a_memory_file),
    CORPUS_CASE(held_by_shared_memory),
    CORPUS_CASE(held_by_a_file_without_a_name),
    CORPUS_CASE(held_by_a_sealed_mapping),
    CORPUS_CASE(held_where_a_large_block_was),
    CORPUS_CASE(held_by_the_environment),
    CORPUS_CASE(held_by_stdio),
    CORPUS_CASE(held_by_atexit),
    CORPUS_CASE(held_by_a_pointer_behind_a_length),
    CORPUS_CASE(freed_list),
    CORPUS_CASE(freed_after_realloc),
    CORPUS_CASE(freed_aligned),
    CORPUS_CASE(freed_of_no_size),
    CORPUS_CASE(freed_by_realloc_to_nothing),
    CORPUS_CASE(freed_regular_expression),
    CORPUS_CASE(freed_memory_stream),
    CORPUS_CASE(freed_large),
    {NULL, NULL},
};
