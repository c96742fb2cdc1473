// The treemap of sites: gem → file → line.
import { tail } from "./branch";
import { type Declared, print } from "./columns";
import type { Sites } from "./data";
import type { Kind } from "./kind";
import { type Scope, tree } from "./tree";
import type { World } from "./treemap";

// What the map shows first, and nothing of it is less than nothing.
const FIRST = "live_bytes";
// Where there are Ruby objects, each half alone too.
const HALVES: [Kind, string][] = [["malloc", "malloc"], ["object", "objects"]];
const FILE = 2; // level of the files

/** Those columns that add up. */
function areas({ columns }: Sites): Declared[] {
  const rank = ({ figure, rank }: Declared): number => (figure === FIRST || rank === null ? 0 : rank);
  return columns.filter(({ key, per }) => key !== null && per === null).sort((one, other) => rank(one) - rank(other));
}

function measures(sites: Sites): [string, string][] {
  const whole = areas(sites);
  const halves = whole.filter(({ unit }) => unit === "bytes").flatMap((column) => HALVES.map(([kind, of]): [string, string] => [`${column.figure} ${kind}`, `${column.title} of ${of}`]));
  return [...whole.map(({ figure, title }): [string, string] => [figure, title]), ...(sites.hasObjects ? halves : [])];
}

/** scoped: called with what the map now shows; opened: with the number of a site that was chosen. */
export function siteMap(sites: Sites, scoped: (scope: Scope) => void, opened: (site: number) => void): World {
  return {
    id: "map",
    title: "By gem, file and line",
    label: "Treemap of memory by gem, file and line",
    measures: measures(sites),
    tree: (measure) => {
      const [figure, kind] = measure.split(" ");
      return tree(sites, figure, kind as Kind | undefined);
    },
    amount: (value, measure) => print(areas(sites).find(({ figure }) => figure === measure.split(" ")[0])?.unit ?? "bytes", value),
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
