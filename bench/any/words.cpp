// SPDX-License-Identifier: MIT
// Words that are counted in a map, sorted, and joined: blocks of many sizes, as strings and containers take them.
// Arguments: rounds.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <sys/resource.h>
#include <vector>

static unsigned long next(unsigned long &state) {
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    return state >> 33;
}

static size_t count_words(unsigned long &state) {
    std::map<std::string, std::vector<int>> places;
    for (int place = 0; place < 20000; place++) {
        std::string word(8 + next(state) % 40, static_cast<char>('a' + next(state) % 26));
        places[word + std::to_string(next(state) % 2000)].push_back(place);
    }
    std::vector<std::string> lines;
    for (const auto &[word, at] : places) lines.push_back(word + ": " + std::to_string(at.size()));
    std::sort(lines.begin(), lines.end(), [](auto &one, auto &other) { return one.size() < other.size(); });
    std::string all;
    for (const auto &line : lines) all += line;
    return all.size();
}

int main(int count, char **words) {
    unsigned long state = 42;
    size_t sum = 0;
    for (int round = count > 1 ? atoi(words[1]) : 1; round > 0; round--) sum += count_words(state);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    std::ofstream(getenv("BENCH_RESULT")) << sum << " " << used.ru_maxrss << "\n";
}
