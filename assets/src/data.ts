// What Heapline::Accounting::PageData wrote: sites as columns over one table of strings, the rest as small objects.
import type { Declared, Unit } from "./columns";

// Which figures there are, and which of them are columns, Heapline::Figures::SiteFigures declares: nothing here lists them.

/** The name of a figure of a site; of the Ruby objects of a class at a site it is of their slots. */
export type Figure = string;
export type Figures = Record<Figure, number[]>;

/** A figure by itself: over sites it adds up, but of the longest the largest counts. */
export interface DeclaredFigure {
  figure: Figure;
  unit: Unit;
  help: string;
  longest: boolean;
}

/** Numbers in `place` to `tag` point into the strings; 0 is none. `line` is -1 where `place` is the whole name. */
interface Columns {
  place: number[];
  line: number[];
  label: number[];
  library: number[];
  gem: number[];
  tag: number[];
  /** The class of objects; 0: malloc. Only where objects were accounted. */
  class?: number[];
}

export interface LedgerLine {
  key: string;
  name: string;
  bytes: number;
  parts: LedgerLine[];
}

export type Verdict = "leak" | "cache" | "bloat" | "churn" | "steady" | "unsure";

/** Bytes an hour, and the interval in which it is; that is null where the log is too short for one. */
export interface Slope {
  slope: number | null;
  slope_low: number | null;
  slope_high: number | null;
}

export interface Series extends Slope {
  location: string;
  label: string | null;
  gem: string | null;
  library: string | null;
  tag: string | null;
  processes: number | null;
  verdict: Verdict;
  live_bytes: number;
  growth_bytes: number;
  points: [number, number][];
}

export interface Growth {
  facts: string[];
  /** The processes as a whole: RSS and malloc live, where the log has them. */
  memory: (Slope & { name: string; points: [number, number][] })[];
  series: Series[];
}

export interface ProcessFacts {
  command: string;
  facts: string[];
  since: string | null;
}

export interface Report {
  version: string;
  /** Key of the column by which the table is sorted first. */
  sort: string | null;
  process: ProcessFacts | null;
  tiles: [string, string, string | null][];
  /** What was survived and may make figures wrong, in sentences. */
  notes: string[];
  strings: string[];
  /** Columns of the table, from the left; behind them means that are told of one site. */
  columns: Declared[];
  figures: DeclaredFigure[];
  sites: (Columns & Figures) | null;
  left_out: number;
  /** By number of site: number of the first line, and the lines. */
  sources: Record<string, [number, string[]]>;
  ledger: { rss_bytes: number; lines: LedgerLine[] } | null;
  growth: Growth | null;
}

const MOST = 0.9; // of the files: those elsewhere keep their whole path

/** The sites, read row by row. */
export class Sites {
  readonly count: number;
  readonly figures: Figures;
  readonly declared: DeclaredFigure[];
  readonly columns: Declared[];
  private readonly shortened = new Map<number, string>();
  private readonly root: string;

  constructor(private readonly report: Report, private readonly names: Columns & Figures) {
    this.count = names.place.length;
    this.figures = names;
    this.declared = report.figures;
    this.columns = report.columns;
    this.root = this.applicationRoot();
  }

  place(site: number): string { return this.string(this.names.place[site]); }
  line(site: number): number { return this.names.line[site]; }
  label(site: number): string { return this.string(this.names.label[site]); }
  library(site: number): string { return this.string(this.names.library[site]); }
  tag(site: number): string { return this.string(this.names.tag[site]); }
  className(site: number): string { return this.names.class ? this.string(this.names.class[site]) : ""; }
  isRuby(site: number): boolean { return this.line(site) >= 0; }
  /** Ruby objects of a class, and not what malloc counted? */
  isObject(site: number): boolean { return this.names.class !== undefined && this.names.class[site] !== 0; }
  get hasObjects(): boolean { return this.names.class !== undefined; }

  /** "/app/leak.rb:12", or the name of native code. */
  location(site: number): string {
    return this.withLine(this.place(site), site);
  }

  /** The same without the directory that all of the application's files share, and without that of gems. */
  shortLocation(site: number): string {
    return this.withLine(this.shortPlace(site), site);
  }

  shortPlace(site: number): string {
    const number = this.names.place[site];
    let short = this.shortened.get(number);
    if (short === undefined) this.shortened.set(number, (short = this.shorten(this.string(number))));
    return short;
  }

  gem(site: number): string {
    return this.string(this.names.gem[site]) || (this.isRuby(site) ? "(application)" : "(native code)");
  }

  source(site: number): { first: number; lines: string[] } | null {
    const found = this.report.sources[site];
    return found ? { first: found[0], lines: found[1] } : null;
  }

  /** The text of the site's own line, where it was readable. */
  sourceLine(site: number): string {
    const found = this.source(site);
    return found?.lines[this.line(site) - found.first]?.trim() ?? "";
  }

  private withLine(place: string, site: number): string {
    return this.isRuby(site) ? `${place}:${this.line(site)}` : place;
  }

  private string(number: number): string {
    return this.report.strings[number] ?? "";
  }

  /** A path without what all paths share. */
  shorten(path: string): string {
    const gem = /^.*\/gems\/([^/]+-\d[^/]*\/.*)$/.exec(path);
    if (gem) return gem[1];
    return this.root && path.startsWith(this.root) ? path.slice(this.root.length) : path;
  }

  /** The deepest directory that holds nearly all files of the application; "" where that is the root of all. */
  private applicationRoot(): string {
    const numbers = new Set<number>();
    for (let site = 0; site < this.count; site++) {
      if (this.isRuby(site) && this.names.gem[site] === 0) numbers.add(this.names.place[site]);
    }
    let inside = Array.from(numbers, (number) => this.string(number)).filter((path) => path.startsWith("/"));
    const least = inside.length * MOST;
    let root = "/";
    while (inside.length > 0) {
      const [next, paths] = largestDirectory(inside, root.length);
      if (next === "" || paths.length < least) break;
      root += `${next}/`;
      inside = paths;
    }
    return root.length > 1 ? root : "";
  }
}

/** Of paths that share their first characters: the directory after these that most are in, and those paths. */
function largestDirectory(paths: string[], shared: number): [string, string[]] {
  const directories = new Map<string, string[]>();
  for (const path of paths) {
    const end = path.indexOf("/", shared);
    const name = end < 0 ? "" : path.slice(shared, end);
    const members = directories.get(name);
    if (members) members.push(path);
    else directories.set(name, [path]);
  }
  return [...directories].reduce((best, each) => (each[1].length > best[1].length ? each : best));
}

/** The report that the page carries. */
export function read(): Report {
  return JSON.parse(document.getElementById("data")?.textContent ?? "{}") as Report;
}
