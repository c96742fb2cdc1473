/* SPDX-License-Identifier: MIT */
#include "vm/ruby_proof.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "flight/flight.h"
#include "flight/library.h"
#include "platform/probe.h"
#include "platform/system_call.h"
#include "platform/text.h"
#include "state/block_map.h"
#include "state/guard.h"
#include "state/trailer.h"
#include "vm/ruby_frame.h"
#include "vm/ruby_vm.h"

enum { WORD = sizeof(uint64_t), WORDS = 32, BODY_WORDS = HL_RUBY_BODY_BYTES / WORD, FRAME_WORDS = 13 };
enum { FRAMES = 96, STACK_BYTES = 12288, COMPARED = 12, PAGE = 4096, PCS = 16 };
/* What makes a proof (P2); how many looks may disagree, and how many there may be at all, before the
 * layout is refused. */
enum { LINES_NEEDED = 6, CODES_NEEDED = 3, DISAGREEMENTS = 8, LOOKS_MOST = 512 };
enum { BEFORE_REGISTERS = 0xffff }; /* words of an ec: what was saved of a register may be the thread, too */
enum { T_CLASS = 0x02, T_STRING = 0x05, T_ARRAY = 0x07, T_DATA = 0x0c, T_IMEMO = 0x1a, TYPE_MASK = 0x1f };
enum { NOEMBED = 1 << 13, ARRAY_EMBED = 1 << 13, IMEMO_METHOD = 6, HIGHEST_NIL = 8, CODE_MOST = 1 << 24 };

#define FIELD(name) offsetof(struct hl_ruby_layout, name)
enum { FIELDS = sizeof(struct hl_ruby_layout) };

/* Which words of its struct a field may be, by the field's place in the layout; bit n: word n. */
static uint32_t left[FIELDS];

static struct {
    uint64_t pcs[PCS]; /* whose lines were the same */
    const char *codes[CODES_NEEDED];
    unsigned lines, code_count, nested, embedded;
    uint64_t last; /* of what the public API said, so that nothing is looked at twice */
} seen;

/* A Ruby frame: as the public API has it, and as we read it. */
struct told {
    hl_value value, path;
    int line;
};
struct read {
    uint64_t pc;
    const char *iseq;
};

/* The look that goes on. */
static struct {
    struct told told[FRAMES];
    struct read read[FRAMES];
    unsigned count;
    uint64_t object[8], thread[WORDS], ec[WORDS], iseq[WORDS], body[WORDS];
    const char *thread_at, *ec_at;
    intptr_t ec_offset;
    char frames[STACK_BYTES];
    size_t frame_bytes;
    const struct told *frame_told; /* that is compared */
    const struct read *frame_read;
} look HL_PAGE_ALIGNED;

enum outcome { NOTHING, AGREES, DISAGREES };

/* ---- reading ---- */

/* What this look has read so far, in chunks: words that are compared lie side by side, and reading costs a system call
 * each. */
enum { CHUNK = 512, CHUNKS = 16 };
static struct chunk {
    uintptr_t at; /* 0: none */
    char bytes[CHUNK];
} chunks[CHUNKS] HL_PAGE_ALIGNED;

/* The chunk that begins there; NULL where nothing can be read. */
static const char *chunk_at(uintptr_t at) {
    struct chunk *chunk = &chunks[at / CHUNK % CHUNKS];
    if (chunk->at == at) return chunk->bytes;
    chunk->at = hl_probe(chunk->bytes, (const void *)at, CHUNK) ? 0 : at;
    return chunk->at ? chunk->bytes : NULL;
}

static void forget_chunks(void) {
    for (unsigned i = 0; i < CHUNKS; i++) chunks[i].at = 0;
}

/* As many whole words as can be read, the others 0; 0 where it is none. */
static int read_words(uint64_t *words, const void *address, unsigned count) {
    uintptr_t at = (uintptr_t)address;
    memset(words, 0, count * sizeof(*words));
    if (at < PAGE || at % WORD || at >> HL_ADDRESS_BITS) return 0;
    for (unsigned i = 0; i < count; i++, at += WORD) {
        const char *chunk = chunk_at(at / CHUNK * CHUNK);
        if (!chunk) return i > 0;
        memcpy(&words[i], chunk + at % CHUNK, WORD);
    }
    return 1;
}

