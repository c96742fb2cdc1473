// Blocks by who allocated them, when they were born and when they ended: sums of any part of them. What is not chosen is as if it
// had not been recorded, but for the peak of a thread or tag: it is told what of it was live when most of the time's blocks were.
import type { View } from "./data";

/** What is shown. Spans: from the first on, and before the last. */
export interface Choice {
  from: number;
  to: number;
  /** Number; -1: all. */
  thread: number;
  tag: number;
}

/** Bytes, and for `count` blocks, by row. */
export type Sums = Record<string, Float64Array>;

const AFTER_ALL = 0xffff;

export class Cells {
  private readonly row: Uint32Array;
  private readonly born: Uint16Array;
  /** Tick of the end; what lived on ends after all. */
  private readonly ended: Uint16Array;
  private readonly temporary: Uint8Array;
  private readonly blocks: Float64Array;
  private readonly bytes: Float64Array;

  constructor(private readonly view: View) {
    const numbers = varints(atob(view.cells));
    const count = numbers.length / 5;
    [this.row, this.born, this.ended, this.temporary] = [new Uint32Array(count), new Uint16Array(count), new Uint16Array(count), new Uint8Array(count)];
    [this.blocks, this.bytes] = [new Float64Array(count), new Float64Array(count)];
    for (let cell = 0, row = 0, at = 0; cell < count; cell++, at += 5) {
      this.row[cell] = row += numbers[at];
      this.born[cell] = numbers[at + 1] >> 1;
      this.temporary[cell] = numbers[at + 1] & 1;
      this.ended[cell] = numbers[at + 2] === 0 ? AFTER_ALL : this.born[cell] + numbers[at + 2] - 1;
      this.blocks[cell] = numbers[at + 3];
      this.bytes[cell] = numbers[at + 4];
    }
  }

  sum({ from, to, thread, tag }: Choice): Sums {
    const { rows, starts } = this.view;
    const [first, end] = [starts[from], starts[to]];
    const peak = this.peak(first, end);
    const made = (): Float64Array => new Float64Array(rows.node.length);
    const sums = { peak: made(), live: made(), allocated: made(), temporary: made(), count: made() };
    for (let cell = 0; cell < this.row.length; cell++) {
      const row = this.row[cell];
      if (this.born[cell] < first || this.born[cell] >= end) continue;
      if ((thread >= 0 && rows.thread[row] !== thread) || (tag >= 0 && rows.tag[row] !== tag)) continue;
      const bytes = this.bytes[cell];
      sums.allocated[row] += bytes;
      sums.count[row] += this.blocks[cell];
      if (this.born[cell] <= peak && this.ended[cell] > peak) sums.peak[row] += bytes;
      if (this.ended[cell] >= end) sums.live[row] += bytes;
      else if (this.temporary[cell]) sums.temporary[row] += bytes;
    }
    return sums;
  }

  /** The first tick after which most was live of what was born from one tick on, and before another; -1: nothing was. */
  private peak(first: number, end: number): number {
    const change = new Float64Array(end - first + 1);
    for (let cell = 0; cell < this.row.length; cell++) {
      if (this.born[cell] < first || this.born[cell] >= end) continue;
      change[this.born[cell] - first] += this.bytes[cell];
      if (this.ended[cell] < end) change[this.ended[cell] - first] -= this.bytes[cell];
    }
    // What ends a span is no moment at which most can be live.
    const ends = new Set(this.view.starts.map((start) => start - 1));
    let [peak, most] = [-1, 0];
    for (let tick = first, live = 0; tick < end; tick++) {
      live += change[tick - first];
      if (live > most && !ends.has(tick)) [peak, most] = [tick, live];
    }
    return peak;
  }
}

/** 7 bits a byte, the lowest first. */
function varints(packed: string): Float64Array {
  const numbers = new Float64Array(packed.length);
  let count = 0;
  for (let at = 0, value = 0, factor = 1; at < packed.length; at++) {
    const byte = packed.charCodeAt(at);
    value += (byte & 0x7f) * factor;
    factor *= 128;
    if (byte >= 0x80) continue;
    numbers[count++] = value;
    [value, factor] = [0, 1];
  }
  return numbers.subarray(0, count);
}
