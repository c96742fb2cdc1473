/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "corpus.h"

struct node {
    struct node *next, *other;
    char text[32];
};

static void *volatile sink;

static struct node *node(struct node *next) {
    struct node *fresh = calloc(1, sizeof(*fresh));
    fresh->next = next;
    return fresh;
}

CORPUS_FUNCTION lost_at_return(void) {
    char *block = malloc(101);
    block[0] = 1;
}

CORPUS_FUNCTION lost_in_a_loop(void) {
    for (int i = 0; i < 10; i++) sink = malloc(102);
    sink = NULL;
}

static jmp_buf failed;

__attribute__((noinline)) static void parse(char *copy) {
    copy[0] = 'x';
    longjmp(failed, 1);
}

CORPUS_FUNCTION lost_on_an_error_path(void) {
    if (setjmp(failed)) return;
    char *copy = malloc(103);
    parse(copy);
    free(copy);
}

CORPUS_FUNCTION lost_list(void) {
    node(node(node(node(node(NULL)))));
}

CORPUS_FUNCTION lost_cycle(void) {
    struct node *last = node(NULL), *first = node(node(last));
    last->next = first;
}

CORPUS_FUNCTION lost_with_itself(void) {
    struct node *alone = node(NULL);
    alone->next = alone;
}

static struct node *tree(int depth) {
    struct node *fresh = node(depth ? tree(depth - 1) : NULL);
    fresh->other = depth ? tree(depth - 1) : NULL;
    return fresh;
}

CORPUS_FUNCTION lost_tree(void) {
    tree(2);
}

CORPUS_FUNCTION lost_by_overwriting(void) {
    static void *kept;
    kept = malloc(104);
    kept = NULL;
}

CORPUS_FUNCTION lost_member_of_a_freed_struct(void) {
    struct node *owner = node(node(NULL));
    free(owner);
}

CORPUS_FUNCTION lost_after_realloc(void) {
    char *block = malloc(10);
    block = realloc(block, 105);
    block[0] = 1;
}

CORPUS_FUNCTION lost_by_calloc(void) {
    sink = calloc(2, 53);
    sink = NULL;
}

CORPUS_FUNCTION lost_by_posix_memalign(void) {
    void *block;
    if (posix_memalign(&block, 256, 107)) abort();
}

CORPUS_FUNCTION lost_by_aligned_alloc(void) {
    sink = aligned_alloc(64, 128);
    sink = NULL;
}

CORPUS_FUNCTION lost_by_memalign(void) {
    sink = memalign(32, 109);
    sink = NULL;
}

CORPUS_FUNCTION lost_by_reallocarray(void) {
    sink = reallocarray(NULL, 5, 22);
    sink = NULL;
}

CORPUS_FUNCTION lost_by_strdup(void) {
    sink = strdup("a string of some length");
    sink = NULL;
}

CORPUS_FUNCTION lost_by_asprintf(void) {
    char *text;
    if (asprintf(&text, "%d is a number", 12345) < 0) abort();
}

CORPUS_FUNCTION lost_of_no_size(void) {
    sink = malloc(0);
    sink = NULL;
}

CORPUS_FUNCTION lost_of_one_byte(void) {
    sink = malloc(1);
    sink = NULL;
}

CORPUS_FUNCTION lost_of_a_megabyte(void) {
    sink = malloc(1 << 20);
    sink = NULL;
}

CORPUS_FUNCTION lost_of_eight_megabytes(void) {
    sink = malloc(8 << 20);
    sink = NULL;
}

CORPUS_FUNCTION lost_directory_stream(void) {
    sink = opendir("/");
    sink = NULL;
}

/* ---- threads ---- */

static __thread void *of_this_thread;
static pthread_key_t key;

static void in_thread(void *(*work)(void *)) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL)) abort();
    pthread_join(thread, NULL);
}

static void *keep_in_tls(void *unused) {
    of_this_thread = malloc(111);
    return unused;
}

CORPUS_FUNCTION lost_with_the_tls_of_a_dead_thread(void) {
    in_thread(keep_in_tls);
}

/* All of them live before the first one ends: glibc keeps each one's storage for a later thread. */
static pthread_barrier_t together;

static void *keep_in_tls_together(void *unused) {
    of_this_thread = malloc(119);
    pthread_barrier_wait(&together);
    return unused;
}

CORPUS_FUNCTION lost_with_the_tls_of_threads_at_once(void) {
    enum { THREADS = 5 };
    pthread_t threads[THREADS];
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, keep_in_tls_together, NULL)) abort();
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

static void *keep_on_stack(void *unused) {
    void *volatile local = malloc(112);
    return local ? unused : NULL;
}

CORPUS_FUNCTION lost_on_the_stack_of_a_dead_thread(void) {
    in_thread(keep_on_stack);
}

static void *keep_as_specific(void *unused) {
    pthread_setspecific(key, malloc(113));
    return unused;
}

CORPUS_FUNCTION lost_with_the_key_of_a_dead_thread(void) {
    pthread_key_create(&key, NULL);
    in_thread(keep_as_specific);
    pthread_key_delete(key);
}

static void *allocate_in_thread(void *unused) {
    for (int i = 0; i < 3; i++) sink = malloc(114);
    sink = NULL;
    return unused;
}

CORPUS_FUNCTION lost_by_a_dead_thread(void) {
    in_thread(allocate_in_thread);
}

/* ---- pointers that are none ---- */

