// Every key of the page in one table: it acts by it, and the help dialog is made from it.

import type { App } from "./app.ts";
import { element, iconButton } from "./dom.ts";

export interface Key {
  /** As in KeyboardEvent.key, lower case. */
  keys: string[];
  /** How it is written in the help. */
  shown: string;
  does: string;
  act: () => void;
}

export interface KeyGroup {
  name: string;
  /** Whether the keys correct links: a key that is held down acts but once, and none while reading. */
  isCorrecting?: boolean;
  keys: Key[];
}

const isLetter = (key: string): boolean => /^[a-z]$/.test(key);

/** Whether an element wants this key for itself. */
function isTaken(target: Element | null, key: string): boolean {
  if (!target) return false;
  if (target.closest("dialog")) return true;
  if (target.matches("input[type=range]")) return key.startsWith("arrow") || key === " ";
  if (target.matches("input:not([type=checkbox]), textarea")) return true;
  if (target.matches("select")) return key.length === 1 || key.startsWith("arrow") || key === "enter";
  if (target.matches("button, summary, a, input")) return key === " " || key === "enter";
  return false;
}

export function bindKeys(app: App, groups: KeyGroup[]): void {
  const entries = groups.flatMap(({ isCorrecting, keys }) => keys.map((entry) => ({ ...entry, isCorrecting: isCorrecting ?? false })));
  const table = new Map(entries.flatMap((entry) => entry.keys.map((key) => [key, entry])));
  addEventListener("keydown", (event) => {
    const key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && key === "z" && !isTaken(event.target as Element, key)) {
      event.preventDefault();
      return event.repeat || isOff(app) ? undefined : void app.undo();
    }
    // A held Enter would press a button again and again.
    if (event.repeat && key === "enter" && (event.target as Element).closest?.(".actions")) return event.preventDefault();
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (isTaken(event.target as Element, key)) return;
    if (isLetter(key) && !app.kept.hasLetterKeys) return;
    const entry = table.get(key);
    if (!entry) return;
    event.preventDefault();
    if (!entry.isCorrecting) entry.act();
    else if (!event.repeat && !isOff(app)) entry.act();
  });
}

/** Whether links cannot be corrected now; if so, says what to do. */
function isOff(app: App): boolean {
  if (!app.canCorrect) app.say("Links are not corrected while reading: V shows all tools.");
  return !app.canCorrect;
}

/** The dialog that lists the keys. */
export function makeHelp(app: App, groups: KeyGroup[]): HTMLDialogElement {
  const dialog = element("dialog", { class: "sheet-dialog help", "aria-labelledby": "help-title" });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  const letters = element("input", {
    type: "checkbox",
    change: () => {
      app.kept.hasLetterKeys = letters.checked;
      app.saveSoon();
    },
  });
  letters.checked = app.kept.hasLetterKeys;
  const lists = groups.map((group) =>
    element(
      "section",
      {},
      element("h3", {}, group.isCorrecting ? `${group.name} (not while reading)` : group.name),
      element(
        "dl",
        {},
        ...group.keys.map((key) =>
          element("div", {}, element("dt", {}, ...key.shown.split(" ").map((text) => element("kbd", {}, text))), element("dd", {}, key.does)),
        ),
      ),
    ),
  );
  dialog.append(
    element("header", {}, element("h2", { id: "help-title" }, "Keys"), iconButton("cross", "Close", () => dialog.close())),
    element("div", { class: "help-lists" }, ...lists),
    element("label", { class: "letters" }, letters, "Letter keys act (turn off if they get in your way)"),
  );
  return dialog;
}
