// What full screen and small screens add to the film: a seek bar, and the passage over the picture.

import type { App } from "./app.ts";
import { element } from "./dom.ts";

export class Overlay {
  readonly passage = element("p", { class: "passage", dir: "auto", hidden: true });
  readonly seek: HTMLInputElement;
  private isWanted = true;

  constructor(private readonly app: App) {
    const { film, book } = app.payload;
    if (book.language) this.passage.lang = book.language;
    this.seek = element("input", {
      type: "range",
      class: "seek",
      min: 0,
      max: Math.max(1, Math.round(film.duration_s)),
      step: 1,
      "aria-label": "Seek",
      input: () => app.seek(Number(this.seek.value)),
    });
    app.on("time", () => this.showTime());
    app.on(["moment", "lit", "links"], () => this.showPassage());
    this.showTime();
    this.showPassage();
  }

  togglePassage(): void {
    this.isWanted = !this.isWanted;
    this.showPassage();
  }

  private showTime(): void {
    const seconds = String(Math.round(this.app.time_s));
    if (this.seek.value === seconds && this.seek.ariaValueText) return;
    this.seek.value = seconds;
    this.seek.ariaValueText = this.app.when(this.app.time_s);
  }

  private showPassage(): void {
    const { app } = this;
    const sentence = app.link?.sentence ?? app.lit?.sentence;
    this.passage.hidden = sentence === undefined || !this.isWanted;
    if (sentence !== undefined) this.passage.textContent = app.book.sentences[sentence];
  }
}
