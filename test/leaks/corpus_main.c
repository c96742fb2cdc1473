/* SPDX-License-Identifier: MIT */
/* The corpus as a program of its own: runs the cases that it is told, or all of one kind. */
#include <stdio.h>
#include <string.h>

#include "corpus.h"

static void run_all(const struct corpus_case *list) {
    for (; list->name; list++) corpus_run(list->name);
}

int main(int count, char **words) {
    for (int i = 1; i < count; i++) {
        if (!strcmp(words[i], "lost")) {
            run_all(corpus_lost);
            run_all(corpus_lost_cxx);
        } else if (!strcmp(words[i], "clean")) {
            run_all(corpus_clean);
            run_all(corpus_clean_cxx);
        } else if (!corpus_run(words[i])) {
            fprintf(stderr, "no case %s\n", words[i]);
            return 2;
        }
    }
    return 0;
}
