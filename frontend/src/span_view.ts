// Annotating: several moments and sentences selected with Shift, the kind of the link, and a note.

import type { App } from "./app.ts";
import { element, iconButton } from "./dom.ts";
import { momentAt } from "./follow.ts";
import { clamp } from "./order.ts";
import type { Kind } from "./payload.ts";
import { KINDS, passageOf, type Span, usualKind } from "./spans.ts";
import { counted } from "./words.ts";

const LONGEST_NOTE = 1000;

export interface SpanSources {
  /** What shows the film's time from left to right. */
  strip: HTMLElement;
  timeline: HTMLElement;
  /** What holds the sentences of the book. */
  book: HTMLElement;
  /** The sentence below a point of the strip. */
  sentenceAt(x: number, y: number): number | null;
  /** Brings a sentence into view. */
  show(sentence: number): void;
}

export class SpanView {
  readonly root: HTMLElement;
  private readonly what = element("p", { class: "span-what", "aria-live": "polite" });
  private readonly drop: HTMLButtonElement;
  private readonly kinds: HTMLButtonElement[];
  private readonly note: HTMLInputElement;
  private readonly bands: HTMLElement[];

  constructor(
    private readonly app: App,
    private readonly sources: SpanSources,
  ) {
    this.drop = iconButton("cross", "Select nothing (Esc)", () => app.letGo());
    this.kinds = KINDS.map((kind) =>
      element("button", { type: "button", class: "kind", title: `The book is rendered by ${words(kind)}`, click: () => this.setKind(kind) }, kind),
    );
    this.note = element("input", {
      type: "text",
      class: "note",
      maxlength: LONGEST_NOTE,
      placeholder: "Note",
      "aria-label": "Note on this moment",
      input: () => this.setNote(),
      keydown: (event: KeyboardEvent) => this.onNoteKey(event),
    });
    this.root = element(
      "section",
      { class: "span", "aria-label": "Annotation" },
      element("div", { class: "span-line" }, this.what, this.drop),
      element("div", { class: "kinds", role: "group", "aria-label": "Kind of link" }, ...this.kinds),
      this.note,
    );
    this.bands = [sources.strip, sources.timeline].map((place) => {
      const band = element("div", { class: "span-band", "aria-hidden": "true", hidden: true });
      place.append(band);
      return band;
    });
    this.listen();
    this.show();
  }

  private listen(): void {
    const { app, sources } = this;
    app.on(["moment", "links", "picked", "veil"], () => this.show());
    app.on(["axes", "picked"], () => this.placeBands());
    new ResizeObserver(() => this.placeBands()).observe(sources.strip);
    // Before the views' own listeners: with Shift a click selects, and does not play.
    for (const place of [sources.strip, sources.timeline]) {
      place.addEventListener("pointerdown", (event) => this.onFilm(event, place), true);
    }
    sources.book.addEventListener("mousedown", (event) => event.shiftKey && event.preventDefault(), true);
    sources.book.addEventListener("click", (event) => this.onBook(event), true);
    addEventListener("keydown", (event) => this.onKey(event), true);
  }

  // ---- selecting

  private onFilm(event: PointerEvent, place: HTMLElement): void {
    if (!event.shiftKey || event.button !== 0 || !this.app.canCorrect) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const sentence = place === this.sources.strip ? this.sources.sentenceAt(event.clientX, event.clientY) : null;
    if (sentence !== null) return this.selectSentence(sentence);
    const box = place.getBoundingClientRect();
    const time_s = this.app.filmAxis.toValue(event.clientX - box.left, box.width);
    this.selectMoment(momentAt(this.app.payload.moments, time_s) ?? 0);
  }

  private onBook(event: MouseEvent): void {
    const span = (event.target as Element).closest<HTMLElement>(".sentence");
    if (!event.shiftKey || !span || !this.app.canCorrect) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.selectSentence(Number(span.dataset.sentence));
  }

