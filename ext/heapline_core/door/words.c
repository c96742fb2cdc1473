/* SPDX-License-Identifier: MIT */
#include "door/words.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "door/definitions.h"
#include "door/loaded_object.h"
#include "platform/memory_maps.h"
#include "platform/own_memory.h"
#include "platform/platform.h"
#include "platform/probe.h"
#include "platform/system_call.h"
#include "platform/text.h"

enum { CXX_RUNTIMES = 8, PATIENCE_NS = 1000000000, LEAST_RECORDS = 1 << 12, LEAST_RUNS = 1 << 8 };
enum { PAGE_BYTES = 4096, VARIABLES_MOST = 16 << 20 /* of one segment are looked at */ };

/* What was in a word that we changed. */
struct record {
    uintptr_t word, before, ours;
    uint32_t to_bind; /* the linker would have bound it at its first call */
};
/* The records of one object, in the order of its relocations. */
struct run {
    uintptr_t begin; /* of the object */
    uint32_t first, count;
};
/* Those of all objects, in the linker's order. A walk through all makes a new one of the last. */
struct notes {
    struct record *records;
    struct run *runs;
    uint32_t record_count, record_limit, run_count, run_limit, to_bind;
};
static struct notes notes;

static int is_open;
static struct hl_word_figures figures;
void (*hl_words_looked)(const struct hl_word_figures *);

/* As many objects, in the linker's order, were walked through, when it had loaded and taken away so many. */
static uint32_t done_objects;
static uint64_t done_additions, done_removals;

/* ---- whose turn it is (D4) ---- */

static const char *turn;       /* of the thread with this `own_turn`; NULL: no one's */
static uint32_t look_again;    /* someone who did not get a turn wanted to */
static uint32_t waiting_forks; /* they come first */
static HL_THREAD_LOCAL char own_turn;

/* 0: it is this thread's already, or who has it does not end: the linker's lock that it needs may be held above us.
 * `waiting`: so many forks may wait besides. */