static uint64_t word_at(uint64_t address) {
    uint64_t word;
    return read_words(&word, (const void *)(uintptr_t)address, 1) ? word : 0;
}

static int is_object(uint64_t value) {
    return value > HIGHEST_NIL && value % WORD == 0;
}

static unsigned type_of(uint64_t object) {
    return is_object(object) ? word_at(object) & TYPE_MASK : 0;
}

/* ---- sieving ---- */

static unsigned row(size_t field) {
    return ((const uint8_t *)hl_ruby.layout)[field] / WORD;
}

static int row_is_left(size_t field) {
    return left[field] >> row(field) & 1;
}

/* The word that the field is taken for. */
static unsigned chosen(size_t field) {
    return row_is_left(field) || !left[field] ? row(field) : (unsigned)__builtin_ctz(left[field]);
}

static int is_settled(size_t field) {
    return row_is_left(field) || (left[field] && !(left[field] & (left[field] - 1)));
}

/* Whoever leaves the row begins anew to collect what proves. */
static void forget_what_was_seen(void) {
    seen.lines = seen.code_count = seen.nested = seen.embedded = 0;
}

static void narrow(size_t field, uint32_t fitting) {
    if (row_is_left(field) && !(fitting >> row(field) & 1)) forget_what_was_seen();
    left[field] = fitting;
}

/* Of the words that the field may be, leave those that fit; while that in the row does, others are not looked at. 0:
 * none is left. */
static int sieve(size_t field, unsigned words, int (*fits)(unsigned word)) {
    uint32_t fitting = 0;
    if (row_is_left(field) && row(field) < words && fits(row(field))) return 1;
    for (unsigned word = 0; word < words; word++)
        if (left[field] >> word & 1 && fits(word)) fitting |= 1u << word;
    narrow(field, fitting);
    return fitting != 0;
}

static void begin_anew(void) {
    memset(left, 0xff, sizeof(left));
    forget_what_was_seen();
}

/* ---- the thread and its ec ---- */

static uint32_t words_that_are(const uint64_t *words, uint64_t value) {
    uint32_t found = 0;
    for (unsigned word = 0; word < WORDS; word++)
        if (words[word] == value) found |= 1u << word;
    return found;
}

/* Is this thread-local word the ec: the thread has it, and it has the thread? */
static int is_ec(const char *local) {
    const uint64_t ec = *(const uint64_t *)local;
    const uint32_t in_thread = left[FIELD(thread_ec)] & words_that_are(look.thread, ec);
    if (ec < PAGE || !in_thread || !read_words(look.ec, (const void *)(uintptr_t)ec, WORDS)) return 0;
    const uint32_t in_ec =
        left[FIELD(ec_thread)] & BEFORE_REGISTERS & words_that_are(look.ec, (uintptr_t)look.thread_at);
    if (!in_ec) return 0;
    narrow(FIELD(thread_ec), in_thread);
    narrow(FIELD(ec_thread), in_ec);
    look.ec_at = (const char *)(uintptr_t)ec;
    look.ec_offset = local - hl_thread_pointer();
    return 1;
}

static int finds_ec(unsigned word) {
    const char *locals = hl_thread_pointer() + hl_ruby.locals;
    look.thread_at = (const char *)(uintptr_t)look.object[word];
    if (word < 2 || !read_words(look.thread, look.thread_at, WORDS)) return 0;
    for (intptr_t at = 0; at + WORD <= hl_ruby.locals_size; at += WORD)
        if (is_ec(locals + at)) return 1;
    return 0;
}

/* The block that holds the ec begins at its fiber. */
static int is_fiber(unsigned word) {
    const uint64_t fiber = look.ec[word], distance = (uintptr_t)look.ec_at - fiber;
    const unsigned before = hl_real_chunked ? WORD : 0; /* of a chunk, where the size is read; others' blocks may begin
                                                         * where their memory does */
    uint64_t head[2], trailer;
    if (fiber % 16 || distance >= PAGE || !read_words(head, (const void *)(uintptr_t)(fiber - before), 2)) return 0;
    /* Of what is no block, malloc_usable_size would read anywhere. */
    const size_t usable = hl_real_usable((void *)(uintptr_t)fiber) - hl_block_tail_size;
    return usable > distance && usable < 2 * PAGE &&
           !hl_probe(&trailer, (const char *)(uintptr_t)fiber + usable - HL_TRAILER_SIZE, sizeof(trailer)) &&
           (hl_started_late || (hl_trailer_valid(trailer, (const void *)(uintptr_t)fiber) && trailer >> HL_SITE_SHIFT));
}

