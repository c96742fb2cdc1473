/* SPDX-License-Identifier: MIT */
/* asleep [CHILD]: waits for ever; in the kernel for a child where there is a word. */
#include <unistd.h>

int main(int count, char **words) {
    (void)words;
    if (count > 1 && vfork() == 0)
        for (;;) pause();
    for (;;) pause();
}
