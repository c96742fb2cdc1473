/* SPDX-License-Identifier: MIT */
/* A statically linked program: the preload cannot reach it. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    char *block = malloc(1000);
    snprintf(block, 1000, "static %d %s", argc, argv[0] ? "named" : "");
    puts(block);
    free(block);
    return 3;
}
