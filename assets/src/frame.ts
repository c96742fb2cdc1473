// What all pages have around them: light and dark, and the sign that all is drawn.
import { button, el } from "./dom";

const system = matchMedia("(prefers-color-scheme: dark)");

/** Put these on the page; light and dark follow the system. */
export function present(...parts: HTMLElement[]): void {
  follow();
  system.addEventListener("change", follow);
  document.body.replaceChildren(...parts);
  // The second frame from now comes after the first layout, which sizes treemaps and tables.
  requestAnimationFrame(() => requestAnimationFrame(() => { document.documentElement.dataset.ready = "true"; }));
}

/** A button between light and dark; from then on these no longer follow the system. */
export function themes(): HTMLElement {
  const made = button("", { class: "quiet theme" }, () => {
    system.removeEventListener("change", follow);
    document.documentElement.dataset.theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  });
  made.append(el("span", { class: "to-dark" }, "Dark"), el("span", { class: "to-light" }, "Light"));
  return made;
}

/** Name, figure and what it means, or null, in a row. */
export function tiles(cells: [string, string, string | null][], more = ""): HTMLElement {
  const made = cells.map(([name, figure, note]) => el("div", {}, el("dt", {}, name), el("dd", {}, figure), note ? el("dd", { class: "note" }, note) : null));
  return el("dl", { class: `tiles ${more}`.trim() }, ...made);
}

/** The slash leads to the filter, unless something is typed or a dialog is open. */
export function slash(dialog: HTMLDialogElement, focusFilter: () => void): void {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target instanceof HTMLInputElement || dialog.open) return;
    event.preventDefault();
    focusFilter();
  });
}

function follow(): void {
  document.documentElement.dataset.theme = system.matches ? "dark" : "light";
}
