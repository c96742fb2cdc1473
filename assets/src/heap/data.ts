// What Heapline::Heap::PageData wrote: columns over one table of strings; 0 is none, -1 not known.
import type { Declared } from "../columns";

interface NodeColumns {
  words: number[];
  class: number[];
  address: string[];
  place: number[];
  line: number[];
  bytes: number[];
  generation: number[];
  retained: number[];
  retained_objects: number[];
  /** The node that dominates it; -1: none, or not in the page. */
  holder: number[];
  /** The step before it on the shortest way from a root, and by which name that has it. */
  via: number[];
  name: number[];
  /** By node: how many references there are to it, and some of them as node and name. */
  referrers: Record<string, [number, ...[number, number][]]>;
  /** By node: class, how many objects of it that holds, and what these retain. */
  held: Record<string, [number, number, number][]>;
}

export interface GroupColumns {
  bytes: number[];
  count: number[];
  slot_bytes: number[];
  /** Those that were left out: how many, their bytes, their objects. */
  rest: [number, number, number];
}

export interface ClassColumns extends GroupColumns {
  name: number[];
  /** Where it is defined. */
  place: number[];
  line: number[];
  retained_bytes: number[];
}

export interface LineColumns extends GroupColumns {
  place: number[];
  line: number[];
  gem: number[];
}

export interface EqualColumns {
  value: number[];
  bytesize: number[];
  count: number[];
  bytes: number[];
  wasted_bytes: number[];
}

export interface HeapReport {
  version: string;
  /** Columns of the tables. */
  columns: Record<"holders" | "classes" | "lines" | "equal", Declared[]>;
  file: string;
  facts: string[];
  problems: string[];
  tiles: [string, string, string | null][];
  /** Bytes of all objects. */
  total: number;
  nodes: NodeColumns;
  classes: ClassColumns;
  lines: LineColumns | null;
  equal: EqualColumns;
  strings: string[];
}

/** The step of a way: a node, and by which name the one before has it. */
export interface Step {
  node: number;
  name: string;
}

/** What a node holds of one class. */
export interface Held {
  name: string;
  count: number;
  retained: number;
}

/** The objects that the page knows. */
export class Nodes {
  readonly count: number;
  readonly bytes: number[];
  readonly retained: number[];
  readonly retainedObjects: number[];
  /** Nodes of which it is known what they retain, the largest first. */
  readonly holders: Uint32Array;
  private readonly held: number[][];

  constructor(private readonly report: HeapReport) {
    const { nodes } = report;
    this.count = nodes.words.length;
    this.bytes = nodes.bytes;
    this.retained = nodes.retained;
    this.retainedObjects = nodes.retained_objects;
    this.held = Array.from({ length: this.count }, () => []);
    const known = Uint32Array.from({ length: this.count }, (_, node) => node).filter((node) => nodes.retained[node] >= 0);
    this.holders = known.sort((a, b) => nodes.retained[b] - nodes.retained[a] || a - b);
    for (const node of this.holders) if (nodes.holder[node] >= 0) this.held[nodes.holder[node]].push(node);
  }

  words(node: number): string { return this.text(this.report.nodes.words[node]); }
  className(node: number): string { return this.text(this.report.nodes.class[node]); }
  address(node: number): string { return this.report.nodes.address[node]; }
  isRoot(node: number): boolean { return this.address(node) === ""; }
  generation(node: number): number { return this.report.nodes.generation[node]; }
  holder(node: number): number { return this.report.nodes.holder[node]; }

  /** "app.rb:12", or "". */
  location(node: number): string {
    const place = this.text(this.report.nodes.place[node]);
    return place && `${place}:${this.report.nodes.line[node]}`;
  }

  /** What it dominates at once, as far as the page knows; the largest first. */
  heldBy(node: number): number[] {
    return this.held[node];
  }

  /** The same by class, the largest first; [] where the page does not know. */
  classesHeldBy(node: number): Held[] {
    return (this.report.nodes.held[node] ?? []).map(([name, count, retained]) => ({ name: this.text(name), count, retained }));
  }

  /** What no object dominates. */
  outermost(): number[] {
    return Array.from(this.holders).filter((node) => this.holder(node) < 0);
  }

  /** Who has it on the shortest way, and by which name; null where that is not known. */
  before(node: number): Step | null {
    const { via, name } = this.report.nodes;
    return via[node] < 0 ? null : { node: via[node], name: this.text(name[node]) };
  }

  /** From a root to the node; [] where that is not known. */
  way(node: number): Step[] {
    const { via, name } = this.report.nodes;
    const steps: Step[] = [];
    for (let at = node; at >= 0; at = via[at]) steps.unshift({ node: at, name: this.text(name[at]) });
    return this.isRoot(steps[0].node) ? steps : [];
  }

  /** Some of those that reference it, and how many there are. */
  referrers(node: number): { total: number; steps: Step[] } | null {
    const found = this.report.nodes.referrers[node];
    if (!found) return null;
    const [total, ...some] = found;
    return { total, steps: some.map(([from, name]) => ({ node: from, name: this.text(name) })) };
  }

  private text(number: number): string {
    return this.report.strings[number] ?? "";
  }
}
