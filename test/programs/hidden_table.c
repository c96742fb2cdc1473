/* Keeps the address of malloc in a block, and asks for memory by that: for each number that it reads so many blocks of
 * 20,000 bytes, which it frees as others do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table {
    void *(*allocate)(size_t bytes);
};

int main(void) {
    char line[64];
    struct table *volatile table = malloc(sizeof(*table));
    table->allocate = malloc;
    setvbuf(stdout, NULL, _IONBF, 0);
    puts("ready");
    while (fgets(line, sizeof(line), stdin)) {
        for (int i = atoi(line); i > 0; i--) free(memset(table->allocate(20000), 1, 20000));
        puts("0 0");
    }
    puts("end");
    return 0;
}
