// SPDX-License-Identifier: MIT
// A program without Ruby that keeps, frees and loses blocks; the tests know each line. Arguments: words that it runs as
// a child, which it waits for.
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

static std::vector<void *> *kept = new std::vector<void *>;

__attribute__((noinline)) static void keep(size_t size) {
    kept->push_back(malloc(size));
}

__attribute__((noinline)) static void lose(size_t size) {
    memset(malloc(size), 1, size);
}

static void in_a_thread() {
    for (int i = 0; i < 1000; i++) free(malloc(303));
}

static void overwrite_the_stack() {
    volatile char bytes[8192];
    for (char volatile &byte : bytes) byte = 1;
}

int main(int count, char **words) {
    for (int i = 0; i < 700; i++) keep(1001);
    for (int i = 0; i < 40; i++) lose(502);
    std::thread(in_a_thread).join();
    for (int i = 0; i < 50; i++) delete new std::string(404, 'x');
    void *lasting = calloc(5, 101);
    usleep(600000);
    free(lasting);
    overwrite_the_stack();
    if (count > 1) {
        if (!fork()) execvp(words[1], words + 1);
        wait(nullptr);
    }
    write(STDOUT_FILENO, "done\n", 5);
    return 5;
}
