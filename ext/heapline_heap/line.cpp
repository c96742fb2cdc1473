/* SPDX-License-Identifier: MIT */
#include "line.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace heapline {

using simdjson::error_code;
namespace dom = simdjson::dom;

namespace {

enum class Key {
    other,
    address,
    type,
    class_address,
    memsize,
    references,
    slot_size,
    value,
    length,
    flag_embedded,
    flag_shared,
    flag_frozen,
    flag_interned,
    flag_singleton,
    file,
    line,
    method,
    generation,
    detail,
    encoding,
    name,
    real_class_name,
    superclass,
    root,
    names,
    path,
    lineno,
    ruby,
    pid,
    version,
    time
};

struct Known {
    std::string_view name;
    Key key;
};

const Known KEYS[] = {{"address", Key::address},
                      {"type", Key::type},
                      {"class", Key::class_address},
                      {"memsize", Key::memsize},
                      {"references", Key::references},
                      {"slot_size", Key::slot_size},
                      {"value", Key::value},
                      {"bytesize", Key::length},
                      {"length", Key::length},
                      {"size", Key::length},
                      {"ivars", Key::length},
                      {"embedded", Key::flag_embedded},
                      {"frozen", Key::flag_frozen},
                      {"fstring", Key::flag_interned},
                      {"shared", Key::flag_shared},
                      {"encoding", Key::encoding},
                      {"file", Key::file},
                      {"line", Key::line},
                      {"method", Key::method},
                      {"generation", Key::generation},
                      {"imemo_type", Key::detail},
                      {"struct", Key::detail},
                      {"name", Key::name},
                      {"superclass", Key::superclass},
                      {"real_class_name", Key::real_class_name},
                      {"singleton", Key::flag_singleton},
                      {"root", Key::root},
                      {"names", Key::names},
                      {"path", Key::path},
                      {"lineno", Key::lineno},
                      {"ruby", Key::ruby},
                      {"pid", Key::pid},
                      {"version", Key::version},
                      {"time", Key::time}};

/* Every line has a dozen keys: they are found by their size and ends, in a table that is nearly without collisions. */
class KeyTable {
  public:
    KeyTable() {
        for (const Known &known : KEYS) place(known.name) = &known;
    }

    Key find(std::string_view name) {
        if (name.empty()) return Key::other;
        const Known *known = place(name);
        return known ? known->key : Key::other;
    }

  private:
    static const size_t SIZE = 256;

    const Known *&place(std::string_view name) {
        size_t i =
            name.size() * 31 + static_cast<unsigned char>(name.front()) * 7 + static_cast<unsigned char>(name.back());
        while (places_[i % SIZE] && places_[i % SIZE]->name != name) i++;
        return places_[i % SIZE];
    }

