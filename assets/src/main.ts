// Puts the report together.
import { type LedgerLine, type Report, Sites, read } from "./data";
import { Detail } from "./detail";
import { el } from "./dom";
import { present, slash, themes, tiles } from "./frame";
import { growth } from "./growth";
import { ledger } from "./ledger";
import { groupName } from "./rows";
import { siteMap, trailOf } from "./site_map";
import { Table } from "./table";
import { Treemap } from "./treemap";
import type { Scope } from "./tree";
import { bytes } from "./units";

const LIBRARIES = 8; // in the bar that stands for the ledger

const report = read();
present(header(report), el("main", {}, ...parts(report)), footer(report));

function parts(report: Report): (HTMLElement | null)[] {
  const sites = report.sites && new Sites(report, report.sites);
  const shorten = (location: string): string => sites?.shorten(location) ?? location;
  const series = report.growth && growth(report.growth, shorten);
  if (!sites) return [series];
  return [tiles(report.tiles, "summary"), memory(report, sites), series, ...explorer(report, sites)].filter((part) => part !== null);
}

/** Treemap, table and detail: what is chosen in one is shown by the others. */
function explorer(report: Report, sites: Sites): HTMLElement[] {
  let fromTable = false;
  const detail: Detail = new Detail(
    sites, report.growth?.series ?? [],
    (site, by) => table.neighbour(site, by),
    (site) => { if (fromTable) table.focusSite(site); }, // the browser itself gives the focus back to a tile
  );
  const open = (site: number, table: boolean): void => {
    fromTable = table;
    detail.open(site);
  };
  const show = (scope: Scope): void => {
    map.show(trailOf(scope));
    table.narrow(scope);
  };
  const table: Table = new Table(sites, report.sort, (site) => open(site, true), show);
  const map = new Treemap(siteMap(sites, (scope) => table.narrow(scope), (site) => open(site, false)));
  slash(detail.element, () => table.focusFilter());
  return [map.element, table.element, detail.element];
}

function header({ process, notes }: Report): HTMLElement {
  return el(
    "header", { class: "top" },
    el("div", {},
      el("h1", {}, el("span", { class: "mark" }, "heapline"), process ? el("code", {}, process.command) : " growth"),
      process && el("p", { class: "note" }, process.facts.join(" · ")),
      process?.since && el("p", { class: "note" }, process.since),
      ...notes.map((note) => el("p", { class: "warning" }, note))),
    themes(),
  );
}

/** The ledger of RSS; where it is not known, live memory by the library that asked for it. */
function memory(report: Report, sites: Sites): HTMLElement {
  if (report.ledger) {
    const { rss_bytes: rss, lines } = report.ledger;
    return ledger("ledger", "Where the memory is", `RSS ${bytes(rss)}, as the sum of these lines.`, rss, lines);
  }
  const lines = libraries(sites);
  const live = lines.reduce((sum, line) => sum + line.bytes, 0);
  return ledger("ledger", "Live memory by library", `malloc live ${bytes(live)}, by the library that asked for it.`, live, lines);
}

function libraries(sites: Sites): LedgerLine[] {
  const sums = new Map<string, number>();
  for (let site = 0; site < sites.count; site++) {
    if (sites.isObject(site)) continue;
    const name = groupName(sites, "library", site);
    sums.set(name, (sums.get(name) ?? 0) + sites.figures.live_bytes[site]);
  }
  const sorted = [...sums].sort((a, b) => b[1] - a[1]);
  const shown = sorted.slice(0, LIBRARIES).map(([name, sum], at) => line(`library-${at}`, name, sum));
  const rest = sorted.slice(LIBRARIES);
  if (rest.length > 0) shown.push(line("other", `${rest.length} others`, rest.reduce((sum, [, each]) => sum + each, 0)));
  return shown;
}

function line(key: string, name: string, sum: number): LedgerLine {
  return { key, name, bytes: sum, parts: [] };
}

function footer({ version, left_out: left }: Report): HTMLElement {
  const words = left > 0 ? ` ${left} sites with smaller figures were left out when it was written.` : "";
  return el("footer", {}, `Written by heapline ${version}. This page loads nothing and sends nothing.${words}`);
}