/* ---- the frames ---- */

static uint64_t in_frame(const char *frame, unsigned offset) {
    uint64_t word;
    memcpy(&word, frame + offset, sizeof(word));
    return word;
}

/* Does the frame's environment say the same of it as its pc? */
static int flags_agree(const char *frame, uint64_t flags) {
    if (!(flags & 1) || flags >> 32 || !(flags & HL_FRAME_KIND & ~1u)) return 0;
    return flags & HL_FRAME_OF_C ? !in_frame(frame, HL_FRAME_PC) : in_frame(frame, HL_FRAME_ISEQ) != 0;
}

/* The next frame that the public API tells. It may leave out one that runs nothing yet, and the VM's first. */
static int take(unsigned *count, const char *frame, int may_be_left_out) {
    const struct read read = {in_frame(frame, HL_FRAME_PC), (const char *)(uintptr_t)in_frame(frame, HL_FRAME_ISEQ)};
    if (may_be_left_out && (*count == look.count || look.told[*count].value != (uintptr_t)read.iseq)) return 1;
    if (*count == look.count) return 0;
    look.read[(*count)++] = read;
    return 1;
}

/* With frames of this size they are those that the public API tells. */
static int is_frame_size(unsigned word) {
    const size_t size = word * WORD;
    unsigned count = 0;
    if (size < HL_FRAME_EP + WORD || look.frame_bytes % size) return 0;
    for (size_t at = 0; at < look.frame_bytes; at += size) {
        const char *frame = look.frames + at;
        const int is_last = at + size == look.frame_bytes, is_looked_at = is_last || at < COMPARED * size;
        const uint64_t flags = is_looked_at ? word_at(in_frame(frame, HL_FRAME_EP)) : 0;
        if (is_looked_at && !flags_agree(frame, flags)) return 0;
        if (flags & HL_FRAME_OF_C || !in_frame(frame, HL_FRAME_ISEQ)) continue;
        if (!take(&count, frame, is_last || !in_frame(frame, HL_FRAME_PC))) return 0;
    }
    return count == look.count;
}

/* Frames that a JIT compiler's code has made say where they keep what is compared here. */
static int has_jit_frames(void) {
    if (!hl_ruby_zjit || !*hl_ruby_zjit) return 0;
    for (size_t at = 0; at < look.frame_bytes; at += chosen(FIELD(frame_size)) * WORD)
        if (in_frame(look.frames + at, HL_FRAME_JIT)) return 1;
    return 0;
}

static enum outcome read_frames(void) {
    const uint64_t stack = look.ec[HL_EC_STACK / WORD], words = look.ec[HL_EC_STACK_SIZE / WORD],
                   frame = look.ec[HL_EC_FRAME / WORD], end = stack + words * WORD;
    if (stack < PAGE || stack % WORD || words > UINT32_MAX || frame <= stack || frame >= end || frame % WORD)
        return DISAGREES;
    look.frame_bytes = end - frame;
    if (look.frame_bytes > sizeof(look.frames)) return NOTHING;
    if (hl_probe(look.frames, (const void *)(uintptr_t)frame, look.frame_bytes)) return DISAGREES;
    if (!sieve(FIELD(frame_size), FRAME_WORDS, is_frame_size) || !is_frame_size(chosen(FIELD(frame_size))))
        return DISAGREES;
    return has_jit_frames() ? NOTHING : AGREES;
}

/* ---- a frame's code ---- */

/* An instruction is the address of the VM's code for it (where it is its number, as no compiler that we know builds it,
 * the layout is refused). Any other word that leads to a place shortly before what a wrong frame has for its pc is no
 * code: Ruby must not be asked for a line there. */
static int is_instruction(uint64_t value) {
    return hl_ruby.library && hl_library_map(value) == hl_ruby.library;
}

