/* VERIFYING [f][l]: four threads keep blocks with a pattern in each, look after it, move and free them; another one
 * forks (f), another one loads a library and takes it away (l). For each line that it reads it tells how often that was
 * done, and how often something was wrong; a number on the line: so many blocks of 502 bytes are lost first; a negative
 * one: so many of 20,000 bytes are made, and freed but for the last. Its status is 0 where nothing was wrong. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, SLOTS = 256, LARGEST = 3000, CHILD_STATUS = 7, AT_ONCE = 64 };
struct slot {
    unsigned char *block;
    size_t bytes;
};
static atomic_int stop, wrong;
static atomic_long rounds;

static void look_after(const struct slot *slot, int pattern) {
    for (size_t i = 0; i < slot->bytes; i++)
        if (slot->block[i] != pattern) {
            wrong++;
            return;
        }
}

static void *keep_blocks(void *number) {
    unsigned random = *(unsigned *)number;
    struct slot slots[SLOTS] = {{NULL, 0}};
    while (!stop) {
        random = random * 1103515245 + 12345;
        const int pattern = random >> 8 & (SLOTS - 1);
        struct slot *slot = &slots[pattern];
        const size_t bytes = 1 + (random >> 16) % LARGEST;
        look_after(slot, pattern);
        if (slot->block && random & 64) {
            free(slot->block);
            *slot = (struct slot){NULL, 0};
        } else {
            slot->block = !slot->block && random & 32 ? calloc(1, bytes) : realloc(slot->block, bytes);
            slot->bytes = bytes;
            memset(slot->block, pattern, bytes);
        }
        if (++rounds % AT_ONCE == 0) usleep(100); /* others want the processor, too */
    }
    for (int i = 0; i < SLOTS; i++) free(slots[i].block);
    return NULL;
}

static void *fork_children(void *unused) {
    int status;
    (void)unused;
    while (!stop) {
        const pid_t child = fork();
        if (child == 0) {
            for (size_t i = 0; i < 100; i++) free(malloc(100 + i));
            _exit(CHILD_STATUS);
        }
        if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != CHILD_STATUS) wrong++;
    }
    return NULL;
}

static void *load_libraries(void *unused) {
    (void)unused;
    while (!stop) {
        void *library = dlopen("libm.so.6", RTLD_NOW);
        if (!library || dlclose(library)) wrong++;
    }
    return NULL;
}

static void __attribute__((noinline)) lose(size_t bytes) {
    void *volatile block = malloc(bytes);
    memset(block, 1, bytes);
    block = NULL;
}

static void *kept;

/* What was freed lies below the last one. */
static void make_and_free(int count) {
    void **blocks = calloc((size_t)count, sizeof(*blocks));
    for (int i = 0; i < count; i++) blocks[i] = memset(malloc(20000), 1, 20000);
    kept = blocks[count - 1];
    for (int i = 0; i < count - 1; i++) free(blocks[i]);
    free(blocks);
}

int main(int count, char **words) {
    pthread_t threads[THREADS + 2];
    unsigned numbers[THREADS];
    char line[64];
    int started = 0;
    const char *how = count > 1 ? words[1] : "";
    setvbuf(stdout, NULL, _IONBF, 0);
    for (; started < THREADS; started++) {
        numbers[started] = (unsigned)started;
        pthread_create(&threads[started], NULL, keep_blocks, &numbers[started]);
    }
    if (strchr(how, 'f')) pthread_create(&threads[started++], NULL, fork_children, NULL);
    if (strchr(how, 'l')) pthread_create(&threads[started++], NULL, load_libraries, NULL);
    puts("ready");
    while (fgets(line, sizeof(line), stdin)) {
        const int number = atoi(line);
        for (int i = 0; i < number; i++) lose(502);
        if (number < 0) make_and_free(-number);
        printf("%ld %d\n", (long)rounds, (int)wrong);
    }
    stop = 1;
    while (started) pthread_join(threads[--started], NULL);
    puts("end");
    return wrong != 0;
}
