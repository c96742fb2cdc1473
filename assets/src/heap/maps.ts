// The treemaps of the page, one shown at a time.
import { tail } from "../branch";
import { el, select } from "../dom";
import { Treemap, type World } from "../treemap";
import { bytes, count } from "../units";
import type { HeapReport, Nodes } from "./data";
import { classTree, holderTree, lineTree } from "./trees";

const FILE = 2; // level of the files

/** Called with what was chosen. */
export interface Chosen {
  node(node: number): void;
  class(name: string): void;
  line(location: string): void;
}

export function maps(report: HeapReport, nodes: Nodes, chosen: Chosen): HTMLElement {
  const worlds = [holders(nodes, chosen), classes(report, chosen), ...(report.lines ? [lines(report, chosen)] : [])];
  const made = new Map<string, HTMLElement>();
  const room = el("div", { class: "room" });
  const choice = select("By", worlds.map(({ key, words }) => [key, words]), (key) => show(key));
  const show = (key: string): void => {
    const world = worlds.find((each) => each.key === key) ?? worlds[0];
    const map = made.get(key) ?? new Treemap(world).element;
    made.set(key, map);
    map.querySelector(".toolbar")?.append(choice);
    room.replaceChildren(map);
    choice.querySelector("select")?.focus();
  };
  show(worlds[0].key);
  return room;
}

interface Choice extends World {
  key: string;
  words: string;
}

/** What all of them have in common. */
function world(key: string, words: string, part: Pick<World, "tree" | "opened"> & Partial<World>): Choice {
  return {
    key, words,
    id: "map",
    title: "What holds the memory",
    label: `Treemap of the heap by ${words}`,
    measures: [["bytes", "bytes"], ["count", "objects"]],
    amount: (value, measure) => (measure === "count" ? count(value) : bytes(value)),
    name: ({ name }) => name,
    fit: (name) => name,
    gone: () => undefined,
    ...part,
  };
}

function holders(nodes: Nodes, chosen: Chosen): Choice {
  return world("holders", "objects and what they hold", {
    measures: [["bytes", "retained bytes"]],
    tree: () => holderTree(nodes),
    opened: (node) => chosen.node(node),
  });
}

function classes({ classes: columns, strings }: HeapReport, chosen: Chosen): Choice {
  return world("classes", "class", {
    measures: [["bytes", "bytes"], ["count", "objects"], ["retained", "retained bytes"]],
    tree: (measure) => classTree(columns, strings, columns[measure as "bytes" | "count" | "retained"]),
    opened: (row) => chosen.class(strings[columns.name[row]]),
  });
}

function lines({ lines, strings }: HeapReport, chosen: Chosen): Choice {
  const columns = lines!;
  return world("lines", "gem, file and line", {
    tree: (measure) => lineTree(columns, strings, columns[measure as "bytes" | "count"]),
    fit: (name, depth, width) => (depth === FILE ? tail(name, width) : name),
    opened: (row) => chosen.line(`${strings[columns.place[row]]}:${columns.line[row]}`),
  });
}
