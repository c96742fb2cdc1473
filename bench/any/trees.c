// SPDX-License-Identifier: MIT
// Binary trees of three sizes: small blocks of one size, few of which live long. Arguments: rounds.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

struct node {
    struct node *left, *right;
    long value;
};

static struct node *grow(int depth) {
    struct node *node = malloc(sizeof(*node));
    node->value = depth;
    node->left = depth ? grow(depth - 1) : NULL;
    node->right = depth ? grow(depth - 1) : NULL;
    return node;
}

static long sum_and_free(struct node *node) {
    if (!node) return 0;
    const long sum = node->value + sum_and_free(node->left) + sum_and_free(node->right);
    free(node);
    return sum;
}

int main(int count, char **words) {
    struct rusage used;
    long sum = 0;
    struct node *lasting = grow(17);
    for (int round = count > 1 ? atoi(words[1]) : 1; round > 0; round--)
        for (int depth = 4; depth <= 14; depth += 5) sum += sum_and_free(grow(depth));
    sum += sum_and_free(lasting);
    getrusage(RUSAGE_SELF, &used);
    FILE *result = fopen(getenv("BENCH_RESULT"), "w");
    fprintf(result, "%ld %ld\n", sum, used.ru_maxrss);
    return fclose(result);
}
