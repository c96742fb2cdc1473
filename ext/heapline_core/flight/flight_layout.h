/* SPDX-License-Identifier: MIT */
/*
 * The flight file's layout: what the core writes and every reader reads.
 *
 * One file describes one process image. It is an array of 4096-byte pages; the first HL_FIXED_PAGES have a fixed
 * meaning, all later ones are taken from one bump allocator (`page_count`) and found through directories of page
 * numbers (0: no page), or, as lanes and their counts, by the number of their first 64-byte cell. Numbers are
 * native-endian; a reader refuses a file whose `byte_order` it cannot read.
 *
 * Who writes: only the process that the file describes, except `request` and `twin.asked`, which any process of the
 * same user may set. Who reads: anyone, at any time, also while it is written and after the writer was killed. So a
 * reader checks every page number and string offset against the size of what it holds.
 *
 * F1  A site's record is complete before `ready` is 1, and never changes afterwards, but for `label`, which may become
 *     more telling ("<class:Cache>" → "Cache#put", where both are on one line). Of two that threads make at once for
 *     one place, one is not ready again and nothing is counted of it.
 * F2  A lane's figures have one writer, its owner; they only grow (but `live`, which is derived from them, and the
 *     maxima, which begin again at a baseline). A lane or chunk is complete before it is named, by what was made before
 *     it; a base is complete before its chunk says that it saw the baseline.
 * F3  An allocation is counted before the program gets the block, a free before the allocator gets it back. Hence at
 *     no instant a site has more frees than allocations.
 * F4  Ruby objects are counted by one writer at a time, under the VM's lock. A row's site and class are complete before
 *     `object_rows` counts it and never change; a class's name comes later, and may become more telling.
 */
#ifndef HL_FLIGHT_LAYOUT_H
#define HL_FLIGHT_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define HL_FLIGHT_MAGIC "HEAPLINE"
#define HL_FLIGHT_VERSION 6u
#define HL_FLIGHT_BYTE_ORDER 0x01020304u

#define HL_PAGE_SIZE 4096u
#define HL_CELL_SIZE 64u
#define HL_SITES_MAX (1u << 20)
#define HL_SITES_PER_PAGE 170u /* of site records */
#define HL_SITES_PER_DIRECTORY (HL_SITES_PER_PAGE * HL_PAGE_SIZE / 4)
#define HL_LIBRARIES_MAX (1u << 14)
#define HL_TAGS_MAX (1u << 17)
#define HL_NAMES_PER_PAGE (HL_PAGE_SIZE / 4)
#define HL_OBJECT_ROWS_MAX (1u << 20) /* the last HL_OBJECT_CLASSES_MAX are for (other) alone */
#define HL_OBJECT_ROWS_PER_PAGE 32u
#define HL_OBJECT_CLASSES_MAX (1u << 16)
#define HL_OBJECT_CLASSES_PER_PAGE 512u

/* Fixed pages. */
#define HL_HEADER_PAGE 0u
#define HL_SITE_DIRECTORY_PAGE 1u    /* of directories of records, HL_SITES_PER_DIRECTORY each */
#define HL_LIBRARY_DIRECTORY_PAGE 2u /* of pages of strings, HL_NAMES_PER_PAGE each */
#define HL_TAG_DIRECTORY_PAGE 3u     /* likewise */
#define HL_FIXED_PAGES 4u

/* The place of a lane or of its counts: its file offset / HL_CELL_SIZE. 0: none. */
typedef uint32_t hl_cell_ref;

/* A string's place: its file offset / 8; there: uint16_t length, then the bytes, then NUL. 0: no string. */
typedef uint32_t hl_string_ref;
#define HL_STRING_MAX 4000u

/* Sites with a fixed number. */
enum hl_special_site {
    HL_SITE_NONE = 0,
    HL_SITE_OTHER = 1,   /* what found no room in the site table, the string space or the lane */
    HL_SITE_QUIET = 2,   /* born inside quiet: in no total */
    HL_SITE_EXITING = 3, /* by threads that are being torn down */
    HL_SITE_FIRST = 4
};

enum hl_site_kind {
    HL_KIND_SPECIAL = 0,
    HL_KIND_RUBY = 1,  /* path:line, label */
    HL_KIND_NATIVE = 2 /* library + offset, label is the nearest exported symbol */
};

