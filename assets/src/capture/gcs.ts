// GCs on the plot of memory: marks that tell what they were; those that would lie on each other are one.
import { svg } from "../dom";
import { count, seconds } from "../units";
import type { Gcs } from "./data";

const NEAREST = 4; // pixels from mark to mark
const [LEAST, MOST] = [5, 22]; // pixels of height

/** Of a GC, or of several. */
export interface Mark {
  x: number;
  /** Pixels, by how long the program stood still. */
  height: number;
  words: string;
}

interface Group { x: number; first: number; last: number; time: number; until: number | null; still: number | null }

export function marks(gcs: Gcs, x: (seconds: number) => number): Mark[] {
  const groups: Group[] = [];
  gcs.time.forEach((time, at) => {
    const group = groups.at(-1);
    if (!group || x(time) - group.x >= NEAREST) {
      groups.push({ x: x(time), first: gcs.first[at], last: gcs.last[at], time, until: gcs.until[at], still: gcs.still[at] });
      return;
    }
    group.last = gcs.last[at];
    group.until = gcs.until[at];
    group.still = gcs.still[at] === null ? group.still : (group.still ?? 0) + (gcs.still[at] ?? 0);
  });
  const longest = Math.max(...groups.map(({ still }) => still ?? 0), 1e-9);
  return groups.map((group) => ({ x: group.x, height: LEAST + (MOST - LEAST) * ((group.still ?? 0) / longest), words: words(group) }));
}

function words({ first, last, time, until, still }: Group): string {
  const which = first === last ? `GC ${count(first)}` : `${count(last - first + 1)} GCs, ${count(first)} to ${count(last)}`;
  const end = until === null ? "" : ` until ${seconds(until)}`;
  return `${which}: from ${seconds(time)}${end}${still === null ? "" : `; the program stood still ${milliseconds(still)}`}`;
}

function milliseconds(time: number): string {
  return time < 1 ? `${(time * 1000).toFixed(time < 0.01 ? 2 : 1)} ms` : seconds(time);
}

/** It answers to the pointer where that is near. */
export function gcMark({ x, height, words: text }: Mark, bottom: number): SVGElement {
  return svg("g", { class: "gc-mark" }, svg("title", {}, text),
    svg("rect", { class: "gc-room", x: x - NEAREST / 2, y: bottom - MOST, width: NEAREST, height: MOST }),
    svg("line", { class: "gc", x1: x, x2: x, y1: bottom - height, y2: bottom }));
}
