// The bar above: what this is, the search, and the tools.

import type { App } from "./app.ts";
import { element, icon, iconButton, setIcon } from "./dom.ts";
import { GUESS } from "./follow.ts";
import type { Theme } from "./memory.ts";
import { percent } from "./words.ts";

const THEMES: { theme: Theme; icon: "half" | "sun" | "moon"; label: string }[] = [
  { theme: "system", icon: "half", label: "Colours as the system (T)" },
  { theme: "light", icon: "sun", label: "Light colours (T)" },
  { theme: "dark", icon: "moon", label: "Dark colours (T)" },
];

export class Header {
  readonly root: HTMLElement;
  private readonly slider: HTMLInputElement;
  private readonly sliderValue = element("output", { class: "slider-value" });
  private readonly spoilers: HTMLButtonElement;
  private readonly seen: HTMLButtonElement;
  private readonly themeButton: HTMLButtonElement;
  private readonly reading: HTMLButtonElement;

  constructor(
    private readonly app: App,
    search: HTMLElement,
    openReport: () => void,
    openHelp: () => void,
  ) {
    this.slider = element("input", {
      type: "range",
      min: 0,
      max: 100,
      step: 5,
      "aria-label": "Show only links at least this sure",
      input: () => app.setThreshold(Number(this.slider.value) / 100),
    });
    this.spoilers = element(
      "button",
      { type: "button", class: "tool", "aria-pressed": "false", title: "Hide the book beyond what has been seen (S)", click: () => app.setSpoilers(!app.kept.hidesSpoilers) },
      icon("eye"),
      "No spoilers",
    );
    this.seen = element("button", { type: "button", class: "tool quiet", title: "Count the film as seen up to now, no further (H)", click: () => app.setSeenHere() });
    this.reading = element(
      "button",
      { type: "button", class: "tool", "aria-pressed": "false", title: "Film, book and transcript, without the tools to correct links (V)", click: () => app.display.setReading(!app.display.isReading) },
      icon("book"),
      "Read",
    );
    this.themeButton = iconButton("half", "", () => this.nextTheme());
    this.themeButton.append(element("span", { class: "menu-words" }, "Colours"));
    const tools = element(
      "div",
      { class: "tools", id: "tools" },
      element("label", { class: "slider links-slider", title: "Only links at least this sure; below 50 % guesses are shown, too ([ and ])" }, "Links", this.slider, this.sliderValue),
      this.reading,
      this.spoilers,
      this.seen,
      element("button", { type: "button", class: "tool", title: "How much of the book is in the film (R)", click: openReport }, icon("chart"), "Fidelity"),
      this.themeButton,
      element("button", { type: "button", class: "icon-button help-button", "aria-label": "Keys (?)", title: "Keys (?)", click: openHelp }, "?", element("span", { class: "menu-words" }, "Keys")),
    );
    this.root = element("header", { class: "bar" }, this.makeTitle(), search, this.makeMenu(tools), tools);
    app.on("links", () => {
      this.showThreshold();
      this.showSpoilers();
    });
    app.on("theme", () => this.showTheme());
    app.on("display", () => this.showReading());
    this.showReading();
    this.showThreshold();
    this.showSpoilers();
    this.showTheme();
  }

  private makeTitle(): HTMLElement {
    const { book, film } = this.app.payload;
    const [bookTitle, filmTitle] = [book.title, film.title].map((title) => title.trim().toLowerCase());
    // A file that is called “film” says nothing of what it shows.
    const other = filmTitle === bookTitle ? "book and film" : ["", "film", "movie"].includes(filmTitle) ? null : film.title;
    return element("div", { class: "names" }, element("h1", {}, book.title || "The book"), other && element("span", {}, other));
  }

  /** On a phone the tools hide behind a button. */
  private makeMenu(tools: HTMLElement): HTMLElement {
    const open = (isOpen: boolean) => {
      tools.classList.toggle("open", isOpen);
      button.setAttribute("aria-expanded", String(isOpen));
    };
    const isOpen = () => tools.classList.contains("open");
    const button = iconButton("menu", "Tools", () => open(!isOpen()));
    tools.addEventListener("click", (event) => (event.target as Element).closest("button") && open(false));
    addEventListener("pointerdown", (event) => {
      const target = event.target as Element;
      if (!tools.contains(target) && !button.contains(target)) open(false);
    });
    addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !isOpen()) return;
      open(false);
      button.focus();
    });
    button.classList.add("menu-button");
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-controls", "tools");
    return button;
  }

  nextTheme(): void {
    const index = THEMES.findIndex(({ theme }) => theme === this.app.colours.theme);
    this.app.colours.set(THEMES[(index + 1) % THEMES.length].theme);
  }

  private showThreshold(): void {
    const { threshold } = this.app.kept;
    this.slider.value = String(threshold * 100);
    const guesses = threshold < GUESS ? ", guesses too" : "";
    this.sliderValue.textContent = threshold === 0 ? "all" : `≥ ${percent(threshold)}`;
    this.sliderValue.classList.toggle("guesses", guesses !== "");
    this.slider.setAttribute("aria-valuetext", `${threshold === 0 ? "all" : `at least ${percent(threshold)}`}${guesses}`);
  }

  private showReading(): void {
    this.reading.setAttribute("aria-pressed", String(this.app.display.isReading));
  }

  private showSpoilers(): void {
    const { hidesSpoilers, seen_s } = this.app.kept;
    this.spoilers.setAttribute("aria-pressed", String(hidesSpoilers));
    this.seen.hidden = !hidesSpoilers;
    this.seen.textContent = `seen to ${this.app.when(seen_s)}`;
  }

  private showTheme(): void {
    const { theme } = this.app.colours;
    const entry = THEMES.find((item) => item.theme === theme) ?? THEMES[0];
    setIcon(this.themeButton, entry.icon);
    this.themeButton.setAttribute("aria-label", entry.label);
    this.themeButton.title = entry.label;
  }
}