static uintptr_t hidden[8];

CORPUS_FUNCTION lost_behind_an_xor(void) {
    hidden[0] = (uintptr_t)malloc(115) ^ 0x5555555555555555u;
}

CORPUS_FUNCTION lost_behind_a_tag_in_high_bits(void) {
    hidden[1] = (uintptr_t)malloc(116) | (uintptr_t)1 << 60;
}

CORPUS_FUNCTION possible_behind_a_tag_in_low_bits(void) {
    hidden[2] = (uintptr_t)malloc(117) | 1;
}

CORPUS_FUNCTION possible_by_a_pointer_into_it(void) {
    hidden[3] = (uintptr_t)malloc(218) + 40;
}

CORPUS_FUNCTION possible_chain(void) {
    hidden[4] = (uintptr_t)node(node(NULL)) + 20;
}

CORPUS_FUNCTION lost_behind_its_end(void) {
    hidden[5] = (uintptr_t)malloc(120) + 120;
}

CORPUS_FUNCTION lost_in_halves(void) {
    const uintptr_t block = (uintptr_t)malloc(121);
    hidden[6] = block & 0xffffffffu;
    hidden[7] = block >> 32;
}

CORPUS_FUNCTION lost_and_pointed_into_by_a_lost_one(void) {
    struct node *lower = node(NULL), *upper = node(NULL);
    upper->next = (struct node *)((char *)lower + 16);
}

/* ---- owners that are gone ---- */

CORPUS_FUNCTION lost_with_an_unmapped_page(void) {
    void **page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page[3] = malloc(122);
    munmap(page, 4096);
}

CORPUS_FUNCTION lost_in_a_freed_block(void) {
    void **table = malloc(400);
    table[20] = malloc(123);
    free(table);
}

struct buffer {
    char *bytes;
    size_t size;
};

CORPUS_FUNCTION lost_handle_with_its_buffer(void) {
    struct buffer *buffer = malloc(sizeof(*buffer));
    buffer->size = 2000;
    buffer->bytes = malloc(buffer->size);
}

CORPUS_FUNCTION lost_table_with_its_entries(void) {
    struct node **table = calloc(16, sizeof(*table));
    for (int i = 0; i < 16; i++) table[i] = node(NULL);
}

CORPUS_FUNCTION lost_half_of_a_static_list(void) {
    static struct node *head;
    head = node(node(node(NULL)));
    head->next = NULL;
}

CORPUS_FUNCTION lost_by_a_union(void) {
    static union {
        void *pointer;
        double number;
    } either;
    either.pointer = malloc(124);
    either.number = 1.5;
}

CORPUS_FUNCTION lost_by_shrinking_an_array(void) {
    static void **array;
    array = calloc(4, sizeof(*array));
    array[0] = malloc(125);
    array[3] = malloc(126);
    array = realloc(array, 2 * sizeof(*array));
}

const struct corpus_case corpus_lost[] = {
    CORPUS_CASE(lost_at_return),
    CORPUS_CASE(lost_in_a_loop),
    CORPUS_CASE(lost_on_an_error_path),
    CORPUS_CASE(lost_list),
    CORPUS_CASE(lost_cycle),
    CORPUS_CASE(lost_with_itself),
    CORPUS_CASE(lost_tree),
    CORPUS_CASE(lost_by_overwriting),
    CORPUS_CASE(lost_member_of_a_freed_struct),
    CORPUS_CASE(lost_after_realloc),
    CORPUS_CASE(lost_by_calloc),
    CORPUS_CASE(lost_by_posix_memalign),
    CORPUS_CASE(lost_by_aligned_alloc),
    CORPUS_CASE(lost_by_memalign),
    CORPUS_CASE(lost_by_reallocarray),
    CORPUS_CASE(lost_by_strdup),
    CORPUS_CASE(lost_by_asprintf),
    CORPUS_CASE(lost_of_no_size),
    CORPUS_CASE(lost_of_one_byte),
    CORPUS_CASE(lost_of_a_megabyte),
    CORPUS_CASE(lost_of_eight_megabytes),
    CORPUS_CASE(lost_directory_stream),
    CORPUS_CASE(lost_with_the_tls_of_a_dead_thread),
    CORPUS_CASE(lost_with_the_tls_of_threads_at_once),
    CORPUS_CASE(lost_on_the_stack_of_a_dead_thread),
    CORPUS_CASE(lost_with_the_key_of_a_dead_thread),
    CORPUS_CASE(lost_by_a_dead_thread),
    CORPUS_CASE(lost_behind_an_xor),
    CORPUS_CASE(lost_behind_a_tag_in_high_bits),
    CORPUS_CASE(possible_behind_a_tag_in_low_bits),
    CORPUS_CASE(possible_by_a_pointer_into_it),
    CORPUS_CASE(possible_chain),
    CORPUS_CASE(lost_behind_its_end),
    CORPUS_CASE(lost_in_halves),
    CORPUS_CASE(lost_and_pointed_into_by_a_lost_one),
    CORPUS_CASE(lost_with_an_unmapped_page),
    CORPUS_CASE(lost_in_a_freed_block),
    CORPUS_CASE(lost_handle_with_its_buffer),
    CORPUS_CASE(lost_table_with_its_entries),
    CORPUS_CASE(lost_half_of_a_static_list),
    CORPUS_CASE(lost_by_a_union),
    CORPUS_CASE(lost_by_shrinking_an_array),
    {NULL, NULL},
};
