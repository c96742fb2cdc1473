// What the tables show: each a kind of rows with its columns and words.
import { columns, type Declared, type Figured } from "../columns";
import { place, el } from "../dom";
import type { Column, Named, Own } from "../grid";
import { count } from "../units";
import type { HeapReport, Nodes } from "./data";
import type { Chosen } from "./maps";

/** One of the tables. */
export interface Kind {
  key: string;
  /** What its rows are called. */
  words: string;
  rows: Rows;
  columns: Column<Rows>[];
  /** Key of the column that it is first sorted by. */
  sorted: string;
  own: Own<Rows>;
  /** Text of a row that the filter looks in. */
  straw(row: number): string;
  /** Class of a row's object. */
  classOf?: (row: number) => string;
  /** Rows that were left out: how many and their bytes. */
  rest: [number, number];
}

export type Rows = Named & Figured;

export function kinds(report: HeapReport, nodes: Nodes, chosen: Chosen): Kind[] {
  return [holders(report, nodes, chosen), classes(report, chosen), ...(report.lines ? [lines(report)] : []), equal(report)];
}

function holders({ columns: declared, total }: HeapReport, nodes: Nodes, chosen: Chosen): Kind {
  const at = (row: number): number => nodes.holders[row];
  const of = (all: number[]): number[] => Array.from(nodes.holders, (node) => all[node]);
  const figures = { retained_bytes: of(nodes.retained), retained_objects: of(nodes.retainedObjects), own_bytes: of(nodes.bytes) };
  return {
    ...kind("holders", "objects", "object", (row) => nodes.words(at(row)), nodes.holders.length, declared.holders, figures, total, {
      name: (row, attributes) => {
        const node = at(row);
        const words = [el("span", { class: "thing" }, nodes.words(node)), el("span", { class: "label" }, `  ${nodes.address(node)}`)];
        return [el("button", { type: "button", ...attributes }, ...words), second(nodes, node)];
      },
      open: (row) => chosen.node(at(row)),
    }),
    classOf: (row) => nodes.className(at(row)),
    straw: (row) => [nodes.words(at(row)), nodes.className(at(row)), nodes.address(at(row)), nodes.location(at(row))].join("\n"),
  };
}

/** Below an object: who has it, and where it was allocated. */
function second(nodes: Nodes, node: number): HTMLElement {
  const [before, where] = [nodes.before(node), nodes.location(node)];
  const holder = before && `← ${nodes.words(before.node)}${before.name && ` ${before.name}`}`;
  return el("code", { class: "where" }, holder && el("span", { class: "holder" }, `${holder}${where ? " · " : ""}`), ...(where ? place(where) : []));
}

function classes({ columns: declared, classes: all, strings, total }: HeapReport, chosen: Chosen): Kind {
  const name = (row: number): string => strings[all.name[row]];
  const defined = (row: number): string => (all.line[row] < 0 ? "" : `${strings[all.place[row]]}:${all.line[row]}`);
  return {
    ...kind("classes", "classes", "class", name, all.name.length, declared.classes, { ...all }, total, {
      name: (row, attributes) => [
        el("button", { type: "button", ...attributes }, el("span", { class: "thing" }, name(row))),
        ...(defined(row) ? [el("code", { class: "where" }, ...place(defined(row)))] : []),
      ],
      open: (row) => chosen.class(name(row)),
    }),
    straw: (row) => `${name(row)}\n${defined(row)}`,
    rest: [all.rest[0], all.rest[1]],
  };
}

function lines({ columns: declared, lines: found, strings, total }: HeapReport): Kind {
  const all = found!;
  const name = (row: number): string => strings[all.place[row]] + (all.line[row] < 0 ? "" : `:${all.line[row]}`);
  return {
    ...kind("lines", "lines", "location", name, all.place.length, declared.lines, { ...all }, total, {
      name: (row, attributes) => [el("span", attributes, ...place(name(row)), el("span", { class: "label" }, `  ${strings[all.gem[row]]}`))],
      open: () => undefined,
    }),
    straw: (row) => `${name(row)}\n${strings[all.gem[row]]}`,
    rest: [all.rest[0], all.rest[1]],
  };
}

function equal({ columns: declared, equal: all, strings, total }: HeapReport): Kind {
  const name = (row: number): string => strings[all.value[row]];
  return kind("equal", "values of equal strings", "value", name, all.value.length, declared.equal, { ...all }, total, {
    name: (row, attributes) => [el("span", attributes, el("span", { class: "thing" }, name(row)), el("span", { class: "label" }, `  ${count(all.bytesize[row])} bytes`))],
    open: () => undefined,
  });
}

/** A table that is first sorted by the first of its columns. */
function kind(
  key: string, words: string, one: string, name: (row: number) => string, rows: number, declared: Declared[], figures: Figured["figures"], whole: number,
  part: { name(row: number, attributes: Record<string, string>): HTMLElement[]; open(row: number): void },
): Kind {
  return {
    key, words,
    rows: { count: rows, name, figures, whole },
    columns: columns(declared),
    sorted: declared[0].key ?? "name",
    own: {
      caption: `The heap's ${words}`,
      nothing: "Nothing is left. Clear the filter to see all.",
      title: () => one,
      name: (_, row, attributes) => part.name(row, attributes),
      open: (_, row) => part.open(row),
    },
    straw: name,
    rest: [0, 0],
  };
}
