// Elements by one call. Text only ever enters as text: nothing here parses HTML.

type Child = Node | string | null;
type Value = string | number | boolean | null | ((event: never) => void);

const SVG = "http://www.w3.org/2000/svg";

function fill(node: Element, options: Record<string, Value>, children: Child[]): void {
  for (const [name, value] of Object.entries(options)) {
    if (typeof value === "function") {
      node.addEventListener(name, value as EventListener);
    } else if (value !== null && value !== false) {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  node.append(...children.filter((child) => child !== null));
}

/** An element with attributes, listeners (functions, by event name) and children. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  options: Record<string, Value> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  fill(node, options, children);
  return node;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  options: Record<string, Value> = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const node = document.createElementNS(SVG, tag);
  fill(node, options, children);
  return node;
}

const ICONS = {
  play: "M7 4.5v15l12.5-7.5z",
  pause: "M6.5 4.5h4v15h-4zM13.5 4.5h4v15h-4z",
  next: "M5 5v14l9-7zM16 5h3v14h-3z",
  previous: "M19 5v14l-9-7zM5 5h3v14H5z",
  search: "M10.5 3a7.5 7.5 0 1 0 4.6 13.4l4.7 4.7 1.4-1.4-4.7-4.7A7.5 7.5 0 0 0 10.5 3zm0 2a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11z",
  check: "M9.6 18.2 3.9 12.5l1.5-1.5 4.2 4.2 9-9 1.5 1.5z",
  cross: "M6.4 5 12 10.6 17.6 5 19 6.4 13.4 12l5.6 5.6-1.4 1.4-5.6-5.6L6.4 19 5 17.6l5.6-5.6L5 6.4z",
  undo: "M8 5 3 10l5 5v-4h6a3.5 3.5 0 0 1 0 7h-4v2h4a5.5 5.5 0 0 0 0-11H8z",
  link: "M10.6 13.4a4 4 0 0 0 5.7 0l3-3a4 4 0 1 0-5.7-5.7l-1.2 1.2 1.4 1.4L15 6.1A2 2 0 1 1 17.9 9l-3 3a2 2 0 0 1-2.9 0zM13.4 10.6a4 4 0 0 0-5.7 0l-3 3a4 4 0 1 0 5.7 5.7l1.2-1.2-1.4-1.4L9 17.9A2 2 0 1 1 6.1 15l3-3a2 2 0 0 1 2.9 0z",
  grip: "M9 5h2v2H9zM13 5h2v2h-2zM9 9h2v2H9zM13 9h2v2h-2zM9 13h2v2H9zM13 13h2v2h-2zM9 17h2v2H9zM13 17h2v2h-2z",
  sun: "M12 7a5 5 0 1 0 0 10 5 5 0 0 0 0-10zM11 1h2v3.5h-2zM11 19.5h2V23h-2zM1 11h3.5v2H1zM19.5 11H23v2h-3.5zM4.9 3.5l2.5 2.5L6 7.4 3.5 4.9zM18 16.6l2.5 2.5-1.4 1.4-2.5-2.5zM19.1 3.5l1.4 1.4L18 7.4 16.6 6zM6 16.6l1.4 1.4-2.5 2.5-1.4-1.4z",
  moon: "M20.5 14.5A8.5 8.5 0 0 1 9.5 3.5a8.5 8.5 0 1 0 11 11z",
  half: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 2v14a7 7 0 0 1 0-14z",
  eye: "M12 5C6.5 5 2.7 9.3 1.5 12c1.2 2.7 5 7 10.5 7s9.3-4.3 10.5-7C21.3 9.3 17.5 5 12 5zm0 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zm0 2a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z",
  chart: "M4 20V10h3.5v10zM10.2 20V4h3.5v16zM16.5 20v-7H20v7z",
  list: "M4 5h2.5v2.5H4zM9 5.3h11v2H9zM4 10.8h2.5v2.5H4zM9 11h11v2H9zM4 16.5h2.5V19H4zM9 16.8h11v2H9z",
  book: "M3 5c3-1 6-.8 8.2.8v13C9 17.400 6 17.200 3 18zM21 5c-3-1-6-.8-8.200.8v13c2.200-1.400 5.200-1.600 8.200-.8z",
  smaller: "M11.200 17 8.300 9H7.200l-2.900 8h1.600l.6-1.800h2.600l.6 1.800zM7 13.800l.8-2.500.8 2.500zM14 12h6v1.600h-6z",
  larger: "M12.300 19 8.700 7H7L3.400 19h2l.8-2.800h3.400l.8 2.800zM6.700 14.400 7.850 10.300l1.150 4.100zM16.200 9h1.600v2.700h2.700v1.600h-2.700V16h-1.600v-2.700h-2.700v-1.600h2.700z",
  share: "M17 3a3 3 0 1 1-2.200 5L9 11.200a3 3 0 0 1 0 1.600l5.800 3.200a3 3 0 1 1-.9 1.700l-5.800-3.200a3 3 0 1 1 0-5l5.800-3.200A3 3 0 0 1 17 3z",
  menu: "M4 6h16v2H4zM4 11h16v2H4zM4 16h16v2H4z",
  sound: "M4 9v6h4l5 4.5v-15L8 9zM15.5 8.5v7a4 4 0 0 0 0-7z",
  mute: "M4 9v6h4l5 4.5v-15L8 9zM16 9.5l1.5-1.4L22 12.6 20.5 14zM20.5 8.1 22 9.5 17.5 14 16 12.6z",
  full: "M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4z",
  save: "M11 3h2v9.2l3.3-3.3 1.4 1.4L12 16l-5.7-5.7 1.4-1.4 3.3 3.3zM4 18h16v2H4z",
  down: "M11 4h2v12.2l4.6-4.6L19 13l-7 7-7-7 1.4-1.4 4.6 4.6z",
  plus: "M11 5h2v6h6v2h-6v6h-2v-6H5v-2h6z",
  minus: "M5 11h14v2H5z",
  whole: "M3 5h2v14H3zM19 5h2v14h-2zM7 12l4-4v3h2V8l4 4-4 4v-3h-2v3z",
} as const;

export type Icon = keyof typeof ICONS;

export function icon(name: Icon): SVGSVGElement {
  const path = svg("path", { d: ICONS[name] });
  return svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, path);
}

/** Exchanges the icon of a button. */
export function setIcon(button: Element, name: Icon): void {
  button.querySelector("svg")?.replaceWith(icon(name));
}

/** A button with an icon and a name that is read, and seen on hover. */
export function iconButton(name: Icon, label: string, onClick: () => void): HTMLButtonElement {
  return element(
    "button",
    { type: "button", class: "icon-button", "aria-label": label, title: label, click: onClick },
    icon(name),
  );
}

/** Whether the reader asked for less motion. */
export function isStill(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
