// The treemaps of the page, one shown at a time.
import { tail } from "../branch";
import { type Declared, print } from "../columns";
import { el, select } from "../dom";
import { Treemap, type World } from "../treemap";
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
  const worlds = [holders(report, nodes, chosen), classes(report, chosen), ...(report.lines ? [lines(report, chosen)] : [])];
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

/** What all of them have in common. declared: the figures of which areas can be. */
function world(key: string, words: string, declared: Declared[], part: Pick<World, "tree" | "opened"> & Partial<World>): Choice {
  const areas = declared.filter(({ unit }) => unit !== "share");
  return {
    key, words,
    id: "map",
    title: "What holds the memory",
    label: `Treemap of the heap by ${words}`,
    measures: areas.map(({ figure, title }) => [figure, title]),
    amount: (value, measure) => print(areas.find(({ figure }) => figure === measure)?.unit ?? "bytes", value),
    name: ({ name }) => name,
    fit: (name) => name,
    gone: () => undefined,
    ...part,
  };
}

/** By what they retain alone: that of one is in that of who holds it. */
function holders({ columns }: HeapReport, nodes: Nodes, chosen: Chosen): Choice {
  return world("holders", "objects and what they hold", columns.holders.slice(0, 1), {
    tree: () => holderTree(nodes),
    opened: (node) => chosen.node(node),
  });
}

function classes({ classes: all, columns, strings }: HeapReport, chosen: Chosen): Choice {
  const { rest: _, ...figures } = all;
  return world("classes", "class", columns.classes, {
    tree: (measure) => classTree(all, strings, figures[measure as keyof typeof figures]),
    opened: (row) => chosen.class(strings[all.name[row]]),
  });
}

function lines({ columns, lines, strings }: HeapReport, chosen: Chosen): Choice {
  const all = lines!;
  const { rest: _, ...figures } = all;
  return world("lines", "gem, file and line", columns.lines, {
    tree: (measure) => lineTree(all, strings, figures[measure as keyof typeof figures]),
    fit: (name, depth, width) => (depth === FILE ? tail(name, width) : name),
    opened: (row) => chosen.line(`${strings[all.place[row]]}:${all.line[row]}`),
  });
}