/* A RUBY record's `loading`: what `require` took for the line, or a gem's line for a body that was being loaded
 * (location.h, W4). All else of the line, an autoload's caller too, is a site of its own, with 0. */
enum { HL_RUBY_LOADING = 1 };

struct hl_site_record {
    uint8_t ready;
    uint8_t kind;     /* enum hl_site_kind */
    uint16_t library; /* number of its name; 0: the Ruby VM itself or unknown */
    uint32_t tag;     /* number of its name; 0: none */
    union {
        struct {
            hl_string_ref path; /* RUBY: the iseq's path as __FILE__ has it */
            uint32_t line;
        };
        uint64_t offset; /* NATIVE: the caller's address less its library's load address; SPECIAL: which one it is */
    };
    hl_string_ref label; /* RUBY: method label; NATIVE: symbol; 0 where unknown */
    union {
        uint32_t loading;       /* RUBY */
        uint32_t symbol_offset; /* NATIVE: from the symbol's start */
    };
};

/* What a record has of these by its kind; 0: it has none. */
struct hl_site_fields {
    hl_string_ref path;
    uint32_t line, loading, symbol_offset;
    uint64_t offset;
};
static inline struct hl_site_fields hl_site_fields(const struct hl_site_record *record) {
    struct hl_site_fields fields = {0, 0, 0, 0, 0};
    if (record->kind == HL_KIND_RUBY) {
        fields.path = record->path;
        fields.line = record->line;
        fields.loading = record->loading;
    } else {
        fields.offset = record->offset;
        fields.symbol_offset = record->symbol_offset;
    }
    return fields;
}

/* What one lane counted for one site. Bytes are requested bytes; ages count generations; ms are approximate. */
struct hl_count {
    uint64_t allocations;
    uint64_t bytes_allocated;
    uint64_t frees;
    uint64_t bytes_freed;
    uint64_t age_sum;    /* of freed blocks, in generations */
    uint64_t age_ms_sum; /* of freed blocks, in milliseconds */
    uint64_t temporary;  /* freed within the generation of birth or the next */
    uint32_t age_max;    /* since the chunk saw its last baseline; its base has the one before */
    uint32_t age_ms_max;
};

static inline void hl_count_add_longest(struct hl_count *sum, const struct hl_count *more) {
    if (more->age_max > sum->age_max) sum->age_max = more->age_max;
    if (more->age_ms_max > sum->age_ms_max) sum->age_ms_max = more->age_ms_max;
}

static inline void hl_count_add(struct hl_count *sum, const struct hl_count *more) {
    sum->allocations += more->allocations;
    sum->bytes_allocated += more->bytes_allocated;
    sum->frees += more->frees;
    sum->bytes_freed += more->bytes_freed;
    sum->age_sum += more->age_sum;
    sum->age_ms_sum += more->age_ms_sum;
    sum->temporary += more->temporary;
    hl_count_add_longest(sum, more);
}

/* The part of a count's frees since the baseline whose blocks were born before it. */
struct hl_old {
    uint64_t frees;
    uint64_t bytes_freed;
};

/*
 * Some sites of one lane and what it counted for them. Behind this struct stand the sites' numbers, and from the next
 * cell on `capacity` struct hl_count. A site may stand there more than once: its counts add up.
 *
 * `base` is the place of `capacity` struct hl_count and as many struct hl_old: what these counts were when the chunk
 * saw baseline number `baseline`, and the old frees since then. While `baseline` differs from the header's, the chunk
 * has counted nothing since the baseline in force, and its counts are their own base; `base` then has only maxima.
 */
struct hl_count_chunk {
    hl_cell_ref next; /* the lane's next one, which was made later; 0: none */
    hl_cell_ref base; /* 0: there was nothing to keep */
    uint32_t capacity;
    uint32_t used; /* sites; each is valid once it is counted here */
    uint64_t baseline;
    uint32_t sites[];
};
/* Those of a lane's first chunk, of its second, and of all others: so many fill the cells. */
#define HL_CHUNK_LEAST 10u
#define HL_CHUNK_NEXT 26u
#define HL_CHUNK_MOST 58u
#define HL_CHUNK_CELLS_MOST (HL_CHUNK_MOST + 4u)