static int take_turn(uint64_t patience_ns, uint32_t waiting) {
    uint64_t begun = 0;
    for (;;) {
        const char *owner = NULL;
        if (hl_load32(&waiting_forks) <= waiting &&
            __atomic_compare_exchange_n(&turn, &owner, &own_turn, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return 1;
        const uint64_t now = hl_clock_ns(CLOCK_MONOTONIC);
        if (!begun) begun = now;
        if (__atomic_load_n(&turn, __ATOMIC_RELAXED) == &own_turn || now - begun > patience_ns) return 0;
        sched_yield();
    }
}

static void end_turn(void) {
    __atomic_store_n(&turn, NULL, __ATOMIC_RELEASE);
}

/* glibc leaves the linker's short lock in a child as it was: nobody of ours may hold it then. */
static int fork_has_turn;

static void before_fork(void) {
    __atomic_add_fetch(&waiting_forks, 1, __ATOMIC_RELAXED);
    if (take_turn(PATIENCE_NS, UINT32_MAX)) fork_has_turn = 1;
    __atomic_sub_fetch(&waiting_forks, 1, __ATOMIC_RELAXED);
}

static void after_fork_parent(void) {
    if (!fork_has_turn) return;
    fork_has_turn = 0;
    end_turn();
}

static void after_fork_child(void) {
    fork_has_turn = 0;
    waiting_forks = 0;
    end_turn();
}

/* ---- what there is ---- */

struct survey {
    uint32_t objects;
    uint64_t additions, removals;
    struct hl_range cxx[CXX_RUNTIMES];
    uint32_t cxx_count;
    struct hl_range own;
};

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int is_library(const char *path, const char *name) {
    return strncmp(base_name(path), name, strlen(name)) == 0;
}

static void find_homes(struct hl_range object) {
    uint32_t count;
    struct hl_definition *definitions = hl_definitions(&count);
    for (uint32_t i = 0; i < count; i++)
        if (definitions[i].below && hl_in_range(object, definitions[i].below)) definitions[i].home = object;
}

static int survey_object(struct dl_phdr_info *info, size_t size, void *context) {
    struct survey *survey = context;
    struct hl_loaded_object object;
    (void)size;
    survey->objects++;
    survey->additions = info->dlpi_adds;
    survey->removals = info->dlpi_subs;
    if (!hl_loaded_object_read(info, &object)) return 0;
    find_homes(object.all);
    if (object.base == (uintptr_t)&__ehdr_start) survey->own = object.all;
    if (is_library(object.path, "libstdc++.so") || is_library(object.path, "libc++.so"))
        if (survey->cxx_count < CXX_RUNTIMES) survey->cxx[survey->cxx_count++] = object.all;
    return 0;
}

/* The linker's other lock, for a moment: who was loading has ended then, and of what the survey has all is bound. */
static void wait_for_loading(void) {
    Dl_info info;
    dladdr(&notes, &info);
}

/* ---- writing ---- */

/* One walk through the loaded objects. */
struct walk {
    const struct survey *survey;
    uint32_t number, from; /* of the object; the first that was not walked through yet */
    int changed_meanwhile;
    int opened;          /* the object's sealed pages, by us */
    uint32_t full;       /* words that were left for want of room */
    struct notes *notes; /* that it writes */
    uint32_t place;      /* of the last object's run among the former ones */
    struct run former;   /* of this object: what of it was not met yet */
    struct hl_range own; /* this library */
};

/* The kernel is asked to set no bit of it: it does, or may not. */
static int is_writable(uintptr_t word) {
    uint32_t unused = 0;
    return syscall(SYS_futex, &unused, FUTEX_WAKE_OP_PRIVATE, 0, 0, word,
                   FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0)) >= 0;
}

static int protect(const struct hl_loaded_object *object, int protection) {
    const struct hl_range pages = object->sealed;
    return mprotect((void *)pages.begin, pages.end - pages.begin, protection);
}

static void close_pages(int *opened, const struct hl_loaded_object *object) {
    if (*opened) protect(object, PROT_READ);
    *opened = 0;
}

/* 1 where it held `before`. */
static int replace(int *opened, const struct hl_loaded_object *object, uintptr_t word, uintptr_t before,
                   uintptr_t now) {
    if (!hl_in_range(object->variables, word)) return 0;
    if (hl_in_range(object->sealed, word) && !*opened && !is_writable(word)) {
        if (protect(object, PROT_READ | PROT_WRITE)) return 0;
        *opened = 1;
    }
    return __atomic_compare_exchange_n((uintptr_t *)word, &before, now, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* ---- what was there ---- */

/* Room for more; what there is stays where it is on failure. */
static int grow(void **array, uint32_t *limit, uint32_t wanted, size_t size) {
    uint32_t larger = *limit;
    while (larger < wanted) larger *= 2;
    if (larger == *limit && *array) return 1;
    void *fresh = hl_own_memory(larger * size);
    if (!fresh) return 0;
    if (*array) {
        memcpy(fresh, *array, *limit * size);
        hl_own_memory_return(*array, *limit * size);
    }
    *array = fresh;
    *limit = larger;
    return 1;
}

static int make_room(struct notes *some, uint32_t record_limit, uint32_t runs) {
    void *array = some->records, *run_array = some->runs;
    if (!some->record_limit) some->record_limit = LEAST_RECORDS;
    if (!some->run_limit) some->run_limit = LEAST_RUNS;
    const int made = grow(&array, &some->record_limit, record_limit, sizeof(struct record)) &&
                     grow(&run_array, &some->run_limit, runs, sizeof(struct run));
    some->records = array;
    some->runs = run_array;
    return made;
}

static void give_back(struct notes *some) {
    if (some->records) hl_own_memory_return(some->records, some->record_limit * sizeof(struct record));
    if (some->runs) hl_own_memory_return(some->runs, some->run_limit * sizeof(struct run));
    *some = (struct notes){0};
}

/* The run of the object that begins there, most likely at `place` or behind it; an empty one where there is none. */
static struct run run_at(uintptr_t begin, uint32_t *place) {
    for (uint32_t i = 0; i < notes.run_count; i++) {
        const uint32_t at = (*place + i) % notes.run_count;
        if (notes.runs[at].begin != begin) continue;
        *place = at;
        return notes.runs[at];
    }
    return (struct run){0};
}

/* The record of a word that holds ours, in a walk through all. Another object may have begun there meanwhile: its words
 * do not hold ours. */
static const struct record *former_record(struct run *former, uintptr_t word) {
    for (uint32_t i = 0; i < former->count; i++) {
        if (notes.records[former->first + i].word != word) continue;
        former->first += i + 1;
        former->count -= i + 1;
        return &notes.records[former->first - 1];
    }
    return NULL;
}

/* What was known already finds room always: the new notes are at least as large as the last. */
static int remember(struct walk *walk, struct record record, int known) {
    struct notes *some = walk->notes;
    const uint32_t kept = some == &notes ? 0 : notes.record_count;
    if (some->record_count + (known ? 0 : kept) >= some->record_limit) return 0;
    some->to_bind += record.to_bind;
    some->records[some->record_count++] = record;
    some->runs[some->run_count - 1].count++;
    return 1;
}

/* ---- opening words ---- */

/* Is it one of the lines? */
static int is_noted(const char *names, const char *name) {
    const size_t length = strlen(name);
    for (const char *line = names; *line;) {
        const size_t bytes = strcspn(line, "\n");
        if (bytes == length && memcmp(line, name, length) == 0) return 1;
        line += bytes + (line[bytes] == '\n');
    }
    return 0;
}

/* "others" stands for those that have no room; for it there is room always. */
static void note_left(const struct hl_loaded_object *object) {
    static const char MORE[] = "others";
    const char *name = *object->path ? base_name(object->path) : "the program itself";
    char *names = figures.left_names;
    const size_t used = strlen(names);
    if (is_noted(names, MORE) || is_noted(names, name)) return;
    const char *fits = used + strlen(name) + 2 + sizeof(MORE) < sizeof(figures.left_names) ? name : MORE;
    hl_text(names + used, sizeof(figures.left_names) - used, "%s%s", used ? "\n" : "", fits);
}

/* A runtime of C++ that is in no global scope: its operators come to malloc, as ours do. */
static int leads_to_cxx(const struct survey *survey, uintptr_t value) {
    for (uint32_t i = 0; i < survey->cxx_count; i++)
        if (hl_in_range(survey->cxx[i], value)) return 1;
    return 0;
}

static int is_to_bind(const struct hl_loaded_object *object, uint32_t kind, const ElfW(Sym) * symbol, uintptr_t value) {
    return kind == HL_WORD_CALLED && symbol->st_shndx == SHN_UNDEF && hl_in_range(object->all, value);
}

static void open_word(struct walk *walk, const struct hl_loaded_object *object, const struct hl_definition *definition,
                      const ElfW(Rela) * relocation, const ElfW(Sym) * symbol) {
    const uintptr_t word = object->base + relocation->r_offset;
    if (!hl_in_range(object->variables, word)) return;
    const uintptr_t value = __atomic_load_n((const uintptr_t *)word, __ATOMIC_ACQUIRE);
    const int to_bind = is_to_bind(object, ELF64_R_TYPE(relocation->r_info), symbol, value);
    if (value == definition->ours) {
        const struct record *known = former_record(&walk->former, word);
        if (known) remember(walk, *known, 1);
        return;
    }
    if (!value) return;                        /* a weak one that no one defines */
    if (to_bind && !definition->below) return; /* it comes to malloc by itself */
    if (!to_bind && !(definition->below && hl_in_range(definition->home, value)) &&
        !(definition->is_operator && leads_to_cxx(walk->survey, value))) {
        note_left(object);
        return;
    }
    if (remember(walk, (struct record){word, value, definition->ours, (uint32_t)to_bind}, 0))
        replace(&walk->opened, object, word, value, definition->ours);
    else
        walk->full++;
}

static void open_words(struct walk *walk, const struct hl_loaded_object *object, unsigned table) {
    for (size_t i = 0; i < object->relocation_count[table]; i++) {
        const ElfW(Rela) *relocation = &object->relocations[table][i];
        const uint32_t kind = ELF64_R_TYPE(relocation->r_info);
        const uint64_t number = ELF64_R_SYM(relocation->r_info);
        if (!number || (kind != HL_WORD_CALLED && kind != HL_WORD_TAKEN && kind != HL_WORD_PLAIN)) continue;
        if (kind == HL_WORD_PLAIN && relocation->r_addend) continue;
        const ElfW(Sym) *symbol = &object->symbols[number];
        const struct hl_definition *definition = hl_definition_of(object->names + symbol->st_name);
        if (definition) open_word(walk, object, definition, relocation, symbol);
    }
}

/* ---- what the program has put into its variables ---- */

/* The first that is ours now, which leads below. */
static const struct hl_definition *definition_below(uintptr_t value) {
    uint32_t count;
    const struct hl_definition *definitions = hl_definitions(&count);
    for (uint32_t i = 0; i < count; i++)
        if (definitions[i].below && definitions[i].below == value) return &definitions[i];
    return NULL;
}

/* A function that was looked for by its name, or an address that was copied, has no relocation. */
static void open_variable(struct walk *walk, const struct hl_loaded_object *object, uintptr_t word, uintptr_t value) {
    const struct record *known = hl_in_range(walk->own, value) ? former_record(&walk->former, word) : NULL;
    const struct hl_definition *definition = definition_below(value);
    if (known) remember(walk, *known, 1);
    if (!definition) return;
    if (remember(walk, (struct record){word, value, definition->ours, 0}, 0))
        replace(&walk->opened, object, word, value, definition->ours);
    else
        walk->full++;
}

/* Words that lead into where all lies below us, or into this library. */
static void open_page(struct walk *walk, const struct hl_loaded_object *object, uintptr_t page, uintptr_t end) {
    uintptr_t words[PAGE_BYTES / sizeof(uintptr_t)];
    const size_t count = ((end - page < PAGE_BYTES ? end - page : PAGE_BYTES)) / sizeof(*words);
    const struct hl_range below = hl_definition_of("malloc")->home;
    if (hl_probe(words, (const void *)page, count * sizeof(*words))) return;
    for (size_t i = 0; i < count; i++)
        if (hl_in_range(below, words[i]) || hl_in_range(walk->own, words[i]))
            open_variable(walk, object, page + i * sizeof(*words), words[i]);
}

static void open_variables(struct walk *walk, const struct dl_phdr_info *info, const struct hl_loaded_object *object) {
    if (hl_in_range(object->all, hl_definition_of("malloc")->below)) return; /* what it keeps for itself */
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_W)) continue;
        const uintptr_t begin = (info->dlpi_addr + segment->p_vaddr + sizeof(uintptr_t) - 1) & ~(sizeof(uintptr_t) - 1),
                        bytes = segment->p_memsz < VARIABLES_MOST ? segment->p_memsz : VARIABLES_MOST;
        for (uintptr_t page = begin; page < begin + bytes; page += PAGE_BYTES)
            open_page(walk, object, page, begin + bytes);
    }
}

