// What the treemaps show: classes by their namespaces, lines by gem and file, objects by what holds them.
import { type Branch, branch, parent } from "../branch";
import { count } from "../units";
import type { ClassColumns, LineColumns, Nodes } from "./data";

const DEEPEST = 40; // levels of objects within objects

/** Namespace → class. What has no class is the VM's own. */
export function classTree({ name }: ClassColumns, strings: string[], values: number[]): Branch {
  const root = branch("");
  name.forEach((number, at) => {
    if (values[at] <= 0) return;
    const words = strings[number];
    const spaces = /^[(#]/.test(words) ? [words.startsWith("(") ? "the VM's own" : "without a name", words] : words.split("::");
    let here = root;
    for (const space of spaces) here = child(here, space);
    here.leaf = at;
    here.value += values[at];
  });
  return settled(root);
}

/** Gem → file → line. */
export function lineTree({ place, line, gem }: LineColumns, strings: string[], values: number[]): Branch {
  const root = branch("");
  place.forEach((number, at) => {
    if (values[at] <= 0) return;
    const traced = line[at] >= 0;
    const names = traced ? [strings[gem[at]] || "(application)", strings[number], String(line[at])] : [strings[number]];
    let here = root;
    for (const name of names) here = child(here, name);
    here.leaf = at;
    here.value += values[at];
  });
  return settled(root);
}

/** Objects in those that dominate them; what an object has itself, and what of it the page does not know, are leaves. */
export function holderTree(nodes: Nodes): Branch {
  const inner = (node: number, depth: number): Branch => {
    const name = nodes.words(node);
    const held = depth < DEEPEST ? nodes.heldBy(node) : [];
    const made = { ...branch(name, nodes.retained[node], node), key: nodes.address(node) };
    if (held.length === 0) return made;
    const known = held.reduce((sum, each) => sum + nodes.retained[each], 0);
    const more = others(nodes, node, held);
    const rest = nodes.retained[node] - known - nodes.bytes[node] - more.reduce((sum, each) => sum + each.value, 0);
    const children = [...held.map((each) => inner(each, depth + 1)), ...more];
    if (nodes.bytes[node] > 0) children.push(branch("the object itself", nodes.bytes[node], node));
    if (rest > 0) children.push({ ...branch("smaller ones", rest), merged: 1 });
    return { ...made, leaf: -1, children };
  };
  return parent("", nodes.outermost().map((node) => inner(node, 1)));
}

/** What a node holds besides, by class. */
function others(nodes: Nodes, node: number, held: number[]): Branch[] {
  return nodes.classesHeldBy(node).flatMap(({ name, count: all, retained }) => {
    const shown = held.filter((each) => nodes.className(each) === name);
    const [left, value] = [all - shown.length, retained - shown.reduce((sum, each) => sum + nodes.retained[each], 0)];
    return left > 0 && value > 0 ? [{ ...branch(`${count(left)} more ${name}`, value), merged: left }] : [];
  });
}

function child(at: Branch, name: string): Branch {
  let found = at.children.find((each) => each.name === name);
  if (!found) at.children.push((found = branch(name)));
  return found;
}

/** Weights of what has children, and a leaf for what it is itself: a class may be a namespace too. */
function settled(at: Branch): Branch {
  if (at.children.length === 0) return at;
  const children = at.children.map(settled);
  if (at.leaf >= 0) children.push({ ...branch(at.name, at.value, at.leaf), key: `${at.name} itself` });
  return { ...parent(at.name, children), key: at.key };
}
