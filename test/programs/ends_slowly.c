/* A library whose process, at its end, says so and waits for a byte. */
#include <unistd.h>

static void __attribute__((destructor)) process_ends(void) {
    char byte;
    if (write(STDOUT_FILENO, "ending\n", 7) == 7 && read(STDIN_FILENO, &byte, 1) < 0) _exit(7);
}
