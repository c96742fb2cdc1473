// The table: where memory was allocated, as the accounting has it: the innermost line of Ruby, and the library that allocated on its
// behalf.
import { el, place, section, select } from "../dom";
import { columns, type Declared, type Figured } from "../columns";
import { Grid, type Named } from "../grid";
import type { Sums } from "./cells";
import { FrameKind, type Frames, type Metric, type View } from "./data";

type Grouping = "class" | "line" | "method" | "file" | "gem" | "thread" | "tag";

const GROUPINGS: [Grouping, string][] = [["line", "line"], ["method", "method"], ["file", "file"], ["gem", "gem"], ["thread", "thread"], ["tag", "tag"]];

interface Rows extends Named, Figured {
  label(row: number): string;
  grouping: Grouping;
}

interface Site { line: string; method: string; file: string; gem: string; class: string }

export class Sites {
  readonly element: HTMLElement;
  private readonly sites: Site[];
  private readonly grid: Grid<Rows>;
  private grouping: Grouping = "line";
  private sums: Sums | null = null;

  /** declared: the figures; metric: sorted by. opened: with the words of a row that was chosen. */
  constructor(private readonly view: View, private readonly frames: Frames, private readonly declared: Declared[], metric: Metric, opened: (words: string) => void) {
    const objects = view.kind === "objects";
    if (objects) this.grouping = "class";
    const cache = new Map<number, Site>();
    this.sites = view.rows.node.map((node) => {
      let found = cache.get(node);
      if (!found) cache.set(node, (found = this.site(node)));
      return found;
    });
    this.grid = new Grid<Rows>(columns(declared), metric, this.rows(null), {
      caption: "Where memory was allocated", nothing: "Nothing was allocated.", title: ({ grouping }) => (grouping === "line" ? "location" : grouping),
      name: (rows, row, attributes) => [el("button", { type: "button", title: rows.name(row), ...attributes }, ...words(rows, row))],
      open: (rows, row) => { if (rows.grouping !== "thread" && rows.grouping !== "tag") opened(rows.name(row).replace(/ via .*/, "")); },
    });
    this.element = section("sites", "Where it was allocated",
      el("div", { class: "toolbar" }, select("Sum by", objects ? [["class", "class"], ...GROUPINGS] : GROUPINGS, (key) => { this.grouping = key as Grouping; this.draw(); }), this.grid.sortChoice), this.grid.element);
  }

  show(sums: Sums): void {
    this.sums = sums;
    this.draw();
  }

  private draw(): void {
    const rows = this.rows(this.sums);
    this.grid.show(rows, Uint32Array.from({ length: rows.count }, (_, row) => row));
  }

  private rows(sums: Sums | null): Rows {
    const { grouping } = this;
    const numbers = new Map<string, number>();
    const figures = Object.fromEntries(this.declared.map(({ figure }) => [figure, [] as number[]]));
    const labels: string[] = [];
    for (let at = 0; sums && at < this.sites.length; at++) {
      if (sums.count[at] === 0) continue;
      const name = this.nameOf(at);
      let row = numbers.get(name);
      if (row === undefined) {
        numbers.set(name, (row = labels.length));
        labels.push(grouping === "line" ? this.sites[at].method : "");
        for (const each of Object.values(figures)) each.push(0);
      }
      for (const figure of Object.keys(figures)) figures[figure][row] += sums[figure][at];
    }
    const names = [...numbers.keys()];
    return { count: names.length, name: (row) => names[row], label: (row) => labels[row], figures, grouping };
  }

  private nameOf(row: number): string {
    const { view } = this;
    if (this.grouping === "thread") return view.threads[view.rows.thread[row]] ?? "(other)";
    if (this.grouping === "tag") return view.tags[view.rows.tag[row]] ?? "(no tag)";
    return this.sites[row][this.grouping];
  }

  private site(last: number): Site {
    const { frames, view: { nodes } } = this;
    // The class of an object stands below who made it.
    const [end, name] = frames.kind(nodes.frame[last]) === FrameKind.Class ? [nodes.parent[last], frames.name(nodes.frame[last])] : [last, ""];
    let node = end;
    while (node !== 0 && frames.kind(nodes.frame[node]) !== FrameKind.Ruby) node = nodes.parent[node];
    const leaf = nodes.frame[end];
    const native = frames.kind(leaf) === FrameKind.Native;
    if (node === 0) {
      const library = native ? frames.library(leaf) : "(unknown)";
      return { line: native ? frames.name(leaf) : "(unknown)", method: frames.name(leaf), file: library, gem: frames.gem(leaf) || "(application)", class: name };
    }
    const ruby = nodes.frame[node];
    const via = native && frames.gem(leaf) !== "ruby core" ? ` via ${frames.library(leaf).split("/").at(-1)}` : "";
    return { line: `${frames.place(ruby) || frames.name(ruby)}${via}`, method: frames.name(ruby), file: frames.path(ruby) || frames.name(ruby), gem: frames.gem(ruby) || "(application)", class: name };
  }
}

function words(rows: Rows, row: number): (HTMLElement | false)[] {
  const [, location, via] = /^(.*?)( via [^/]*)?$/s.exec(rows.name(row)) ?? ["", rows.name(row), ""];
  const label = rows.label(row);
  const name = rows.grouping === "line" || rows.grouping === "file" ? place(location) : [el("bdi", {}, location)];
  return [...name, label !== "" && label !== location && el("span", { class: "label" }, ` ${label}`), via !== undefined && via !== "" && el("span", { class: "via" }, via)];
}