    std::array<const Known *, SIZE> places_ = {};
};

Key key_of(std::string_view name) {
    static KeyTable table;
    return table.find(name);
}

/* "0x7f6cbf7a4080" */
error_code read_address(std::string_view text, uint64_t &address) {
    if (text.size() < 3 || text.size() > 18 || text[0] != '0' || text[1] != 'x') return simdjson::INCORRECT_TYPE;
    uint64_t sum = 0;
    for (char one : text.substr(2)) {
        unsigned digit = static_cast<unsigned char>(one);
        digit = digit - '0' < 10 ? digit - '0' : (digit | 32) - 'a' < 6 ? (digit | 32) - 'a' + 10 : 16;
        if (digit > 15) return simdjson::INCORRECT_TYPE;
        sum = sum << 4 | digit;
    }
    address = sum;
    return simdjson::SUCCESS;
}

error_code get_address(const dom::element &value, uint64_t &address) {
    std::string_view text;
    error_code error = value.get(text);
    return error ? error : read_address(text, address);
}

error_code get_references(const dom::element &value, Line &line) {
    dom::array array;
    error_code error = value.get(array);
    if (error) return error;
    for (dom::element element : array) {
        uint64_t address;
        error = get_address(element, address);
        if (error) return error;
        line.references.push_back(address);
    }
    return simdjson::SUCCESS;
}

error_code get_names(const dom::element &value, Line &line) {
    dom::object names;
    error_code error = value.get(names);
    if (error) return error;
    for (dom::key_value_pair field : names) {
        std::string_view name;
        uint64_t address;
        error = read_address(field.key, address);
        if (!error) error = field.value.get(name);
        if (error) return error;
        line.edge_names.emplace_back(address, name);
    }
    return simdjson::SUCCESS;
}

error_code get_flag(const dom::element &value, Line::Flag flag, Line &line) {
    bool set;
    error_code error = value.get(set);
    if (!error && set) line.flags |= flag;
    return error;
}

/* More than fits is no line of any file. */
error_code get_line(const dom::element &value, uint32_t &line) {
    uint64_t number;
    error_code error = value.get(number);
    if (!error) line = static_cast<uint32_t>(std::min<uint64_t>(number, UINT32_MAX));
    return error;
}

error_code get_length(const dom::element &value, Line &line) {
    line.flags |= Line::has_length;
    return value.get(line.length);
}

error_code get_generation(const dom::element &value, Line &line) {
    line.has_generation = true;
    return value.get(line.generation);
}

error_code get_field(Key key, const dom::element &value, Line &line) {
    switch (key) {
    case Key::address:
        return get_address(value, line.address);
    case Key::type:
        return value.get(line.type);
    case Key::class_address:
        return get_address(value, line.class_address);
    case Key::superclass:
        return get_address(value, line.superclass);
    case Key::memsize:
        return value.get(line.memsize);
    case Key::slot_size:
        return value.get(line.slot_size);
    case Key::length:
        return get_length(value, line);
    case Key::line:
        return get_line(value, line.line);
    case Key::lineno:
        return get_line(value, line.lineno);
    case Key::generation:
        return get_generation(value, line);
    case Key::pid:
        return value.get(line.pid);
    case Key::version:
        return value.get(line.version);
    case Key::references:
        return get_references(value, line);
    case Key::names:
        return get_names(value, line);
    case Key::value:
        return value.get(line.value);
    case Key::flag_embedded:
        return get_flag(value, Line::embedded, line);
    case Key::flag_shared:
        return get_flag(value, Line::shared, line);
    case Key::flag_frozen:
        return get_flag(value, Line::frozen, line);
    case Key::flag_interned:
        return get_flag(value, Line::interned, line);
    case Key::flag_singleton:
        return get_flag(value, Line::singleton, line);
    case Key::file:
        return value.get(line.file);
    case Key::method:
        return value.get(line.method);
    case Key::detail:
        return value.get(line.detail);
    case Key::encoding:
        return value.get(line.encoding);
    case Key::name:
        return value.get(line.name);
    case Key::real_class_name:
        return value.get(line.real_class_name);
    case Key::root:
        return value.get(line.root);
    case Key::path:
        return value.get(line.path);
    case Key::ruby:
        return value.get(line.ruby);
    case Key::time:
        return value.get(line.time);
    case Key::other:
        break;
    }
    return simdjson::SUCCESS;
}

void reset(Line &line) {
    line.sort = Line::Sort::other;
    line.flags = 0;
    line.has_generation = false;
    line.line = line.lineno = 0;
    line.address = line.class_address = line.superclass = 0;
    line.memsize = line.slot_size = line.length = line.generation = line.pid = line.version = 0;
    line.type = line.detail = line.name = line.real_class_name = line.file = line.method = {};
    line.value = line.encoding = line.root = line.ruby = line.time = line.path = {};
    line.references.clear();
    line.edge_names.clear();
}

/* Ruby aligns objects to 8 bytes; whatever has no type is no line of a dump. */
bool classify(Line &line) {
    if (line.type == "ROOT") {
        line.sort = Line::Sort::root;
    } else if (line.type == "HEAPLINE_NAMES") {
        line.sort = Line::Sort::names;
    } else if (line.type == "HEAPLINE_CLASS") {
        line.sort = Line::Sort::definition;
    } else if (line.type == "HEAPLINE") {
        line.sort = Line::Sort::header;
    } else if (line.type == "HEAPLINE_END") {
        line.sort = Line::Sort::end;
    } else if (line.type == "HEAPLINE_CODE" || line.type == "HEAPLINE_SITE") {
        line.sort = Line::Sort::note;
    } else if (line.type.substr(0, 8) == "HEAPLINE") {
        line.sort = Line::Sort::other;
    } else if (line.type.empty() || !line.address) {
        return false;
    } else if (line.type == "SHAPE") {
        line.sort = Line::Sort::shape;
    } else if (line.address % 8) {
        return false;
    } else {
        line.sort = line.type == "NONE" ? Line::Sort::free_slot : Line::Sort::object;
    }
    return true;
}

/* Bytes of the UTF-8 sequence at `text`; 0: there is none. Overlong forms and surrogates are left to simdjson. */
size_t sequence(const unsigned char *text, size_t left) {
    size_t size = text[0] < 0x80                      ? 1
                  : text[0] >= 0xc2 && text[0] < 0xe0 ? 2
                  : text[0] >= 0xe0 && text[0] < 0xf0 ? 3
                                                      : 4;
    if (text[0] >= 0x80 && (text[0] < 0xc2 || text[0] > 0xf4)) return 0;
    if (size > left) return 0;
    for (size_t i = 1; i < size; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    if (text[0] == 0xe0 && text[1] < 0xa0) return 0;
    if (text[0] == 0xed && text[1] > 0x9f) return 0;
    if (text[0] == 0xf0 && text[1] < 0x90) return 0;
    if (text[0] == 0xf4 && text[1] > 0x8f) return 0;
    return size;
}

error_code read(dom::parser &parser, const char *text, size_t length, Line &line) {
    reset(line);
    dom::object object;
    error_code error = parser.parse(text, length, false).get(object);
    if (error) return error;
    for (dom::key_value_pair field : object) {
        Key key = key_of(field.key);
        if (key != Key::other) error = get_field(key, field.value, line);
        if (error) return error;
    }
    return simdjson::SUCCESS;
}

} // namespace

struct LineParser::Json {
    dom::parser parser;
};

static_assert(LineParser::PADDING >= simdjson::SIMDJSON_PADDING, "simdjson reads that far");

LineParser::LineParser() : json_(std::make_unique<Json>()) {}

LineParser::~LineParser() = default;

/* Names of files and methods may have any bytes: what is no UTF-8 becomes text (\xFF), as wherever heapline shows
 * names; control characters get their escapes, and are blanks between the texts. */
void LineParser::repair(const char *text, size_t length) {
    const unsigned char *bytes = reinterpret_cast<const unsigned char *>(text);
    bool within = false, escaped = false;
    repaired_.clear();
    repaired_.reserve(length + length / 8 + 2 * PADDING);
    for (size_t i = 0; i < length;) {
        const size_t size = sequence(bytes + i, length - i);
        char escape[8];
        if (bytes[i] == '"' && !escaped) within = !within;
        escaped = bytes[i] == '\\' && !escaped;
        if (size && bytes[i] >= 0x20) {
            repaired_.append(text + i, size);
        } else if (within) {
            snprintf(escape, sizeof(escape), size ? "\\u%04x" : "\\\\x%02X", bytes[i]);
            repaired_ += escape;
        } else {
            repaired_ += ' ';
        }
        i += size ? size : 1;
    }
    repaired_.append(PADDING, ' ');
}

bool LineParser::parse(const char *text, size_t length, Line &line) {
    while (length && (text[length - 1] == ' ' || text[length - 1] == '\r')) length--;
    if (length < 2 || text[0] != '{' || text[length - 1] != '}') return false;
    error_code error = read(json_->parser, text, length, line);
    if (error == simdjson::UTF8_ERROR || error == simdjson::UNESCAPED_CHARS) {
        repair(text, length);
        error = read(json_->parser, repaired_.data(), repaired_.size() - PADDING, line);
    }
    return !error && classify(line);
}

} // namespace heapline