static inline uint32_t hl_chunk_head_cells(uint32_t capacity) {
    return (uint32_t)((sizeof(struct hl_count_chunk) + capacity * sizeof(uint32_t) + HL_CELL_SIZE - 1) / HL_CELL_SIZE);
}
static inline struct hl_count *hl_chunk_counts(const struct hl_count_chunk *chunk) {
    return (struct hl_count *)((uintptr_t)chunk + hl_chunk_head_cells(chunk->capacity) * HL_CELL_SIZE);
}
static inline uint32_t hl_chunk_cells(uint32_t capacity) {
    return hl_chunk_head_cells(capacity) + capacity;
}
static inline uint32_t hl_base_cells(uint32_t capacity) {
    return capacity + (uint32_t)((capacity * sizeof(struct hl_old) + HL_CELL_SIZE - 1) / HL_CELL_SIZE);
}

/*
 * A lane: what one thread counts, and those before it that had the lane. Lane number 0 is shared by threads that can
 * own none. Live bytes have an identity, which holds whenever no thread is between two of its writes:
 *
 *     live_bytes (header) + sum of (live - published) = sum of live
 *         = sum of (bytes_allocated - bytes_freed) over all counts but those of HL_SITE_QUIET
 *
 * What was freed and found no counter (`counts_lost`, `bytes_lost`) is in all three as if it lived.
 */
struct hl_lane_record {
    hl_cell_ref next;   /* the lane that was made after this one; 0: none */
    hl_cell_ref chunks; /* the first one */
    uint32_t number;    /* in the list, from 0 */
    uint32_t owner;     /* kernel thread id; 0: free, its figures stay and the next owner adds to them */
    int64_t live;       /* bytes: allocated less freed by this lane (below 0 where it frees others' blocks) */
    int64_t high;       /* the highest `live` since `published` */
    int64_t published;  /* `live` when it was last added to the header's live_bytes */
    uint64_t reserved[3];
};

/*
 * Ruby objects of one class that were born at one site. Bytes are those of their slots in the object heap; ages count
 * generations. `base_*` is what was counted when the row saw baseline number `baseline`, `old_*` the part of the frees
 * since then whose objects were born before it; while `baseline` differs from the header's, the row has counted nothing
 * since the baseline.
 */
struct hl_object_row {
    uint32_t site;
    uint32_t class_index;
    uint64_t allocated;
    uint64_t freed;
    uint64_t bytes_allocated;
    uint64_t bytes_freed;
    uint64_t age_sum;   /* of freed objects */
    uint64_t temporary; /* freed within the generation of birth or the next */
    uint32_t baseline;
    uint32_t age_max; /* with all that a birth or a death counts in the first line of memory */
    uint64_t base_allocated;
    uint64_t base_freed;
    uint64_t base_bytes_allocated;
    uint64_t base_bytes_freed;
    uint64_t old_freed;
    uint64_t old_bytes_freed;
    uint64_t reserved[2];
};

/* Rows and classes with a fixed number: 0 is none, HL_OBJECT_OTHER what found no room. */
#define HL_OBJECT_OTHER 1u

enum hl_object_class_flag {
    HL_CLASS_UNNAMED = 1,   /* its name was not asked for yet */
    HL_CLASS_ANONYMOUS = 2, /* it has none of its own: the name tells what it is a class of */
    HL_CLASS_SINGLETON = 4,
    HL_CLASS_HIDDEN = 8, /* the VM's own objects, without a class */
    HL_CLASS_GONE = 16   /* the class itself was freed */
};

struct hl_object_class {
    hl_string_ref name; /* 0: none (yet) */
    uint8_t type;       /* of the objects: Ruby's T_STRING, T_DATA … */
    uint8_t flags;      /* enum hl_object_class_flag */
    uint16_t reserved;
};

/* At `object_directory`: page numbers of rows, then of classes. */
#define HL_OBJECT_ROW_PAGES (HL_OBJECT_ROWS_MAX / HL_OBJECT_ROWS_PER_PAGE)
#define HL_OBJECT_CLASS_PAGES (HL_OBJECT_CLASSES_MAX / HL_OBJECT_CLASSES_PER_PAGE)
#define HL_OBJECT_DIRECTORY_PAGES                                                                                      \
    (((HL_OBJECT_ROW_PAGES + HL_OBJECT_CLASS_PAGES) * sizeof(uint32_t) + HL_PAGE_SIZE - 1) / HL_PAGE_SIZE)

