// Sites as a tree, gem → file → line, weighed by one figure. What did not grow has no area and is left out.
import { type Branch, branch, parent } from "./branch";
import type { Figure, Sites } from "./data";
import { type Kind, kindOf } from "./kind";

/** Scope of a view: a gem, and a file in it. */
export interface Scope {
  gem?: string;
  place?: string;
}

/** kind: of Ruby objects alone, or of malloc alone; else of both. */
export function tree(sites: Sites, figure: Figure, kind?: Kind): Branch {
  const gems = new Map<string, Map<string, Branch>>();
  const values = sites.figures[figure];
  for (let site = 0; site < sites.count; site++) {
    if (values[site] <= 0 || (kind && kind !== kindOf(sites, site))) continue;
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
  return [sites.line(site), sites.className(site), label, library && `via ${library}`].filter((word) => word !== "").join(" ");
}
