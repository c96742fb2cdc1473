// The only place that makes elements. Text becomes text nodes and never markup; the page's policy forbids the rest.

export type Child = Node | string | false | null | undefined;

/** An element with attributes and children; what is false or null is left out. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number> = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill<E extends Element>(element: E, attributes: Record<string, string | number>, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  for (const child of children) if (child) element.append(child);
  return element;
}

/** A button that does something. */
export function button(text: Child, attributes: Record<string, string>, action: () => void): HTMLButtonElement {
  const made = el("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", action);
  return made;
}

/** A labelled choice; `change` gets the chosen key. now: the key that is chosen, where it is not the first. */
export function select(label: string, choices: [string, string][], change: (key: string) => void, now?: string): HTMLElement {
  const list = el("select", {}, ...choices.map(([key, text]) => el("option", { value: key }, text)));
  if (now !== undefined) list.value = now;
  list.addEventListener("change", () => change(list.value));
  return el("label", { class: "choice" }, el("span", {}, label), list);
}

/** A part of the page with a heading; `id` also names the heading. */
export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  return el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), ...children);
}

/** A location: the directory, which gives way where there is no room, and the file. */
export function place(location: string): HTMLElement[] {
  const end = location.lastIndexOf("/") + 1;
  return [el("bdi", { class: "place folder" }, location.slice(0, end)), el("bdi", { class: "place" }, location.slice(end))];
}