/* COPIED: no process writes this file, it is a reader's copy of one that ran at `ended_ns`. FORKED: of a child that has
 * not taken over yet what it inherited: most of its pages are holes, and only the header may be read. */
enum hl_state {
    HL_STATE_RUNNING = 1,
    HL_STATE_EXITED = 2,
    HL_STATE_EXECED = 3,
    HL_STATE_COPIED = 4,
    HL_STATE_FORKED = 5
};

/* What another process asks for: bits of `request`. The process clears the bits it took and counts `answered`. */
enum hl_request {
    HL_REQUEST_BASELINE = 1u << 0,
    HL_REQUEST_FIGURES = 1u << 1, /* take the figures that cost little */
    HL_REQUEST_SURVEY =
        1u << 2,               /* also let the allocator go through its free blocks, which holds its locks meanwhile */
    HL_REQUEST_TRIM = 1u << 3, /* let the allocator give back what it can, and take its figures then */
    HL_REQUEST_TWIN = 1u << 4, /* do what `twin.asked` says; without any, forget what is left of the last twin */
    HL_REQUEST_RECORD = 1u << 5,        /* record every event from now on, into the ring beside this file (PID.ring) */
    HL_REQUEST_RECORD_END = 1u << 6,    /* … no more */
    HL_REQUEST_RECORD_NATIVE = 1u << 7, /* … with C frames */
    HL_REQUEST_LEAKS = 1u << 8, /* look for lost blocks; the report lies beside this file, as PID-STARTTICKS.leaks */
    HL_REQUEST_LEAKS_SINCE = 1u << 9,      /* … of those born since the baseline */
    HL_REQUEST_LEAKS_REACHABLE = 1u << 10, /* … and tell of reachable ones too */
    HL_REQUEST_TAKE_OVER = 1u << 11,       /* what it inherited (HL_STATE_FORKED); so does any other request */
};

/*
 * What only the process knows of its memory, as it was when it was asked. Each group has its time (CLOCK_REALTIME; 0:
 * never taken), which is written last. Bytes; HL_UNTOLD: the allocator does not tell.
 */
#define HL_UNTOLD UINT64_MAX
#define HL_ARENAS 32u /* the last one holds the sums of all further ones */

struct hl_arena {
    uint64_t system_bytes; /* taken from the kernel */
    uint64_t free_bytes;   /* of these, in freed blocks */
};

struct hl_figures {
    uint64_t objects_ns;
    uint64_t heap_pages; /* of the object heap */
    uint64_t heap_page_bytes;
    uint64_t live_slots;
    uint64_t free_slots;
    uint64_t live_slot_bytes;

    uint64_t allocator_ns;
    uint64_t resident_bytes;   /* what it takes for resident of its memory; glibc does not tell, see large_bytes */
    uint64_t free_bytes;       /* freed and not given back */
    uint64_t metadata_bytes;   /* its own */
    uint64_t returnable_bytes; /* whole pages in what is free */
    uint32_t arena_count;      /* of `arenas`; glibc only */
    uint32_t reserved;
    struct hl_arena arenas[HL_ARENAS];

    uint64_t trim_ns;           /* the end of the last trim */
    uint64_t trim_before_bytes; /* RSS before and after it */
    uint64_t trim_after_bytes;
};

/*
 * A copy of the process, made by fork, that writes into a pipe what another process wants to read of this one. The
 * reader sets `asked`, once: its pid, and in the upper half the task (1: heap dump, 2: backtraces, 3: heap pages), with
 * 0x100 after a full GC. Its pipe lies beside the flight file, under the same name with PID.pipe instead of "flight".
 */
struct hl_twin {
    uint64_t asked;       /* 0: nothing, or taken */
    uint64_t answered_ns; /* CLOCK_REALTIME; written last */
    uint64_t pause_ns;    /* for which the program's Ruby threads waited */
    uint32_t pid;         /* of the twin; 0: none was made */
    int32_t status;       /* its wait status; -1: it has not ended */
    char problem[128];    /* why there is none */
};

/* What the last visit found (visit.h). */
enum hl_visit_found {
    HL_VISIT_PASSES = 1,    /* the main thread comes to a safe point of Ruby's at once */
    HL_VISIT_ELSEWHERE = 2, /* it waits in code that is not Ruby's: `where` */
    HL_VISIT_BUSY = 3,      /* it is inside heapline, or that is inert */
    HL_VISIT_NO_VM = 4      /* there is no VM that runs jobs */
};

