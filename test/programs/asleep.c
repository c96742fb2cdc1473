/* asleep [CHILD]: waits for ever; in the kernel for a child, where there is a word. asleep thread: only one of its
 * threads waits for a child; when this has ended, the program says so. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static void *wait_for_child(void *none) {
    if (vfork() == 0)
        for (;;) pause();
    return write(STDOUT_FILENO, "went on\n", 8) == 8 ? none : NULL;
}

int main(int count, char **words) {
    pthread_t thread;
    if (count > 1 && !strcmp(words[1], "thread"))
        pthread_create(&thread, NULL, wait_for_child, NULL);
    else if (count > 1)
        wait_for_child(NULL);
    for (;;) pause();
}
