// One object in full: the way from a root to it, what it holds, who references it. Each of these is a button to that
// object; Backspace leads back.
import { button, el, place } from "../dom";
import { tiles } from "../frame";
import { bytes, count, share } from "../units";
import type { Nodes, Step } from "./data";

const HELD = 50; // objects held that are shown

/** closed: called with the node that was shown first. */
export class Detail {
  readonly element = el("dialog", { "aria-labelledby": "detail-title" });
  private trail: number[] = [];

  constructor(private readonly nodes: Nodes, private readonly total: number, closed: (first: number) => void) {
    this.element.addEventListener("close", () => closed(this.trail[0]));
    this.element.addEventListener("click", (event) => { if (event.target === this.element) this.element.close(); });
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Backspace" && this.trail.length > 1) this.back();
    });
  }

  open(node: number): void {
    this.trail = [node];
    this.draw();
  }

  private get node(): number {
    return this.trail[this.trail.length - 1];
  }

  private go(node: number): void {
    this.trail.push(node);
    this.draw();
  }

  private back(): void {
    this.trail.pop();
    this.draw();
  }

  private draw(): void {
    const { node } = this;
    const title = el("h2", { id: "detail-title", tabindex: "-1" }, el("bdi", {}, this.nodes.words(node)));
    this.element.replaceChildren(el("div", { class: "sheet" }, this.head(title), this.facts(), this.figures(), this.way(), this.held(), this.referrers()));
    if (!this.element.open) this.element.showModal();
    this.element.scrollTop = 0;
    title.focus();
  }

  private head(title: HTMLElement): HTMLElement {
    const back = button("←", { class: "quiet", "aria-label": "Back", title: "Back" }, () => this.back());
    back.disabled = this.trail.length < 2;
    return el("header", {}, title, back, button("×", { class: "quiet", "aria-label": "Close", title: "Close" }, () => this.element.close()));
  }

  private facts(): HTMLElement {
    const { nodes, node } = this;
    const generation = nodes.generation(node);
    const pairs: [string, string][] = [
      ["address", nodes.address(node)], ["class", nodes.isRoot(node) ? "" : nodes.className(node)], ["allocated at", nodes.location(node)],
      ["generation", generation < 0 ? "" : count(generation)],
    ];
    return el("dl", { class: "facts" }, ...pairs.filter(([, text]) => text).flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, el("bdi", {}, text))]));
  }

  private figures(): HTMLElement | null {
    const { nodes, node } = this;
    if (nodes.isRoot(node)) return null;
    const retained = nodes.retained[node];
    const own: [string, string, string] = ["own", bytes(nodes.bytes[node]), "the object alone"];
    if (retained < 0) return tiles([own]);
    return tiles([["retained", bytes(retained), `${share(retained / Math.max(this.total, 1))} of all`], ["objects", count(nodes.retainedObjects[node]), "would be freed"], own]);
  }

  private way(): HTMLElement | null {
    const steps = this.nodes.way(this.node);
    if (steps.length < 2) return null;
    return this.part("Held by: the shortest path from a root", el("ol", { class: "way" }, ...steps.map((step) => el("li", {}, this.step(step)))));
  }

  private held(): HTMLElement | null {
    const { nodes, node } = this;
    const all = nodes.heldBy(node);
    if (all.length === 0) return null;
    const shown = all.slice(0, HELD);
    const most = Math.max(nodes.retained[node], 1);
    const rows = shown.map((each) => {
      const figure = el("span", { class: "figure" }, bytes(nodes.retained[each]));
      return el("li", {}, this.step({ node: each, name: "" }), meter(nodes.retained[each] / most), figure);
    });
    const known = shown.reduce((sum, each) => sum + nodes.retained[each], 0);
    const rest = nodes.retained[node] - known - nodes.bytes[node];
    const more = rest > 0 && el("p", { class: "note" }, `and ${bytes(rest)} in objects that are not in this page`);
    return this.part("Holds", this.classes(most), el("ul", { class: "held" }, ...rows), more);
  }

  private classes(most: number): HTMLElement | false {
    const groups = this.nodes.classesHeldBy(this.node);
    if (groups.every((group) => group.count === 1)) return false;
    const rows = groups.map(({ name, count: all, retained }) =>
      el("li", {}, el("span", { class: "step" }, `${count(all)} ${name}`), meter(retained / most), el("span", { class: "figure" }, bytes(retained))));
    return el("ul", { class: "held classes" }, ...rows);
  }

  private referrers(): HTMLElement | null {
    const found = this.nodes.referrers(this.node);
    if (!found) return null;
    const left = found.total - found.steps.length;
    const rows = found.steps.map((step) => el("li", {}, this.step(step)));
    return this.part(`Referenced ${count(found.total)} ${found.total === 1 ? "time" : "times"}`, el("ul", { class: "held" }, ...rows), left > 0 && el("p", { class: "note" }, `${count(left)} more are not in this page`));
  }

  private part(title: string, ...children: (HTMLElement | false)[]): HTMLElement {
    return el("section", {}, el("h3", {}, title), ...children);
  }

  private step({ node, name }: Step): HTMLElement {
    const where = this.nodes.location(node);
    const words = [
      name && el("b", { class: "by" }, el("bdi", {}, name)), el("bdi", { class: "thing" }, this.nodes.words(node)),
      where && el("span", { class: "label where" }, ...place(where)),
    ];
    if (node === this.node) return el("span", { class: "step", "aria-current": "true" }, ...words);
    const made = button(null, { class: "step" }, () => this.go(node));
    made.append(...words.filter((word): word is HTMLElement => Boolean(word)));
    return made;
  }
}

function meter(part: number): HTMLElement {
  const filled = el("span", { class: "filled" });
  filled.style.width = `${Math.round(Math.min(part, 1) * 100)}%`;
  return el("span", { class: "meter", "aria-hidden": "true" }, filled);
}
