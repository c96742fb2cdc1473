// The treemap of sites: gem → file → line.
import { tail } from "./branch";
import type { Figure, Sites } from "./data";
import type { Kind } from "./kind";
import { type Scope, tree } from "./tree";
import type { World } from "./treemap";
import { bytes, count } from "./units";

const MEASURES: [Figure, string][] = [
  ["live_bytes", "live bytes"], ["growth_bytes", "growth"], ["retained_bytes", "retained since the baseline"],
  ["bytes_allocated", "allocated bytes"], ["allocations", "allocations"],
];
// Where there are Ruby objects, each half alone too.
const HALVES: [string, string][] = [
  ["live_bytes malloc", "live bytes of malloc"], ["growth_bytes malloc", "growth of malloc"],
  ["live_bytes object", "slots of live objects"], ["growth_bytes object", "growth of objects' slots"],
];
const FILE = 2; // level of the files

/** scoped: called with what the map now shows; opened: with the number of a site that was chosen. */
export function siteMap(sites: Sites, scoped: (scope: Scope) => void, opened: (site: number) => void): World {
  return {
    id: "map",
    title: "By gem, file and line",
    label: "Treemap of memory by gem, file and line",
    measures: sites.hasObjects ? [...MEASURES, ...HALVES] : MEASURES,
    tree: (measure) => {
      const [figure, kind] = measure.split(" ");
      return tree(sites, figure as Figure, kind as Kind | undefined);
    },
    amount: (value, measure) => (measure === "allocations" ? count(value) : bytes(value)),
    name: ({ name }, depth) => (depth === FILE ? sites.shorten(name) : name),
    fit: (name, depth, width) => (depth === FILE ? tail(name, width) : name),
    gone: ([gem, place]) => scoped({ ...(gem !== undefined && { gem }), ...(place !== undefined && { place }) }),
    opened,
  };
}

/** Where the map shows a scope. */
export function trailOf({ gem, place }: Scope): string[] {
  return [gem, place].filter((name): name is string => name !== undefined);
}