/* Does this word of the body lead to instructions, the pc of one of which is the frame's? */
static int leads_to_code(unsigned word) {
    uint64_t first;
    const uint64_t begin = look.body[word], pc = look.frame_read->pc;
    if (!word || begin < PAGE || begin % WORD || pc % WORD || pc < begin) return 0;
    const uint64_t count = look.body[word - 1] >> 32;
    return count && count <= CODE_MOST && pc - begin <= count * WORD &&
           read_words(&first, (const void *)(uintptr_t)begin, 1) && is_instruction(first);
}

static int is_body(unsigned word) {
    if (!word || !read_words(look.body, (const void *)(uintptr_t)look.iseq[word], BODY_WORDS)) return 0;
    for (unsigned of_body = 1; of_body < BODY_WORDS; of_body++)
        if (left[FIELD(body_encoded)] >> of_body & 1 && leads_to_code(of_body)) return 1;
    return 0;
}

/* The path, or an array that begins with it. */
static int is_path(unsigned word) {
    const uint64_t value = look.body[word];
    uint64_t array[5];
    if (!word) return 0;
    if (value == look.frame_told->path) return 1;
    if (!is_object(value) || !read_words(array, (const void *)(uintptr_t)value, 5)) return 0;
    if ((array[0] & TYPE_MASK) != T_ARRAY) return 0;
    return (array[0] & ARRAY_EMBED ? array[2] : word_at(array[4])) == look.frame_told->path;
}

static struct {
    hl_value value;
    uint64_t words[4];
    uint64_t bytes, length;
} string;

static int is_embedded_at(unsigned word) {
    if (string.bytes != string.value + word * WORD) return 0;
    return string.length == (word == 2 ? string.words[0] >> 14 & 0x1f : string.words[2]);
}

/* Do its bytes lie where Ruby says? */
static int string_agrees(hl_value value) {
    volatile hl_value holder = value;
    string.value = value;
    if (!read_words(string.words, (const void *)value, 4) || (string.words[0] & TYPE_MASK) != T_STRING) return 0;
    string.length = hl_ruby.rb_str_length(value) >> 1;
    string.bytes = (uintptr_t)hl_ruby.rb_string_value_ptr(&holder);
    if (string.words[0] & NOEMBED) return string.words[2] == string.length && string.words[3] == string.bytes;
    seen.embedded = 1;
    return sieve(FIELD(string_embedded), 4, is_embedded_at);
}

static hl_value label_told;

static int is_label(unsigned word) {
    return word && look.body[word] == label_told;
}

/* What cannot be told of it is no reason to refuse; a string must be one. */
static int compare_label(size_t field, hl_value (*of_frame)(hl_value)) {
    label_told = of_frame ? of_frame(look.frame_told->value) : 0;
    if (!is_object(label_told)) return 1;
    sieve(field, BODY_WORDS, is_label);
    return string_agrees(label_told);
}

/* ---- comparing ---- */

/* Of code that was compared already more lines prove nothing more. */
static int is_seen(hl_value code) {
    for (unsigned i = 0; i < seen.code_count; i++)
        if ((hl_value)seen.codes[i] == code) return 1;
    return 0;
}

static void note(const struct read *read) {
    for (unsigned i = 0; i < seen.lines && i < PCS; i++)
        if (seen.pcs[i] == read->pc) return;
    if (seen.lines < PCS) seen.pcs[seen.lines++] = read->pc;
    if (!is_seen((hl_value)read->iseq) && seen.code_count < CODES_NEEDED) seen.codes[seen.code_count++] = read->iseq;
}

/* The public API tells of a method's frame the method, and of that the path: another where the frame is an eval's. */
static int compare_code(int is_method) {
    const uint64_t begin = look.body[chosen(FIELD(body_encoded))];
    const size_t position = (look.frame_read->pc - begin) / WORD;
    if (look.frame_told->line <= 0) return 1; /* undecided */
    if (is_method && !is_path(chosen(FIELD(body_pathobj)))) return 1;
    /* One more is taken off where the position is not 0 (ruby_frame.c). */
    if (hl_ruby.rb_iseq_line_no(look.frame_read->iseq, position ? position - 1 : 0) != (unsigned)look.frame_told->line)
        return 0;
    note(look.frame_read);
    return 1;
}

