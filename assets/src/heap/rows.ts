// What the tables show: each a kind of rows with its columns and words.
import { place, el } from "../dom";
import type { Column, Named, Own } from "../grid";
import { bytes, count, share } from "../units";
import type { HeapReport, Nodes } from "./data";
import type { Chosen } from "./maps";

/** One of the tables. */
export interface Kind {
  key: string;
  /** What its rows are called. */
  words: string;
  rows: Named;
  columns: Column<Named>[];
  /** Key of the column that it is first sorted by. */
  sorted: string;
  own: Own<Named>;
  /** Text of a row that the filter looks in. */
  straw(row: number): string;
  /** Class of a row's object. */
  classOf?: (row: number) => string;
  /** Rows that were left out: how many and their bytes. */
  rest: [number, number];
}

type Print = (value: number) => string;

export function kinds(report: HeapReport, nodes: Nodes, chosen: Chosen): Kind[] {
  return [holders(report, nodes, chosen), classes(report, chosen), ...(report.lines ? [lines(report)] : []), equal(report)];
}

function holders({ total }: HeapReport, nodes: Nodes, chosen: Chosen): Kind {
  const at = (row: number): number => nodes.holders[row];
  return {
    ...kind("holders", "objects", "object", (row) => nodes.words(at(row)), nodes.holders.length, {
      name: (row, attributes) => {
        const node = at(row);
        const words = [el("span", { class: "thing" }, nodes.words(node)), el("span", { class: "label" }, `  ${nodes.address(node)}`)];
        return [el("button", { type: "button", ...attributes }, ...words), second(nodes, node)];
      },
      open: (row) => chosen.node(at(row)),
    }),
    columns: [
      column("retained", "retained", "What would be freed with it: all that roots reach only through it", 1, (row) => nodes.retained[at(row)], bytes),
      column("share", "share", "Of the bytes of all objects", 2, (row) => nodes.retained[at(row)] / Math.max(total, 1), share),
      column("objects", "objects", "How many objects that are, itself included", 3, (row) => nodes.retainedObjects[at(row)], count),
      column("own", "own", "The object alone", 4, (row) => nodes.bytes[at(row)], bytes),
    ],
    sorted: "retained",
    classOf: (row) => nodes.className(at(row)),
    straw: (row) => [nodes.words(at(row)), nodes.className(at(row)), nodes.address(at(row)), nodes.location(at(row))].join("\n"),
    rest: [0, 0],
  };
}

/** Below an object: who has it, and where it was allocated. */
function second(nodes: Nodes, node: number): HTMLElement {
  const [before, where] = [nodes.before(node), nodes.location(node)];
  const holder = before && `← ${nodes.words(before.node)}${before.name && ` ${before.name}`}`;
  return el("code", { class: "where" }, holder && el("span", { class: "holder" }, `${holder}${where ? " · " : ""}`), ...(where ? place(where) : []));
}

function classes({ classes: all, strings, total }: HeapReport, chosen: Chosen): Kind {
  const name = (row: number): string => strings[all.name[row]];
  return {
    ...kind("classes", "classes", "class", name, all.name.length, {
      name: (row, attributes) => [el("button", { type: "button", ...attributes }, el("span", { class: "thing" }, name(row)))],
      open: (row) => chosen.class(name(row)),
    }),
    columns: [...groups(all, total), column("retained", "retained", "What its instances retain together", 3, (row) => all.retained[row], bytes)],
    sorted: "bytes",
    rest: [all.rest[0], all.rest[1]],
  };
}

function lines({ lines: all, strings, total }: HeapReport): Kind {
  const columns = all!;
  const name = (row: number): string => strings[columns.place[row]] + (columns.line[row] < 0 ? "" : `:${columns.line[row]}`);
  return {
    ...kind("lines", "lines", "location", name, columns.place.length, {
      name: (row, attributes) => [el("span", attributes, ...place(name(row)), el("span", { class: "label" }, `  ${strings[columns.gem[row]]}`))],
      open: () => undefined,
    }),
    columns: groups(columns, total),
    sorted: "bytes",
    straw: (row) => `${name(row)}\n${strings[columns.gem[row]]}`,
    rest: [columns.rest[0], columns.rest[1]],
  };
}

function equal({ equal: all, strings }: HeapReport): Kind {
  const name = (row: number): string => strings[all.value[row]];
  return {
    ...kind("equal", "values of equal strings", "value", name, all.value.length, {
      name: (row, attributes) => [el("span", attributes, el("span", { class: "thing" }, name(row)), el("span", { class: "label" }, `  ${count(all.bytesize[row])} bytes`))],
      open: () => undefined,
    }),
    columns: [
      column("wasted", "wasted", "What one string instead of them would save", 1, (row) => all.wasted_bytes[row], bytes),
      column("strings", "strings", "Strings with this value", 2, (row) => all.count[row], count),
      column("bytes", "bytes", "Bytes of all of them", 3, (row) => all.bytes[row], bytes),
    ],
    sorted: "wasted",
    rest: [0, 0],
  };
}

function kind(key: string, words: string, one: string, name: (row: number) => string, rows: number, part: { name(row: number, attributes: Record<string, string>): HTMLElement[]; open(row: number): void }): Omit<Kind, "columns" | "sorted" | "rest"> {
  return {
    key, words,
    rows: { count: rows, name },
    own: {
      caption: `The heap's ${words}`,
      nothing: "Nothing is left. Clear the filter to see all.",
      title: () => one,
      name: (_, row, attributes) => part.name(row, attributes),
      open: (_, row) => part.open(row),
    },
    straw: name,
  };
}

function groups(all: { bytes: number[]; count: number[]; slot_bytes: number[] }, total: number): Column<Named>[] {
  return [
    column("bytes", "bytes", "The objects and what they hold outside of their slots", 1, (row) => all.bytes[row], bytes),
    column("share", "share", "Of the bytes of all objects", 2, (row) => all.bytes[row] / Math.max(total, 1), share),
    column("objects", "objects", "How many there are", 2, (row) => all.count[row], count),
    column("slots", "slots", "Bytes of their slots alone", 4, (row) => all.slot_bytes[row], bytes),
  ];
}

function column(key: string, title: string, meaning: string, rank: number, value: (row: number) => number, text: Print): Column<Named> {
  return { key, title, meaning, rank, value: (_, row) => value(row), text };
}