/* Where malloc is defined besides libc: its own callers may be bound to it without a word. */
static void look_for_allocator(const struct hl_loaded_object *object) {
    const struct hl_definition *allocator = hl_definition_of("malloc");
    const int below_is_program = hl_in_range(object->all, allocator->below) && !*object->path;
    if ((!hl_in_range(object->all, allocator->below) && hl_loaded_object_defines(object, "malloc")) || below_is_program)
        note_left(object);
}

static int is_ours(const struct hl_loaded_object *object) {
    return object->base == (uintptr_t)&__ehdr_start;
}

static int is_linker(const struct hl_loaded_object *object) {
    return is_library(object->path, "ld-linux") || is_library(object->path, "ld-2.");
}

/* Under the linker's short lock: no object goes meanwhile (D3). */
static int open_object(struct dl_phdr_info *info, size_t size, void *context) {
    struct walk *walk = context;
    struct hl_loaded_object object;
    (void)size;
    walk->changed_meanwhile = info->dlpi_subs != walk->survey->removals;
    if (walk->changed_meanwhile || walk->number >= walk->survey->objects) return 1;
    if (walk->number++ < walk->from) return 0;
    const int readable = hl_loaded_object_read(info, &object);
    struct notes *some = walk->notes;
    some->runs[some->run_count++] = (struct run){readable ? object.all.begin : 0, some->record_count, 0};
    if (!readable || is_ours(&object) || is_linker(&object)) return 0;
    walk->former = (struct run){0};
    if (!walk->from) walk->former = run_at(object.all.begin, &walk->place);
    walk->place++;
    for (unsigned table = 0; table < 2; table++) open_words(walk, &object, table);
    open_variables(walk, info, &object);
    close_pages(&walk->opened, &object);
    look_for_allocator(&object);
    return 0;
}

