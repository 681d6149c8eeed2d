// Where the book is now, how sure that is, and what the reader can say about it.

import type { App } from "./app.ts";
import { element, icon, type Icon, iconButton } from "./dom.ts";
import { judgementFile, saveFile } from "./judgement_file.ts";
import { judgementWords } from "./spans.ts";
import { certainty, percent, sureness } from "./words.ts";

function action(name: Icon, text: string, title: string, act: () => void): HTMLButtonElement {
  return element("button", { type: "button", class: "action", title, click: act }, icon(name), text);
}

export class NowCard {
  readonly root: HTMLElement;
  private readonly chapter = element("p", { class: "place-chapter" });
  private readonly sure = element("p", { class: "place-sure" });
  private readonly meter = element("span", { class: "meter", "aria-hidden": "true" }, element("span"));
  /** What screen readers say when the reader steps through the film. */
  private readonly spoken = element("p", { class: "visually-hidden", "aria-live": "polite" });
  private readonly others = element("div", { class: "others", role: "group", "aria-label": "Best passages for this moment" });
  private readonly confirm: HTMLButtonElement;
  private readonly reject: HTMLButtonElement;
  private readonly here: HTMLButtonElement;
  private readonly undo: HTMLButtonElement;
  private readonly save: HTMLButtonElement;

  constructor(
    private readonly app: App,
    private readonly showSentence: (sentence: number) => void,
  ) {
    this.confirm = action("check", "Right", "This link is right (Y)", () => void app.confirm());
    this.reject = action("cross", "Not in the book", "This moment is not in the book (X)", () => void app.reject());
    this.here = action("link", "Link here", "Link this moment to another sentence (L)", () => app.linkHere());
    this.undo = iconButton("undo", "Undo (U)", () => void app.undo());
    this.save = iconButton("save", "Save judgements as a file", () =>
      saveFile(judgementFile(app.payload, app.judged), "judgements.json"),
    );
    this.save.hidden = app.payload.server !== null;
    const actions = element(
      "div",
      { class: "actions", role: "group", "aria-label": "Correct this link" },
      this.confirm,
      this.reject,
      this.here,
      this.undo,
      this.save,
    );
    const state = element("div", { class: "place-state" }, this.chapter, element("div", { class: "place-line" }, this.meter, this.sure));
    this.root = element("section", { class: "place", "aria-label": "Place in the book" }, state, actions, this.others, this.spoken);
    app.on(["moment", "links", "veil", "picked"], () => this.show());
    app.on("moment", () => this.announce());
    this.show();
  }

  private announce(): void {
    const { moment, payload, player } = this.app;
    if (moment === null || player.isPlaying) return;
    const { start_s, text } = payload.moments[moment];
    const parts = [this.app.when(start_s), this.chapter.textContent, this.sure.textContent, text];
    this.spoken.textContent = parts.filter(Boolean).join(". ");
  }

  private show(): void {
    const { app } = this;
    const { moment } = app;
    const link = moment === null ? null : app.links[moment];
    const isHidden = moment !== null && app.isHidden(moment);
    const shown = app.link;
    this.root.classList.toggle("is-absent", shown === null);
    this.root.classList.toggle("is-judged", moment !== null && app.judged.has(moment));
    this.chapter.textContent = shown ? app.book.chapterTitleOf(shown.sentence) : this.absence(isHidden);
    this.sure.textContent = this.sureText(isHidden);
    (this.meter.firstElementChild as HTMLElement).style.width = shown ? percent(shown.score).replace(" ", "") : "0";
    this.showOthers();
    this.confirm.disabled = link === null || isHidden || (link.in_book && shown === null);
    this.reject.disabled = link === null || isHidden;
    this.here.disabled = link === null || isHidden;
    this.here.setAttribute("aria-pressed", String(app.linking !== null));
    document.body.classList.toggle("linking", app.linking !== null);
    this.undo.disabled = !app.canUndo;
    this.save.disabled = !app.canUndo;
  }

  private absence(isHidden: boolean): string {
    if (this.app.moment === null) return "The film has not begun";
    if (isHidden) return "Hidden: not seen yet";
    if (this.app.links[this.app.moment].in_book) return "Not sure enough to show";
    // A title card or a view of the sea is seldom told from what a book describes.
    return this.isSilent && !this.app.judged.has(this.app.moment) ? "Nobody speaks" : "Not in the book";
  }

  private get isSilent(): boolean {
    const { moment, payload } = this.app;
    return moment !== null && payload.moments[moment].text === "";
  }

  /** The best passages, to look at by a click and to link by their keys. */
  private showOthers(): void {
    const { app } = this;
    const buttons = app.alternatives.map(([sentence, score], k) => {
      const text = app.book.sentences[sentence];
      const title = `${app.book.chapterTitleOf(sentence)}: ${text}\nClick to show it; ${k + 1} links it.`;
      const isNow = app.link?.sentence === sentence;
      return element(
        "button",
        { type: "button", class: "other", title, "aria-pressed": String(isNow), click: () => this.showSentence(sentence) },
        element("kbd", {}, String(k + 1)),
        element("span", { class: "other-score" }, percent(score)),
        element("span", { class: "other-text", dir: "auto" }, text),
      );
    });
    this.others.replaceChildren(...buttons);
  }

  private sureText(isHidden: boolean): string {
    const { app } = this;
    if (app.linking !== null) return `Click the sentence for ${app.when(app.payload.moments[app.linking].start_s)}`;
    if (app.moment === null) return "";
    if (isHidden) return "“Seen to” in the bar shows it";
    const judgement = app.judged.get(app.moment);
    const link = app.links[app.moment];
    if (judgement) {
      const said = judgementWords(judgement);
      const more = said && ` (${said})`;
      if (judgement.verdict === "none") return `You said so${more}`;
      const first = app.linkAsFound(app.moment);
      if (first === null) return `You found it in the book${more}`; // a saved page does not know where it was
      const isConfirmed = first.in_book && link.sentence === first.sentence;
      return (isConfirmed ? "You confirmed it" : "You linked it here") + more;
    }
    if (!app.link) return "";
    const silent = this.isSilent ? "; nobody speaks" : "";
    return `${sureness(link.score)}: ${certainty(link.score)}${silent}`;
  }
}