static int compare_frame(void) {
    const int is_method = look.frame_told->value != (uintptr_t)look.frame_read->iseq;
    const uint64_t head = word_at(look.frame_told->value);
    if (is_method && ((head & TYPE_MASK) != T_IMEMO || (head >> 12 & 0xf) != IMEMO_METHOD)) return 0;
    if (!read_words(look.iseq, look.frame_read->iseq, 8) || (look.iseq[0] & TYPE_MASK) != T_IMEMO) return 0;
    if (!sieve(FIELD(iseq_body), 8, is_body) || !is_body(chosen(FIELD(iseq_body)))) return 0;
    if (!sieve(FIELD(body_encoded), BODY_WORDS, leads_to_code)) return 0;
    if (!is_method) {
        if (!sieve(FIELD(body_pathobj), BODY_WORDS, is_path)) return 0;
        if (!compare_label(FIELD(body_label), hl_ruby.rb_profile_frame_label) ||
            !compare_label(FIELD(body_base_label), hl_ruby.rb_profile_frame_base_label))
            return 0;
    }
    return string_agrees(look.frame_told->path) && compare_code(is_method);
}

/* ---- what may be missing ---- */

static int is_ractor(unsigned word) {
    const uint64_t ractor = look.thread[word], object = word_at(ractor);
    return ractor >= PAGE && type_of(object) == T_DATA && word_at(object + chosen(FIELD(typed_data)) * WORD) == ractor;
}

/* The running stack lies in what it describes: top, a word, bytes. */
static int is_machine(unsigned word) {
    static const uint64_t ADDRESSES = 1ull << 40; /* those of stacks are above */
    const uint64_t here = (uintptr_t)__builtin_frame_address(0);
    if (word + HL_MACHINE_BYTES / WORD >= WORDS) return 0;
    const uint64_t top = look.ec[word + HL_MACHINE_TOP / WORD], bytes = look.ec[word + HL_MACHINE_BYTES / WORD];
    return top > here && bytes < ADDRESSES && top - here < bytes;
}

/* The flags stand right before the fiber; a tag lies on the machine's stack, and they right behind it. */
static int are_interrupts(unsigned word) {
    enum { FLAGS_MOST = 0xffff };
    return word + 1 == chosen(FIELD(ec_fiber)) && look.ec[word] >> 32 <= FLAGS_MOST &&
           (uint32_t)look.ec[word] <= FLAGS_MOST;
}

static int is_tag(unsigned word) {
    const uint64_t here = (uintptr_t)__builtin_frame_address(0);
    return are_interrupts(word + 1) && look.ec[word] > here && look.ec[word] - here < (uint64_t)1 << 30;
}

/* ---- the outcome ---- */

/* The frames that the public API tells, without those of C code. */
static int ask_public(void) {
    static hl_value values[FRAMES];
    static int lines[FRAMES];
    const int count = hl_ruby.rb_profile_frames(0, FRAMES, values, lines);
    uint64_t sum = 0;
    look.count = 0;
    if (count <= 0 || count == FRAMES) return 0;
    for (int i = 0; i < count; i++) {
        const hl_value path = hl_ruby.rb_profile_frame_path(values[i]);
        if (!is_object(path)) continue;
        look.told[look.count++] = (struct told){values[i], path, lines[i]};
        sum = (sum ^ values[i] ^ (uint64_t)(unsigned)lines[i] << 48) * 0x9e3779b97f4a7c15ull;
    }
    if (!look.count || look.told[0].line <= 0 || sum == seen.last ||
        (seen.lines >= LINES_NEEDED && seen.embedded && is_seen(look.told[0].value)))
        return 0;
    seen.last = sum;
    return 1;
}

static enum outcome compare(void) {
    forget_chunks();
    if (!read_words(look.object, (const void *)hl_ruby.rb_thread_current(), 8) ||
        !sieve(FIELD(typed_data), 8, finds_ec) || !finds_ec(chosen(FIELD(typed_data))) ||
        !sieve(FIELD(ec_fiber), WORDS, is_fiber))
        return DISAGREES;
    const enum outcome outcome = read_frames();
    for (unsigned i = 0; outcome == AGREES && i < look.count && i < COMPARED; i++) {
        look.frame_told = &look.told[i];
        look.frame_read = &look.read[i];
        if (!look.frame_read->pc) continue;
        if (!compare_frame()) return DISAGREES;
    }
    seen.nested += look.count > 1;
    return outcome;
}