  private onKey(event: KeyboardEvent): void {
    if (!event.shiftKey || event.ctrlKey || event.metaKey || event.altKey || !this.app.canCorrect) return;
    if ((event.target as Element).closest?.("input, textarea, select, dialog")) return;
    const { app } = this;
    const { moments, sentences } = app.selection;
    const moment = (step: number) => this.selectMoment((moments.end ?? app.moment ?? -1) + step);
    const sentence = (step: number) => {
      const from = sentences.end ?? app.picked ?? app.link?.sentence;
      if (from === undefined) app.say("Pick a sentence first (J and K, or a click).");
      else this.selectSentence(from + step, true);
    };
    const acts: Record<string, () => void> = {
      ArrowRight: () => moment(1),
      ArrowLeft: () => moment(-1),
      ArrowDown: () => sentence(1),
      ArrowUp: () => sentence(-1),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    acts[event.key]();
  }

  /** Selects the moments from the current one (or the first selected) to this one. */
  private selectMoment(to: number): void {
    const { app } = this;
    const last = app.payload.moments.length - 1;
    const moment = clamp(to, 0, last);
    if (last < 0 || app.isHidden(moment)) return app.say("This is still hidden: judge it when it has been seen.");
    app.selection.moments.extend(app.moment ?? moment, moment);
    return app.emit("picked");
  }

  /** Selects the sentences from the picked one (or the film's) to this one. */
  private selectSentence(to: number, isShown = false): void {
    const { app } = this;
    const sentence = clamp(to, 0, app.book.sentences.length - 1);
    if (!app.isTold(sentence)) return app.say("This is still hidden: judge it when it has been seen.");
    app.selection.sentences.extend(app.picked ?? app.link?.sentence ?? sentence, sentence);
    app.emit("picked");
    if (isShown) this.sources.show(sentence);
  }

  // ---- kind and note

  private setKind(kind: Kind): void {
    this.hold();
    this.app.selection.kind = kind;
    this.app.emit("picked");
  }

  private setNote(): void {
    this.hold();
    this.app.selection.note = this.note.value;
    this.app.emit("picked");
  }

  /** Kind and note are of what is shown now, also if the film plays on. */
  private hold(): void {
    const { selection, moment } = this.app;
    if (selection.moments.span || moment === null) return;
    const known = this.app.judged.get(moment);
    selection.moments.set(known ? [known.moment, known.moment_to ?? known.moment] : [moment, moment]);
    if (known && !selection.sentences.span) selection.sentences.set(passageOf(known));
    if (known) selection.kind ??= known.kind ?? null;
    if (known) selection.note ??= known.note ?? null;
  }

  private onNoteKey(event: KeyboardEvent): void {
    if (event.key === "Enter") void this.app.confirm().then(() => this.note.blur());
    if (event.key === "Escape") {
      this.app.letGo();
      this.note.blur();
    }
  }

  // ---- showing

  private show(): void {
    const { app } = this;
    const { selection, moment } = app;
    const span = selection.moments.span ?? (moment === null ? null : ([moment, moment] as Span));
    const known = moment === null ? undefined : app.judged.get(moment);
    this.root.classList.toggle("is-active", selection.isActive);
    this.drop.hidden = !selection.isActive;
    this.what.textContent = this.describe();
    this.what.title = this.times();
    const isOff = span === null || app.isHidden(span[1]);
    const kind = selection.kind ?? (selection.moments.span ? null : known?.kind) ?? (span && usualKind(app.payload.moments, span));
    for (const button of this.kinds) {
      button.disabled = isOff;
      button.setAttribute("aria-pressed", String(button.textContent === kind));
    }
    this.note.disabled = isOff;
    const note = selection.note ?? (selection.moments.span ? "" : known?.note) ?? "";
    if (this.note.value !== note) this.note.value = note;
    this.placeBands();
  }

  private describe(): string {
    const { moments, sentences } = this.app.selection;
    const size = ([first, last]: Span) => last - first + 1;
    const parts = [moments.span && counted(size(moments.span), "moment", "moments"), sentences.span && counted(size(sentences.span), "sentence", "sentences")];
    return parts.filter(Boolean).join(", ") || "Shift-click selects several";
  }

  /** When the selected moments are. */
  private times(): string {
    const { app } = this;
    const { span } = app.selection.moments;
    if (!span) return "";
    const [first, last] = span.map((moment) => app.payload.moments[moment]);
    return `${app.when(first.start_s)} to ${app.when(last.end_s)}`;
  }

  private placeBands(): void {
    const { app } = this;
    const span = app.selection.moments.span;
    for (const band of this.bands) {
      band.hidden = span === null;
      if (!span) continue;
      const width_px = (band.parentElement as HTMLElement).clientWidth;
      const from = clamp(app.filmAxis.toPixel(app.payload.moments[span[0]].start_s, width_px), 0, width_px);
      const to = clamp(app.filmAxis.toPixel(app.payload.moments[span[1]].end_s, width_px), 0, width_px);
      band.style.left = `${from}px`;
      band.style.width = `${Math.max(2, to - from)}px`;
    }
  }
}

function words(kind: Kind): string {
  return { dialogue: "what is said", visual: "what is shown", audio: "what is heard, but not said" }[kind];
}
