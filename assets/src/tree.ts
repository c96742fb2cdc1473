// Sites as a tree, gem → file → line, weighed by one figure. What did not grow has no area and is left out.
import type { Figure, Sites } from "./data";

export interface Branch {
  name: string;
  value: number;
  /** Number of the site, at the leaves; else -1. */
  site: number;
  children: Branch[];
  /** How many small branches were put together here; 0: this is one of its own. */
  merged: number;
}

/** Scope of a view: a gem, and a file in it. */
export interface Scope {
  gem?: string;
  place?: string;
}

export function tree(sites: Sites, figure: Figure): Branch {
  const gems = new Map<string, Map<string, Branch>>();
  const values = sites.figures[figure];
  for (let site = 0; site < sites.count; site++) {
    if (values[site] <= 0) continue;
    const file = branchOf(filesOf(gems, sites.gem(site)), sites.isRuby(site) ? sites.place(site) : nativeFile(sites, site));
    file.value += values[site];
    file.children.push(branch(leafName(sites, site), values[site], site));
  }
  const tops = [...gems].map(([name, files]) => parent(name, [...files.values()]));
  return parent("", tops);
}

/** Native code has no file: its library stands there. */
export function nativeFile(sites: Sites, site: number): string {
  return sites.library(site) || sites.place(site).replace(/\+0x[0-9a-f]+$/, "");
}

/** At most `limit` branches, largest first; the last one is the sum of the rest. */
export function largest(branches: Branch[], limit: number): Branch[] {
  const sorted = [...branches].sort((a, b) => b.value - a.value);
  if (sorted.length <= limit) return sorted;
  const rest = sorted.slice(limit - 1);
  const sum = rest.reduce((total, each) => total + each.value, 0);
  return [...sorted.slice(0, limit - 1), { ...branch(`${rest.length} smaller ones`, sum), merged: rest.length }];
}

function branch(name: string, value = 0, site = -1): Branch {
  return { name, value, site, children: [], merged: 0 };
}

function parent(name: string, children: Branch[]): Branch {
  return { ...branch(name, children.reduce((sum, child) => sum + child.value, 0)), children };
}

function filesOf(gems: Map<string, Map<string, Branch>>, gem: string): Map<string, Branch> {
  let files = gems.get(gem);
  if (!files) gems.set(gem, (files = new Map()));
  return files;
}

function branchOf(files: Map<string, Branch>, name: string): Branch {
  let file = files.get(name);
  if (!file) files.set(name, (file = branch(name)));
  return file;
}

function leafName(sites: Sites, site: number): string {
  const label = sites.label(site);
  if (!sites.isRuby(site)) return label || sites.place(site);
  const library = sites.library(site);
  return `${sites.line(site)}${label ? ` ${label}` : ""}${library ? ` via ${library}` : ""}`;
}