static const uint8_t required[] = {
    FIELD(frame_size), FIELD(thread_ec), FIELD(string_embedded), FIELD(typed_data),   FIELD(ec_fiber),
    FIELD(ec_thread),  FIELD(iseq_body), FIELD(body_encoded),    FIELD(body_pathobj),
};

static int is_proven(void) {
    for (size_t i = 0; i < sizeof(required); i++)
        if (!is_settled(required[i])) return 0;
    return seen.lines >= LINES_NEEDED && seen.code_count >= CODES_NEEDED && seen.nested && seen.embedded;
}

#define NAME(field) [FIELD(field)] = #field
static const char *const names[FIELDS] = {
    NAME(frame_size), NAME(thread_ec),     NAME(string_embedded), NAME(typed_data),   NAME(ec_fiber),
    NAME(ec_thread),  NAME(iseq_body),     NAME(body_encoded),    NAME(body_pathobj), NAME(body_base_label),
    NAME(body_label), NAME(thread_ractor), NAME(ec_machine),      NAME(ec_tag),       NAME(ec_interrupts),
};

/* What differs from the row, for `heapline doctor`. */
static void tell(const uint8_t *offsets) {
    struct hl_layout_figures *figures = &hl_flight.header->layout;
    size_t found = 0, missing = 0;
    for (size_t field = FIELD(frame_size); field < FIELDS; field++) {
        if (!offsets[field])
            missing += hl_text(figures->missing + missing, sizeof(figures->missing) - missing, "%s%s",
                               missing ? ", " : "", names[field]);
        else if (offsets[field] != row(field) * WORD)
            found += hl_text(figures->found + found, sizeof(figures->found) - found, "%s%s %u", found ? ", " : "",
                             names[field], (unsigned)offsets[field]);
    }
    figures->outcome = found || !hl_ruby.version_known ? HL_LAYOUT_FOUND : HL_LAYOUT_KNOWN;
}

static void believe(void) {
    static struct hl_ruby_layout proven;
    uint8_t *offsets = (uint8_t *)&proven;
    proven = *hl_ruby.layout;
    proven.major = (uint8_t)hl_ruby.major;
    proven.minor = (uint8_t)hl_ruby.minor;
    sieve(FIELD(thread_ractor), WORDS, is_ractor);
    sieve(FIELD(ec_machine), WORDS, is_machine);
    sieve(FIELD(ec_interrupts), WORDS - 1, are_interrupts);
    sieve(FIELD(ec_tag), WORDS - 2, is_tag);
    for (size_t field = FIELD(frame_size); field < FIELDS; field++)
        offsets[field] = is_settled(field) ? (uint8_t)(chosen(field) * WORD) : 0;
    tell(offsets);
    hl_ruby_believe(&proven, look.ec_offset);
}

/* A frame of ZJIT's is known by its last word. */
static int is_possible(void) {
    return !hl_ruby_zjit || chosen(FIELD(frame_size)) * WORD == HL_FRAME_JIT + WORD;
}

static void refuse(void) {
    hl_flight.header->layout.outcome = HL_LAYOUT_REFUSED;
    hl_ruby_refuse();
}

static void decide(enum outcome outcome) {
    if (outcome == DISAGREES) {
        begin_anew();
        if (++hl_flight.header->layout.disagreed >= DISAGREEMENTS) refuse();
    } else if (outcome == AGREES && is_proven()) {
        if (is_possible())
            believe();
        else
            refuse();
    } else if (hl_flight.header->layout.looks >= LOOKS_MOST) {
        refuse(); /* a field cannot be decided */
    }
}

/* In a child, it may be another one. */
static int is_main_thread(void) {
    return &hl_thread == hl_ruby.main_thread || getpid() == (pid_t)syscall(SYS_gettid);
}

/* Come to for each new place until the outcome is known: while the VM boots there are thousands without a line, for
 * which no system call is made. */
HL_COLD void hl_ruby_proof_look(void) {
    struct hl_layout_figures *figures = &hl_flight.header->layout;
    if (!is_main_thread() || !hl_ruby_may_be_asked() || !ask_public()) return;
    const uint64_t begin = hl_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (!figures->looks++) begin_anew();
    const enum outcome outcome = compare();
    figures->lines = seen.lines;
    figures->ns += hl_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
    decide(outcome);
}