/* Where another process may have the main thread look at `request` while that waits in a system call. Addresses in the
 * process. */
struct hl_visit_door {
    uint64_t enter; /* code, up to `end`; 0: there is none */
    uint64_t end;
    uint64_t registers; /* a struct user_regs_struct, to be written before */
    uint64_t stack;     /* for it */
    uint64_t stack_bytes;
    uint32_t visits; /* so far; written last */
    uint32_t found;  /* enum hl_visit_found */
    char where[128]; /* path of a library; empty: not known */
};

/* Spans of time, in generations (GC.count). `count` is written last. */
struct hl_spans {
    uint64_t count;
    uint64_t sum;
    uint64_t squares; /* sum of their squares; UINT64_MAX: more than that */
    uint32_t least;
    uint32_t most;
};

/* Pages of the object heap that this process gave back to the kernel. */
struct hl_heap_page_figures {
    struct hl_spans lifespans;
    struct hl_spans deathspans; /* of addresses: from one page's end to the birth of the next one there */
};

/* How the VM's structs are laid out was compared with what its public API says (ruby_proof.h). */
enum hl_layout_outcome {
    HL_LAYOUT_OPEN = 0,    /* not decided, or there was no VM */
    HL_LAYOUT_KNOWN = 1,   /* as heapline's table says */
    HL_LAYOUT_FOUND = 2,   /* there is no row for this version, or fields lie elsewhere: `found` */
    HL_LAYOUT_REFUSED = 3, /* it differs from Ruby's own answers */
    HL_LAYOUT_UNASKED = 4  /* HEAPLINE=api */
};

struct hl_layout_figures {
    uint32_t outcome; /* enum hl_layout_outcome */
    uint32_t looks;
    uint32_t lines;     /* that were the same, each of another instruction */
    uint32_t disagreed; /* looks */
    uint64_t ns;        /* of processor time, that the looks took */
    char found[128];    /* words "field offset", parted by commas */
    char missing[64];   /* fields that were not found, and are not needed for lines */
};

enum hl_baseline_kind { HL_BASELINE_START = 0, HL_BASELINE_FORK = 1, HL_BASELINE_CLEAR = 2 };

