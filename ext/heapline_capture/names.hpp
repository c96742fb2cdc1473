/* SPDX-License-Identifier: MIT */
/*
 * What events name by number: strings, frames, stack nodes, threads and tags. Each table is numbered from 1 in the
 * order in which its entries were written; 0 is "none". An entry names only entries with numbers below its own.
 */
#ifndef HEAPLINE_CAPTURE_NAMES_HPP
#define HEAPLINE_CAPTURE_NAMES_HPP

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "varint.hpp"

namespace heapline {
namespace capture {

/* A place in code; texts are numbers of strings. Ruby: path, line, label. Native: library (its path) and offset in it
 * as its symbol table counts, with label, path and line only where the recorder knew them. */
struct Frame {
    uint32_t label, path, line, library;
    uint64_t offset;
};

/* A stack: its innermost frame, and the stack that called it (0: none). */
struct Node {
    uint32_t parent, frame;
};

/* Which file a library was (see identity.hpp); both are strings. */
struct Library {
    uint32_t path, identity;
};

struct Thread {
    uint32_t name; /* string */
    uint64_t tid;  /* as the kernel counts */
};

/* Of Ruby objects. */
struct Class {
    uint32_t name; /* string; 0: it has none */
    uint32_t type; /* of its objects, as the VM counts (T_STRING …) */
};

class Names {
  public:
    Names();

    const std::string &string(uint32_t number) const {
        return strings_[number];
    }
    const Frame &frame(uint32_t number) const {
        return frames_[number];
    }
    const Node &node(uint32_t number) const {
        return nodes_[number];
    }
    const Thread &thread(uint32_t number) const {
        return threads_[number];
    }
    const std::vector<Library> &libraries() const {
        return libraries_;
    }
    const std::string &tag(uint32_t number) const {
        return strings_[tags_[number]];
    }

    const Class &klass(uint32_t number) const {
        return classes_[number];
    }

    /* How many there are, with 0. */
    size_t strings() const {
        return strings_.size();
    }
    size_t frames() const {
        return frames_.size();
    }
    size_t nodes() const {
        return nodes_.size();
    }
    size_t threads() const {
        return threads_.size();
    }
    size_t tags() const {
        return tags_.size();
    }

    size_t classes() const {
        return classes_.size();
    }

    /* Take over what one NAMES block says. Throws Damage; entries before the damage stay. */
    void read(std::string_view payload);

  private:
    void begin(Bytes &bytes);
    void entry(Bytes &bytes);

    std::deque<std::string> strings_;
    std::vector<Frame> frames_;
    std::vector<Node> nodes_;
    std::vector<Thread> threads_;
    std::vector<uint32_t> tags_; /* strings */
    std::vector<Library> libraries_;
    std::vector<Class> classes_;
};

/* The tables as a writer sees them: only what is not written yet is kept, and the numbers of strings. */
class NewNames {
  public:
    uint32_t string(std::string_view text);
    uint32_t frame(const Frame &frame);
    uint32_t node(uint32_t parent, uint32_t frame);
    uint32_t thread(std::string_view name, uint64_t tid);
    void rename(uint32_t thread, std::string_view name);
    uint32_t tag(std::string_view name);
    void library(uint32_t path, std::string_view identity);
    uint32_t klass(std::string_view name, uint32_t type);
    void rename_class(uint32_t klass, std::string_view name, uint32_t type);

    /* How many entries wait. */
    uint32_t waiting() const {
        return waiting_;
    }
    /* The payload of a NAMES block with all that waits. */
    std::string payload() const;
    /* It was written. */
    void written();

  private:
    struct Counts {
        uint32_t strings = 1, frames = 1, nodes = 1, threads = 1, tags = 1, classes = 1;
    };

    void add(uint8_t sort);

    std::unordered_map<std::string, uint32_t> numbers_, tag_numbers_;
    Counts next_, first_; /* of all; of those that wait */
    std::string entries_;
    uint32_t waiting_ = 0;
};

} // namespace capture
} // namespace heapline

#endif