/* A thread that was binding a word when we wrote it has written over it. */
static int bind_object(struct dl_phdr_info *info, size_t size, void *context) {
    struct hl_loaded_object object;
    uint32_t *place = context;
    int opened = 0;
    (void)size;
    if (!hl_loaded_object_read(info, &object)) return 0;
    const struct run run = run_at(object.all.begin, place);
    for (uint32_t i = run.first; i < run.first + run.count; i++) {
        const struct record *record = &notes.records[i];
        if (!record->to_bind || !hl_in_range(object.variables, record->word)) continue;
        const uintptr_t value = __atomic_load_n((const uintptr_t *)record->word, __ATOMIC_ACQUIRE);
        if (value != record->ours) replace(&opened, &object, record->word, value, record->ours);
    }
    ++*place;
    close_pages(&opened, &object);
    return 0;
}

static int close_object(struct dl_phdr_info *info, size_t size, void *context) {
    struct hl_loaded_object object;
    uint32_t *place = context;
    int opened = 0;
    (void)size;
    if (!hl_loaded_object_read(info, &object)) return 0;
    const struct run run = run_at(object.all.begin, place);
    for (uint32_t i = run.first; i < run.first + run.count; i++) {
        const struct record *record = &notes.records[i];
        replace(&opened, &object, record->word, record->ours, record->before);
    }
    ++*place;
    close_pages(&opened, &object);
    return 0;
}

