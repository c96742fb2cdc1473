// What Heapline::Format::Html::LeakData wrote: records as columns over one table of strings and one of frames.

/** The classes of loss, the worst first. */
export const KINDS = ["definite", "indirect", "possible", "reachable"] as const;
export type Kind = (typeof KINDS)[number];

export const TITLES: Record<Kind, string> = {
  definite: "definitely lost", indirect: "indirectly lost", possible: "possibly lost", reachable: "still reachable",
};

export interface Frame {
  /** The function, or library and offset where no symbol tells. */
  name: string;
  /** "parser.c:120", or "" where no line is known. */
  place: string;
  library: string;
  inlined: boolean;
}

/** Numbers into the strings, but for `inlined`. */
interface FrameColumns {
  name: number[];
  place: number[];
  library: number[];
  inlined: number[];
}

/** Numbers in `place` to `library`, `culprit` and `owner` point into the strings, those in `frames` into the frames. */
interface RecordColumns {
  kind: number[];
  bytes: number[];
  blocks: number[];
  led_bytes: number[];
  led_blocks: number[];
  place: number[];
  label: number[];
  library: number[];
  tag: number[];
  /** The function that is to blame, and its library. */
  culprit: number[];
  owner: number[];
  pid: number[];
  first: number[];
  last: number[];
  addresses: string[][];
  frames: number[][];
}

export interface LeakReport {
  version: string;
  title: string;
  /** A line for each process. */
  facts: string[];
  tiles: [string, string, string | null][];
  /** What makes the result uncertain, in sentences. */
  notes: string[];
  /** What is not shown, and why, in sentences. */
  dropped: string[];
  strings: string[];
  frames: FrameColumns;
  records: RecordColumns;
  /** How many smaller records were left out. */
  left_out: number;
}

type Text = "place" | "label" | "library" | "tag" | "culprit" | "owner";

/** The records, read one by one. */
export class Records {
  readonly count: number;

  constructor(private readonly report: LeakReport) {
    this.count = report.records.kind.length;
  }

  kind(record: number): Kind { return KINDS[this.report.records.kind[record]]; }
  figure(record: number, name: "bytes" | "blocks" | "led_bytes" | "led_blocks" | "pid" | "first" | "last"): number { return this.report.records[name][record]; }
  text(record: number, name: Text): string { return this.string(this.report.records[name][record]); }
  addresses(record: number): string[] { return this.report.records.addresses[record]; }
  frames(record: number): Frame[] { return this.report.records.frames[record].map((frame) => this.frame(frame)); }

  /** All words by which the filter finds it. */
  straw(record: number): string {
    const frames = this.frames(record).flatMap(({ name, place, library }) => [name, place, library]);
    const own = (["place", "label", "library", "tag"] as const).map((name) => this.text(record, name));
    return [TITLES[this.kind(record)], ...own, ...frames].join("\n").toLowerCase();
  }

  private frame(number: number): Frame {
    const { name, place, library, inlined } = this.report.frames;
    return { name: this.string(name[number]), place: this.string(place[number]), library: this.string(library[number]), inlined: inlined[number] === 1 };
  }

  private string(number: number): string {
    return this.report.strings[number] ?? "";
  }
}
