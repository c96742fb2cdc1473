// Memory over time, and below it what chooses a part of the time.
import { scaleLinear } from "d3-scale";
import { area, line } from "d3-shape";
import { button, el, svg } from "../dom";
import { bytes, count, seconds } from "../units";
import { spans, type Gcs, type View } from "./data";
import { gcMark, marks } from "./gcs";

const HEIGHT = 200; // pixels
const MARGIN = { top: 18, right: 12, bottom: 24, left: 76 };
const CURVES = [["live", "most_bytes", 0], ["RSS", "rss", 1], ["Ruby heap", "heap_bytes", 2]] as const;

type Point = [number, number];

export class Plot {
  readonly element: HTMLElement;
  private readonly room = el("div", { class: "plot" });
  private readonly sliders: [HTMLInputElement, HTMLInputElement];
  private readonly words = el("p", { class: "found", role: "status" });
  private readonly begin: number;
  private width = 0;

  /** now: what is chosen. noun: of what is shown. changed: spans that are chosen, from the first and before the second. */
  constructor(private readonly view: View, private readonly gcs: Gcs, now: { from: number; to: number }, private readonly noun: string, private readonly changed: (from: number, to: number) => void) {
    this.begin = view.plot.time[0] ?? 0;
    this.sliders = [this.slider("Born from", now.from, 0), this.slider("Until", now.to, 1)];
    const whole = button("The whole time", { class: "quiet" }, () => this.choose(0, spans(view)));
    const rows = this.sliders.map((slider) => el("label", { class: "range" }, el("span", {}, slider.getAttribute("aria-label")), slider));
    this.element = el("div", {}, this.legend(), this.room, el("div", { class: "ranges" }, ...rows), el("div", { class: "toolbar" }, whole, this.words));
    new ResizeObserver(() => { if (this.room.clientWidth !== this.width) this.draw(); }).observe(this.room);
    this.say();
  }

  private get chosen(): [number, number] {
    return [Number(this.sliders[0].value), Number(this.sliders[1].value)];
  }

  private time(span: number): number {
    return this.begin + span * this.view.width;
  }

  private slider(label: string, at: number, which: 0 | 1): HTMLInputElement {
    const made = el("input", { type: "range", min: "0", max: String(spans(this.view)), step: "1", value: String(at), "aria-label": label });
    made.addEventListener("input", () => {
      const [from, to] = this.chosen;
      // At least one span is left.
      if (which === 0) this.choose(Math.min(from, to - 1), to);
      else this.choose(from, Math.max(to, from + 1));
    });
    return made;
  }

  private choose(from: number, to: number): void {
    this.sliders[0].value = String(from);
    this.sliders[1].value = String(to);
    this.say();
    this.shade();
    this.changed(from, to);
  }

  private say(): void {
    const [from, to] = this.chosen;
    const [start, end] = [seconds(this.time(from)), seconds(this.time(to))];
    this.sliders[0].setAttribute("aria-valuetext", start);
    this.sliders[1].setAttribute("aria-valuetext", end);
    this.words.textContent = from === 0 && to === spans(this.view) ? `All ${this.noun} of the recording.` :
      `${this.noun.replace(/^./, (letter) => letter.toUpperCase())} born from ${start} until ${end}. "Live" are those that were live then, "temporary" those that were temporary and freed by then, "at peak" those that were live when most were.`;
  }

  private legend(): HTMLElement {
    const { first, last, still } = this.gcs;
    const gcs = first.reduce((sum, number, at) => sum + last[at] - number + 1, 0);
    const height = still.some((time) => time !== null) ? ", by how long the program stood still" : "";
    return el("ul", { class: "legend" }, ...this.curves.map(([name, , colour]) => el("li", {}, el("span", { class: `swatch swatch-${colour}` }), name)),
      gcs > 0 && el("li", {}, el("span", { class: "swatch gc-swatch" }), `${count(gcs)} GC${gcs === 1 ? "" : "s"}${height}`));
  }

  /** Those that were sampled. Objects lie in Ruby's heap: RSS beside them would leave them no height. */
  private get curves(): (typeof CURVES)[number][] {
    const { kind, plot } = this.view;
    const there = CURVES.filter(([, key]) => key === "most_bytes" || plot[key].some((value) => value !== null));
    return kind === "objects" && there.some(([, key]) => key === "heap_bytes") ? there.filter(([, key]) => key !== "rss") : there;
  }

  private get x(): (seconds: number) => number {
    return scaleLinear().domain([this.begin, this.time(spans(this.view))]).range([MARGIN.left, this.width - MARGIN.right]);
  }

  private draw(): void {
    this.width = this.room.clientWidth;
    if (this.width === 0) return;
    const { plot } = this.view;
    const { x } = this;
    const curves = this.curves.map(([name, key, colour]) => ({ name, colour, points: plot.time.map((time, at): [number, number | null] => [time + plot.step, plot[key][at]]).filter((point): point is Point => point[1] !== null) }));
    const most = Math.max(...curves.flatMap(({ points }) => points.map(([, value]) => value)), 1);
    const y = scaleLinear().domain([0, most]).nice(4).range([HEIGHT - MARGIN.bottom, MARGIN.top]);
    const path = line<Point>(([time]) => x(time), ([, value]) => y(value));
    const below = area<Point>(([time]) => x(time), y(0), ([, value]) => y(value));
    const ticks = scaleLinear().domain([this.begin, this.time(spans(this.view))]).ticks(Math.max(2, Math.floor(this.width / 120)));
    const peak = x(plot.peak_at);
    this.room.replaceChildren(svg(
      "svg", { class: "chart", viewBox: `0 0 ${this.width} ${HEIGHT}`, role: "img", "aria-label": `Memory over time; most was live after ${seconds(plot.peak_at)}` },
      ...y.ticks(4).flatMap((tick) => [
        svg("line", { class: "grid", x1: MARGIN.left, x2: this.width - MARGIN.right, y1: y(tick), y2: y(tick) }),
        svg("text", { class: "tick", x: MARGIN.left - 8, y: y(tick), dy: "0.32em", "text-anchor": "end" }, bytes(tick)),
      ]),
      ...ticks.map((tick) => svg("text", { class: "tick", x: x(tick), y: HEIGHT - 6, "text-anchor": "middle" }, `${tick} s`)),
      svg("path", { class: "below curve-0", d: below(curves[0].points) ?? "" }),
      ...curves.map(({ name, colour, points }) => svg("path", { class: `curve curve-${colour}`, d: path(points) ?? "" }, svg("title", {}, name))),
      ...marks(this.gcs, x).map((mark) => gcMark(mark, y(0))),
      svg("line", { class: "peak", x1: peak, x2: peak, y1: MARGIN.top - 4, y2: y(0) }),
      svg("text", { class: "tick", x: peak, y: MARGIN.top - 7, "text-anchor": peak > this.width / 2 ? "end" : "start" }, "peak"),
      ...["before", "after"].map((which) => svg("rect", { class: "shade", "data-which": which, y: MARGIN.top, height: HEIGHT - MARGIN.top - MARGIN.bottom })),
    ));
    this.shade();
  }

  /** What is not chosen is dim. */
  private shade(): void {
    const [from, to] = this.chosen.map((span) => this.x(this.time(span)));
    const put = (which: string, left: number, right: number): void => {
      const rect = this.room.querySelector(`[data-which="${which}"]`);
      rect?.setAttribute("x", String(left));
      rect?.setAttribute("width", String(Math.max(right - left, 0)));
    };
    put("before", MARGIN.left, from);
    put("after", to, this.width - MARGIN.right);
  }
}