struct hl_flight_header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint32_t state; /* enum hl_state */
    uint32_t request;
    uint32_t answered;
    uint32_t pid;
    uint32_t parent;      /* getppid() at the start or fork */
    uint32_t forked_from; /* pid of the process whose counts this file began with; 0: none */
    uint32_t top;         /* pid of the process that `heapline CMD` became; 0: unknown; see top_ticks */
    uint32_t exit_status;
    uint64_t start_ticks; /* /proc/PID/stat field 22: with pid and pid_namespace, the identity of the process */
    uint64_t started_ns;  /* CLOCK_REALTIME */
    uint64_t ended_ns;    /* CLOCK_REALTIME when an orderly end began; 0: it did not */

    uint64_t page_count; /* pages in use, the fixed ones included */
    uint64_t page_limit;
    uint32_t site_count; /* records handed out, the special ones included; each is valid once `ready` */
    uint32_t site_limit;
    uint32_t library_count;
    uint32_t tag_count;

    uint64_t generation;  /* GC.count + the number of baselines, as last seen */
    uint64_t gc_count;    /* as last seen */
    uint64_t baseline;    /* number of the baseline in force; 0: the start */
    uint64_t baseline_ns; /* CLOCK_REALTIME */
    uint64_t baseline_generation;
    uint32_t baseline_kind; /* enum hl_baseline_kind */
    uint32_t attribution;   /* enum hl_attribution */

    int64_t live_bytes; /* sum of the lanes' `published` */
    int64_t peak_bytes;
    uint64_t peak_ns;   /* CLOCK_REALTIME */
    uint64_t own_bytes; /* private memory of heapline: caches, tables */

    /* Failures that were survived; each is said in the report. */
    uint64_t sites_refused; /* lookups that went to (other): the table was full */
    uint64_t pages_refused; /* no room for a page: full file system, limits */
    uint64_t counts_lost;   /* frees that found no counter */
    uint64_t mismatches;    /* lines that differed from the public API */

    char ruby[96];      /* RUBY_DESCRIPTION */
    char allocator[64]; /* below: "glibc 2.36", "jemalloc 5.3.0" … */
    char command[1024]; /* /proc/self/cmdline, NUL-separated, cut */
    uint32_t command_length;
    char options[512];   /* HEAPLINE as it was understood */
    int64_t large_bytes; /* of large live blocks (hl_real_large); glibc: of their mappings */
    struct hl_figures figures;

    uint32_t object_directory; /* page number; 0: objects were never accounted */
    uint32_t objects_on;       /* they are now */
    uint32_t object_rows;      /* in use, number 0 included */
    uint32_t object_classes;   /* likewise */
    uint64_t objects_ns;       /* CLOCK_REALTIME when their accounting began; what is older is in no row */
    uint64_t objects_allocated;
    uint64_t objects_freed;
    uint64_t objects_refused;    /* went to (other): no room for a row or a class */
    uint64_t objects_untracked;  /* could not be followed to their end: no memory, or a heap of unknown build */
    uint64_t objects_mismatches; /* their slot was used again and their end was not seen: counted as freed then */
    uint64_t objects_ractors;    /* Ractors whose objects are not seen */
    uint64_t objects_folds;      /* raised before and after rows are brought together (object_rows.c) */

    struct hl_twin twin;
    struct hl_heap_page_figures heap_page_figures;
    int32_t record_problem; /* what came of the last HL_REQUEST_RECORD: 0, or a negative errno */
    hl_cell_ref lanes;      /* the first one */
    uint64_t moved_bytes;   /* COPIED: what the process allocated and freed while it was copied */

    /* Pids are used again, and each pid namespace has its own. */
    uint64_t pid_namespace;     /* inode of /proc/self/ns/pid */
    uint64_t forked_from_ticks; /* start_ticks of the process forked_from */
    uint64_t top_ticks;         /* of the process `top`; 0: unknown */

    uint64_t bytes_lost; /* of `counts_lost` */

    struct hl_visit_door visit;

    uint64_t late_children; /* forked from it, which began with its counts of when they took over (inheritance.h, I5) */

    struct hl_layout_figures layout;

    /* Of an accounting that began after the process did. What it finds are older blocks: in no site, and in no total.
     * Bytes are the allocator's, its blocks' usable sizes. */
    uint64_t late_ns;     /* so long had the process run when counting began; 0: it is counted since its start */
    uint64_t older_bytes; /* in use then; HL_UNTOLD: the allocator does not tell */
    uint64_t older_frees;
    uint64_t older_bytes_freed;
    uint64_t stopped_ns; /* CLOCK_REALTIME when counting ended while the process went on; 0: it did not */
    uint32_t left_files; /* page of the names of its children's files (left_files.c); 0: there was no child yet */

    /* Of a process that was not preloaded: names of the libraries that call another allocator than the one below us,
     * and so are not counted, parted by newlines, cut. */
    char uncovered[512];

    int64_t large_ruby_bytes; /* of `large_bytes`: allocated by Ruby lines */
    uint64_t space_bytes; /* one of the allocator's figures: addresses that it has, of memory that it keeps given back
                           * too; 0: it does not tell, or was not asked. glibc: of mappings that heapline made */
};

enum hl_attribution {
    HL_ATTRIBUTION_NONE = 0,   /* no Ruby VM yet */
    HL_ATTRIBUTION_FRAMES = 1, /* own walk of the control frames */
    HL_ATTRIBUTION_PUBLIC = 2  /* rb_profile_frames: unknown Ruby, or the check failed */
};

_Static_assert(sizeof(struct hl_site_record) == 24, "170 records a page");
_Static_assert(sizeof(struct hl_count) == 64, "one cache line");
_Static_assert(sizeof(struct hl_old) == 16 && sizeof(struct hl_count_chunk) == 24, "hl_base_cells, HL_CHUNK_MOST");
_Static_assert(sizeof(struct hl_object_row) == 128 && offsetof(struct hl_object_row, base_allocated) == 64,
               "32 a page");
_Static_assert(sizeof(struct hl_object_class) == 8, "512 a page");
_Static_assert(sizeof(struct hl_lane_record) == HL_CELL_SIZE, "one cell");
_Static_assert(sizeof(struct hl_flight_header) <= HL_PAGE_SIZE, "one page");

#endif
