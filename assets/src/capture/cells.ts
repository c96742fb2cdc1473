// Blocks by who allocated them, when they were born and when they ended: sums of any part of them. What is not chosen is as if it
// had not been recorded, but for the peak, which stays that of the whole.
import type { CaptureReport, Metric } from "./data";

/** What is shown. Spans: from the first on, and before the last. */
export interface Choice {
  from: number;
  to: number;
  /** Number; -1: all. */
  thread: number;
  tag: number;
}

/** Bytes, and for `count` blocks, by row. */
export type Sums = Record<Metric, Float64Array>;

const enum Flag { Temporary = 1, AtPeak = 2 }

export class Cells {
  private readonly row: Uint32Array;
  private readonly born: Uint8Array;
  /** Span of the end; what lived on ends after all. */
  private readonly ended: Uint8Array;
  private readonly flags: Uint8Array;
  private readonly blocks: Float64Array;
  private readonly bytes: Float64Array;

  constructor(private readonly report: CaptureReport) {
    const numbers = varints(atob(report.cells));
    const count = numbers.length / 5;
    [this.row, this.born, this.ended, this.flags] = [new Uint32Array(count), new Uint8Array(count), new Uint8Array(count), new Uint8Array(count)];
    [this.blocks, this.bytes] = [new Float64Array(count), new Float64Array(count)];
    for (let cell = 0, row = 0, at = 0; cell < count; cell++, at += 5) {
      this.row[cell] = row += numbers[at];
      this.born[cell] = numbers[at + 1] >> 2;
      this.flags[cell] = numbers[at + 1] & 3;
      this.ended[cell] = numbers[at + 2] === 0 ? 255 : this.born[cell] + numbers[at + 2] - 1;
      this.blocks[cell] = numbers[at + 3];
      this.bytes[cell] = numbers[at + 4];
    }
  }

  sum({ from, to, thread, tag }: Choice): Sums {
    const { rows } = this.report;
    const made = (): Float64Array => new Float64Array(rows.node.length);
    const sums: Sums = { peak: made(), live: made(), allocated: made(), temporary: made(), count: made() };
    for (let cell = 0; cell < this.row.length; cell++) {
      const row = this.row[cell];
      if (this.born[cell] < from || this.born[cell] >= to) continue;
      if ((thread >= 0 && rows.thread[row] !== thread) || (tag >= 0 && rows.tag[row] !== tag)) continue;
      const bytes = this.bytes[cell];
      sums.allocated[row] += bytes;
      sums.count[row] += this.blocks[cell];
      if (this.flags[cell] & Flag.AtPeak) sums.peak[row] += bytes;
      if (this.ended[cell] >= to) sums.live[row] += bytes;
      else if (this.flags[cell] & Flag.Temporary) sums.temporary[row] += bytes;
    }
    return sums;
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
