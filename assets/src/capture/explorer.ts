// One view of a recording: time, call paths and table. What is chosen in one is shown by all.
import { button, el, section, select } from "../dom";
import { print, type Unit } from "../columns";
import { count, share } from "../units";
import { Cells, type Choice, type Sums } from "./cells";
import { type CaptureReport, Frames, type Kind, type Metric, spans, type View } from "./data";
import { Flame } from "./flame";
import { bottomUp, type Paths, topDown } from "./paths";
import { Plot } from "./plot";
import { Sites } from "./sites";

export const NOUNS: Record<Kind, string> = { blocks: "blocks", mappings: "mappings", objects: "Ruby objects" };

/** What is chosen: it stays when another view is shown. */
export interface State {
  metric: Metric;
  direction: string;
  upwards: boolean;
  search: string;
  /** Seconds since the recording began. */
  from: number;
  to: number;
  /** Names, null for what has none; undefined: all. */
  thread?: string | null;
  tag?: string | null;
}

/** What a view was made of, for when it is shown again. */
class Prepared {
  readonly frames: Frames;
  readonly cells: Cells;
  private readonly trees: Partial<Record<string, Paths>> = {};

  constructor(private readonly view: View, strings: string[]) {
    this.frames = new Frames(view, strings);
    this.cells = new Cells(view);
  }

  tree(direction: string): Paths {
    return (this.trees[direction] ??= direction === "down" ? topDown(this.view) : bottomUp(this.view));
  }
}

const prepared = new Map<View, Prepared>();

/** others: the choice of another view, or false. */
export function explorer(report: CaptureReport, view: View, state: State, others: HTMLElement | false): HTMLElement[] {
  const made = of(report, view);
  const { frames, cells } = made;
  const choice = chosen(view, state);
  const noun = NOUNS[view.kind];
  let sums = cells.sum(choice);

  const search = el("input", { type: "search", placeholder: "Search: method, file, gem   ( / )", "aria-label": "Search frames", "aria-keyshortcuts": "/", autocomplete: "off", spellcheck: "false" });
  search.value = state.search;
  const found = el("p", { class: "found", role: "status" });
  const crumbs = el("nav", { class: "crumbs", "aria-label": "Place in the call paths" });
  const flame = new Flame(frames, () => lead());
  const amount = (value: number): string => (print(unit(), value));
  const unit = (): Unit => report.metrics.find(({ key }) => key === state.metric)?.unit ?? "bytes";
  const tree = (): Paths => made.tree(state.direction);

  const lead = (): void => {
    const { way } = flame;
    crumbs.replaceChildren(...way.map((node, at) => {
      const name = frames.name(tree().frame[node]);
      return at === way.length - 1 ? el("b", {}, el("bdi", {}, name)) : button(el("bdi", {}, name), { class: "crumb" }, () => flame.go(node));
    }).slice(-8));
  };
  const draw = (): void => {
    state.search = search.value;
    const [paths, values, text] = [tree(), sums[state.metric], search.value.trim()];
    const matching = text === "" ? null : frames.matching(text);
    const totals = paths.totals(values);
    flame.show({ paths, totals, matching, upwards: state.upwards, amount, empty: `There are no such ${noun} in this part.` });
    found.textContent = matching ? matched(values, totals[0], paths.hits(matching), matching) : `${amount(totals[0])} in all${part()}`;
    lead();
  };
  /** Of one thread or tag the highest moment of all is told. */
  const part = (): string => {
    const names = (["thread", "tag"] as const).filter((name) => choice[name] >= 0);
    if (state.metric !== "peak" || names.length === 0) return "";
    return `: what was live of this ${names.join(" and ")} at the peak of the whole recording. heapline report shows its own peak with ${names.map((name) => `--${name}`).join(" and ")}.`;
  };
  const matched = (values: Sums[Metric], whole: number, hits: Uint8Array, matching: Uint8Array): string => {
    const sum = values.reduce((total, value, row) => total + (hits[row] ? value : 0), 0);
    const number = matching.reduce((total, each) => total + each, 0);
    return `${count(number)} frame${number === 1 ? " matches" : "s match"}: ${amount(sum)} of ${amount(whole)} passed through, ${share(whole > 0 ? sum / whole : 0)}`;
  };
  const choose = (change: Partial<Choice>): void => {
    Object.assign(choice, change);
    sums = cells.sum(choice);
    sites.show(sums);
    draw();
  };

  search.addEventListener("input", draw);
  const sites = new Sites(view, frames, report.metrics, state.metric, (words) => { search.value = words; draw(); search.focus(); });
  const plot = new Plot(view, report.gcs, choice, noun, (from, to) => {
    [state.from, state.to] = [from === 0 ? -Infinity : time(view, from), to === spans(view) ? Infinity : time(view, to)];
    choose({ from, to });
  });
  const toolbar = el("div", { class: "toolbar" }, search, others,
    select("Show", report.metrics.map(({ key, name }) => [key ?? "", name]), (key) => { state.metric = key; draw(); }, state.metric),
    select("Paths", [["down", "from callers down"], ["up", "from the line that allocated"]], (key) => { state.direction = key; draw(); }, state.direction),
    select("As", [["", "icicle"], ["up", "flame graph"]], (key) => { state.upwards = key === "up"; draw(); }, state.upwards ? "up" : ""),
    which("Thread", "all threads", view.threads, view.rows.thread, choice.thread, (thread) => { state.thread = view.threads[thread]; choose({ thread }); }),
    which("Tag", "all", view.tags, view.rows.tag, choice.tag, (tag) => { state.tag = view.tags[tag]; choose({ tag }); }));
  sites.show(sums);
  draw();
  return [
    section("time", "Memory over time", plot.element),
    section("paths", "By call path", toolbar, found, crumbs, flame.detail, flame.element),
    sites.element,
  ];
}

function of(report: CaptureReport, view: View): Prepared {
  let found = prepared.get(view);
  if (!found) prepared.set(view, (found = new Prepared(view, report.strings)));
  return found;
}

/** Seconds at which a span begins. */
function time(view: View, span: number): number {
  return (view.plot.time[0] ?? 0) + span * view.width;
}

/** The state in this view's own numbers: it may have longer spans, and not the same threads. */
function chosen(view: View, { from, to, thread, tag }: State): Choice {
  const last = spans(view);
  const near = (seconds: number): number => Math.min(Math.max(Math.round((seconds - time(view, 0)) / view.width), 0), last);
  const first = Math.min(near(from), last - 1);
  return { from: first, to: Math.max(near(to), first + 1), thread: numberOf(view.threads, thread), tag: numberOf(view.tags, tag) };
}

function numberOf(names: (string | null)[], name: string | null | undefined): number {
  return name === undefined ? -1 : names.indexOf(name);
}

/** A choice of those names that rows have; none where there is but one. */
function which(label: string, all: string, names: (string | null)[], used: number[], now: number, change: (number: number) => void): HTMLElement | false {
  const there = new Set(used);
  if (there.size < 2) return false;
  const choices = names.map((name, number): [string, string] => [String(number), name ?? (label === "Tag" ? "(no tag)" : "(other)")]);
  return select(label, [["-1", all], ...choices.filter(([number]) => there.has(Number(number)))], (key) => change(Number(key)), String(now));
}
