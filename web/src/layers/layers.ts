// What can be shown besides the bodies: name in the film's --show, label, key.
export type LayerName = "contacts" | "normal" | "friction" | "cones" | "islands" | "spheres" | "field" | "modes" | "creases" | "through" | "joints" | "occlusion";

export interface LayerEntry { name: LayerName; label: string; hint: string; key: string; initial: boolean }

export const LAYERS: LayerEntry[] = [
  { name: "contacts", label: "Contact points", hint: "green disc: sticks; red diamond: slides; grey: no load", key: "1", initial: true },
  { name: "normal", label: "Normal forces", hint: "on the first body, or on the one that can move", key: "2", initial: false },
  { name: "friction", label: "Friction forces", hint: "green where it sticks, red where it slides", key: "3", initial: false },
  { name: "cones", label: "Friction cones", hint: "height: normal force; friction stays inside", key: "4", initial: false },
  { name: "islands", label: "Islands", hint: "one colour per group of touching bodies", key: "5", initial: false },
  { name: "creases", label: "Edges", hint: "of the bodies, as thin lines", key: "6", initial: true },
  { name: "spheres", label: "Sphere tree", hint: "of the selected body; live scenes only", key: "7", initial: false },
  { name: "field", label: "Distance field", hint: "a slice through the selected body; live scenes only", key: "8", initial: false },
  { name: "modes", label: "Deformation mode", hint: "animates the selected deformable body", key: "9", initial: false },
  { name: "joints", label: "Joints", hint: "balls, hinges with their axes, diamonds for welds", key: "J", initial: true },
  { name: "occlusion", label: "Ambient occlusion", hint: "corners and gaps are darker; left out while frames are late", key: "A", initial: true },
  { name: "through", label: "See through walls", hint: "fixed bodies become transparent", key: "0", initial: false },
];

/* "contacts,forces" -> names; "forces" is both kinds. */
export function layersOf(show: string): Set<LayerName> {
  const names = new Set<LayerName>(["creases", "occlusion"]);
  for (const word of show.split(",").map((w) => w.trim())) {
    if (word === "forces") names.add("normal").add("friction");
    else if (LAYERS.some((layer) => layer.name === word)) names.add(word as LayerName);
  }
  return names;
}
