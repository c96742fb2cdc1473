/* SPDX-License-Identifier: MIT */
/*
 * What a capture holds, as lines for tests: "header…", "thread N NAME", "stack N FRAME|FRAME|…" (outermost first),
 * "event KIND THREAD BLOCK SIZE ALIGNMENT STACK TIME TAG", "problem…", "end ENDING LOST FINISHED". Fields are parted by
 * tabs.
 */
#include "../../ext/heapline_capture/reader.hpp"

#include <cstdio>
#include <string>

using namespace heapline::capture;

static std::string frame(const Names &names, const Frame &frame) {
    const std::string &path = names.string(frame.library ? frame.library : frame.path);
    return names.string(frame.label) + "@" + path + (frame.library ? "+" : ":") +
           std::to_string(frame.library ? frame.offset : frame.line);
}

static std::string stack(const Names &names, uint32_t node) {
    std::string text;
    for (; node; node = names.node(node).parent)
        text = frame(names, names.frame(names.node(node).frame)) + (text.empty() ? "" : "|") + text;
    return text;
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    try {
        Reader reader(arguments[1]);
        const Names &names = reader.names();
        printf("header\t%llu\t%s\t%s\t%zu\n", static_cast<unsigned long long>(reader.header().pid),
               reader.header().ruby.c_str(), reader.header().allocator.c_str(), reader.header().command.size());
        for (uint32_t i = 1; i < names.threads(); i++)
            printf("thread\t%u\t%s\t%llu\n", i, names.string(names.thread(i).name).c_str(),
                   static_cast<unsigned long long>(names.thread(i).tid));
        for (uint32_t i = 1; i < names.nodes(); i++) printf("stack\t%u\t%s\n", i, stack(names, i).c_str());
        Event events[1024];
        while (size_t read = reader.next(events, 1024))
            for (size_t i = 0; i < read; i++) {
                const Event &event = events[i];
                printf("event\t%u\t%u\t%u\t%llu\t%llu\t%u\t%llu\t%s\n", static_cast<unsigned>(event.kind), event.thread,
                       event.block, static_cast<unsigned long long>(event.size),
                       static_cast<unsigned long long>(event.alignment), event.stack,
                       static_cast<unsigned long long>(event.time_ns), names.tag(event.tag).c_str());
            }
        for (const std::string &problem : reader.problems()) printf("problem\t%s\n", problem.c_str());
        for (const Sample &sample : reader.samples())
            printf("sample\t%llu\t%llu\t%llu\n", static_cast<unsigned long long>(sample.time_ns),
                   static_cast<unsigned long long>(sample.rss), static_cast<unsigned long long>(sample.ruby_heap));
        printf("end\t%s\t%llu\t%d\n", reader.totals().ending.c_str(),
               static_cast<unsigned long long>(reader.totals().lost), reader.finished());
    } catch (const std::exception &error) {
        fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