/* ---- looking ---- */

/* Once through what is new, or through all: where something was unloaded, which the numbers of the linker's order do
 * not survive, and where there was no room. */
static void walk_once(const struct survey *survey, struct walk *walk, struct notes *fresh) {
    const int all = survey->removals != done_removals || !done_objects;
    *walk = (struct walk){
        .survey = survey, .from = all ? 0 : done_objects, .notes = all ? fresh : &notes, .own = survey->own};
    if (!make_room(walk->notes, all ? notes.record_limit : 0, survey->objects)) return;
    if (all) figures.left_names[0] = 0;
    dl_iterate_phdr(open_object, walk);
    if (walk->changed_meanwhile) return;
    if (all) {
        give_back(&notes);
        notes = *fresh;
        *fresh = (struct notes){0};
    }
    done_objects = survey->objects;
    done_removals = survey->removals;
    __atomic_store_n(&done_additions, survey->additions, __ATOMIC_RELAXED);
}

static void walk_through(const struct survey *survey, struct walk *walk) {
    struct notes fresh = {0};
    uint32_t place = 0;
    walk_once(survey, walk, &fresh);
    while (walk->full && !walk->changed_meanwhile) {
        if (!make_room(&fresh, notes.record_limit * 2, survey->objects)) break;
        done_objects = 0;
        walk_once(survey, walk, &fresh);
    }
    give_back(&fresh);
    if (walk->changed_meanwhile) return;
    if (notes.to_bind) dl_iterate_phdr(bind_object, &place);
    figures.words = notes.record_count;
}

static int survey_all(struct survey *survey) {
    *survey = (struct survey){0};
    if (!take_turn(PATIENCE_NS, 0)) return 0;
    dl_iterate_phdr(survey_object, survey);
    end_turn();
    return 1;
}

/* Where something was unloaded between the survey and the walk the numbers are others. */
int hl_words_look(int opens) {
    struct walk walk = {.changed_meanwhile = 1};
    struct hl_word_figures found = {0};
    while (walk.changed_meanwhile) {
        struct survey survey;
        const int surveyed = survey_all(&survey);
        if (surveyed) wait_for_loading();
        if (!surveyed || !take_turn(PATIENCE_NS, 0)) {
            __atomic_store_n(&look_again, 1, __ATOMIC_RELAXED);
            return -EBUSY;
        }
        if (opens) __atomic_store_n(&is_open, 1, __ATOMIC_RELAXED);
        walk.changed_meanwhile = 0;
        if (hl_words_are_ours()) walk_through(&survey, &walk);
        found = figures;
        if (__atomic_exchange_n(&look_again, 0, __ATOMIC_RELAXED)) walk.changed_meanwhile = 1;
        end_turn();
    }
    if (hl_words_looked) hl_words_looked(&found);
    return 0;
}

static int read_additions(struct dl_phdr_info *info, size_t size, void *additions) {
    (void)size;
    *(uint64_t *)additions = info->dlpi_adds;
    return 1;
}

void hl_words_follow(void) {
    uint64_t additions = 0;
    const int saved = errno;
    if (!hl_words_are_ours()) return;
    if (take_turn(PATIENCE_NS, 0)) {
        dl_iterate_phdr(read_additions, &additions);
        end_turn();
        if (additions != __atomic_load_n(&done_additions, __ATOMIC_RELAXED)) hl_words_look(0);
    } else {
        __atomic_store_n(&look_again, 1, __ATOMIC_RELAXED);
    }
    errno = saved;
}

int hl_words_prepare(void) {
    static int prepared;
    if (prepared) return 0;
    if (!make_room(&notes, LEAST_RECORDS, LEAST_RUNS)) return -ENOMEM;
    const int failed = pthread_atfork(before_fork, after_fork_parent, after_fork_child);
    prepared = !failed;
    return -failed;
}

void hl_words_put_back(void) {
    uint32_t place = 0;
    if (!hl_words_are_ours() || !take_turn(UINT64_MAX, 0)) return;
    __atomic_store_n(&is_open, 0, __ATOMIC_RELAXED);
    dl_iterate_phdr(close_object, &place);
    notes.record_count = notes.run_count = notes.to_bind = done_objects = 0;
    end_turn();
}

int hl_words_are_ours(void) {
    return __atomic_load_n(&is_open, __ATOMIC_RELAXED);
}

struct hl_word_figures hl_word_figures(void) {
    return figures;
}
