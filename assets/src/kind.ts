// The two halves of Ruby's memory: what malloc gave out, and the slots of Ruby objects.
import type { Sites } from "./data";

export type Kind = "malloc" | "object";

export function kindOf(sites: Sites, site: number): Kind {
  return sites.isObject(site) ? "object" : "malloc";
}

/** Choices for people; "" is both. */
export const KINDS: [Kind | "", string][] = [["", "malloc and objects"], ["malloc", "malloc"], ["object", "Ruby objects"]];
