// What the table shows: sites, or their sums by gem, file, library, tag or class; filtered, scoped and in an order.
import type { Figures, Sites } from "./data";
import type { Named } from "./grid";
import { type Kind, kindOf } from "./kind";
import { nativeFile, type Scope } from "./tree";

export type Grouping = "line" | "gem" | "file" | "library" | "tag" | "class";

/** Rows by number: with a site behind each, or with a group's name. */
export interface Rows extends Named {
  grouping: Grouping;
  figures: Figures;
  /** The site behind a row (of a group: one of its sites). */
  site(row: number): number;
}

export function lines(sites: Sites): Rows {
  return { grouping: "line", count: sites.count, figures: sites.figures, site: (row) => row, name: (row) => sites.location(row) };
}

/** Sums by group over the sites that are chosen. */
export function groups(sites: Sites, grouping: Exclude<Grouping, "line">, chosen: Uint32Array): Rows {
  const numbers = new Map<string, number>();
  const members: number[] = [];
  const figures = Object.fromEntries(sites.declared.map(({ figure }) => [figure, [] as number[]])) as Figures;
  for (const site of chosen) {
    const name = groupName(sites, grouping, site);
    let row = numbers.get(name);
    if (row === undefined) {
      numbers.set(name, (row = members.length));
      members.push(site);
      for (const { figure } of sites.declared) figures[figure].push(0);
    }
    add(sites, figures, row, site);
  }
  const names = [...numbers.keys()];
  return { grouping, count: names.length, figures, site: (row) => members[row], name: (row) => names[row] };
}

function add({ declared, figures }: Sites, sums: Figures, row: number, site: number): void {
  for (const { figure, longest } of declared) {
    const value = figures[figure][site];
    if (longest) sums[figure][row] = Math.max(sums[figure][row], value);
    else sums[figure][row] += value;
  }
}

export function groupName(sites: Sites, grouping: Exclude<Grouping, "line">, site: number): string {
  if (grouping === "gem") return sites.gem(site);
  if (grouping === "file") return sites.isRuby(site) ? sites.place(site) : nativeFile(sites, site);
  if (grouping === "class") return sites.className(site) || "(malloc)";
  if (grouping === "library") return sites.library(site) || "ruby";
  return sites.tag(site) || "(no tag)";
}

/** Which sites a filter, a kind and a scope leave. All words must occur in location, label, gem, library, tag or class. */
export class Filter {
  private haystack: string[] | null = null;

  constructor(private readonly sites: Sites) {}

  choose(text: string, kind: Kind | "", scope: Scope, extra: [Exclude<Grouping, "line">, string] | null): Uint32Array {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const straws = words.length > 0 ? (this.haystack ??= this.stack()) : [];
    const chosen = new Uint32Array(this.sites.count);
    let count = 0;
    for (let site = 0; site < this.sites.count; site++) {
      if (kind && kindOf(this.sites, site) !== kind) continue;
      if (words.every((word) => straws[site].includes(word)) && this.inScope(site, scope, extra)) chosen[count++] = site;
    }
    return chosen.subarray(0, count);
  }

  private inScope(site: number, scope: Scope, extra: [Exclude<Grouping, "line">, string] | null): boolean {
    if (scope.gem !== undefined && groupName(this.sites, "gem", site) !== scope.gem) return false;
    if (scope.place !== undefined && groupName(this.sites, "file", site) !== scope.place) return false;
    return extra === null || groupName(this.sites, extra[0], site) === extra[1];
  }

  /** Made at the first filter: what never filters does not pay for it. */
  private stack(): string[] {
    const { sites } = this;
    return Array.from({ length: sites.count }, (_, site) =>
      [sites.location(site), sites.label(site), sites.gem(site), sites.library(site), sites.tag(site), sites.className(site)].join("\n").toLowerCase());
  }
}
