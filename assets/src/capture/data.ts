// What Heapline::Recording::PageData wrote: frames, call paths, and blocks as cells.
import type { Declared } from "../columns";

/** By what blocks are weighed: the key of one that is declared. */
export type Metric = string;

/** What a frame is: of Ruby, native, what stands for other frames, or the class of an object. */
export const enum FrameKind { Ruby, Native, Special, Class }

export type Kind = "blocks" | "mappings" | "objects";

export interface CaptureReport {
  version: string;
  /** Shown first. */
  metric: Metric;
  /** name: where there is room for more than a title. */
  metrics: (Declared & { name: string })[];
  command: string;
  facts: string[];
  /** What is missing, in sentences. */
  notes: string[];
  /** Of the same recording. */
  views: View[];
  gcs: Gcs;
  strings: string[];
}

/** Columns of GCs in their order, or of neighbours together: generations, and seconds since the recording began; `still`: for which the
 *  program stood still. */
export interface Gcs { first: number[]; last: number[]; time: number[]; until: (number | null)[]; still: (number | null)[] }

/** What was recorded of one kind. */
export interface View {
  kind: Kind;
  tiles: [string, string, string | null][];
  notes: string[];
  /** Columns by number of the frame; `name`, `path` (of native code its source where it is known, else its
   *  library), `library` and `gem` are numbers in the strings. */
  frames: { name: number[]; path: number[]; library: number[]; line: number[]; kind: FrameKind[]; gem: number[]; source: Record<string, string> };
  /** The tree of call paths: node 0 is the root, a parent's number is below that of its children. */
  nodes: { parent: number[]; frame: number[] };
  /** Who allocated: where a path ends, and numbers in `threads` and `tags`. */
  rows: { node: number[]; thread: number[]; tag: number[] };
  threads: (string | null)[];
  tags: (string | null)[];
  /** See ext/heapline_capture/cells.hpp; base64. */
  cells: string;
  /** Seconds of a span; the first tick of each, and how many ticks there are. */
  width: number;
  starts: number[];
  /** Columns; seconds and bytes. */
  plot: {
    time: number[]; live_bytes: number[]; most_bytes: number[]; rss: (number | null)[]; heap_bytes: (number | null)[];
    peak_at: number; step: number;
  };
}

/** How many spans there are. */
export function spans({ starts }: View): number {
  return starts.length - 1;
}

/** What frames are called. */
export class Frames {
  constructor(private readonly view: View, private readonly strings: string[]) {}

  name(frame: number): string { return frame === 0 ? "all" : this.string(this.view.frames.name[frame]); }
  gem(frame: number): string { return this.string(this.view.frames.gem[frame]); }
  path(frame: number): string { return this.string(this.view.frames.path[frame]); }
  library(frame: number): string { return this.string(this.view.frames.library[frame]); }
  kind(frame: number): FrameKind { return this.view.frames.kind[frame]; }
  source(frame: number): string { return this.view.frames.source[frame] ?? ""; }

  /** "app.rb:12"; of native code its source or library. */
  place(frame: number): string {
    const line = this.view.frames.line[frame];
    return line > 0 ? `${this.path(frame)}:${line}` : this.path(frame);
  }

  /** Which frames have all words, by number. */
  matching(text: string): Uint8Array {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return Uint8Array.from(this.view.frames.name, (_, frame) => {
      if (frame === 0 || words.length === 0) return 0;
      const straw = `${this.name(frame)}\n${this.place(frame)}\n${this.gem(frame)}`.toLowerCase();
      return words.every((word) => straw.includes(word)) ? 1 : 0;
    });
  }

  private string(number: number): string {
    return this.strings[number] ?? "";
  }
}
