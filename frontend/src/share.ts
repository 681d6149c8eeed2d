// A moment to show to others: a link that opens there, and a card with the frame and the passage as a picture.

import type { App } from "./app.ts";
import { element, iconButton } from "./dom.ts";
import { saveBlob } from "./judgement_file.ts";
import { joinSentences } from "./typesetting.ts";

const WIDTH_PX = 1080;
const MARGIN_PX = 64;
const TEXT = { size_px: 38, line_px: 56 };
const SMALL = { size_px: 26, line_px: 38 };
/** Letters of a passage on a card. */
const PASSAGE = 420;

/** The address of the page at a time of the film. */
export function linkTo(address: string, time_s: number): string {
  return `${address.split("#")[0]}#t=${Math.round(time_s * 10) / 10}`;
}

/** What to give to others: where `folioreel view` serves the page, its address (with its secret) is of use on this computer alone. */
export function linkToShare(address: string, time_s: number, isServed: boolean): string {
  return linkTo(isServed ? "page.html" : address, time_s);
}

/** Where a shared link works; empty where it does anywhere. */
export function shareHint(address: string, isServed: boolean): string {
  if (isServed) return "Give it to others with the file page.html, which lies beside alignment.json. The address of this window works on this computer only, while folioreel view runs.";
  if (!address.startsWith("file:")) return "";
  return "This address works on this computer. Others open their own copy of the file, with the end of the address from # on.";
}

/** The time that an address asks for, in seconds or as 1:02:03; null where it asks for none. */
export function timeIn(hash: string): number | null {
  const found = /^#t=((?:\d+:){0,2}\d+(?:\.\d+)?)$/.exec(hash);
  return found ? found[1].split(":").reduce((total, part) => total * 60 + Number(part), 0) : null;
}

/** Text in lines no wider than a width. */
export function wrap(text: string, width_px: number, measure: (text: string) => number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    const longer = line ? `${line} ${word}` : word;
    if (line && measure(longer) > width_px) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return line ? [...lines, line] : lines;
}

export class ShareDialog {
  readonly dialog = element("dialog", { class: "sheet-dialog share", "aria-labelledby": "share-title" });

  constructor(
    private readonly app: App,
    private readonly frame: () => Promise<CanvasImageSource | null>,
  ) {
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
  }

  async open(): Promise<void> {
    const { app } = this;
    app.player.pause();
    const { time_s } = app;
    const isServed = app.payload.server !== null;
    const address = linkToShare(location.href, time_s, isServed);
    const hint = shareHint(location.href, isServed);
    const link = element("input", { type: "text", readonly: true, value: address, "aria-label": "Link to this moment" });
    const canvas = element("canvas", { class: "share-card", role: "img", "aria-label": this.description() });
    const name = `${app.book.title || "folioreel"} ${app.when(time_s)}`.replace(/[^\p{L}\p{N}]+/gu, "-");
    const save = element("button", { type: "button", class: "share-button", click: () => this.save(canvas, `${name}.png`) }, "Save the picture");
    const copy = element("button", { type: "button", class: "share-button", click: () => void this.copy(link) }, "Copy the link");
    const head = element("header", {}, element("h2", { id: "share-title" }, `This moment, ${app.when(time_s)}`), iconButton("cross", "Close", () => this.dialog.close()));
    const acts = element("div", { class: "share-acts" }, save, copy, link, hint ? element("p", { class: "share-hint" }, hint) : null);
    this.dialog.replaceChildren(head, canvas, acts);
    this.draw(canvas, await this.frame());
    this.dialog.showModal();
  }

  /** The passage around the current link, as far as it fits; empty where there is none. */
  private passage(): string {
    const { app } = this;
    const sentence = app.link?.sentence ?? app.lit?.sentence;
    if (sentence === undefined) return "";
    const { sentences } = app.book;
    const [first, end] = app.book.sentencesOf(app.book.paragraphOf(sentence));
    let [from, to] = [sentence, sentence + 1];
    const length = (a: number, b: number) => joinSentences(sentences.slice(a, b)).length;
    while (to < end && app.isTold(to) && length(from, to + 1) <= PASSAGE) to += 1;
    while (from > first && app.isTold(from - 1) && length(from - 1, to) <= PASSAGE) from -= 1;
    return joinSentences(sentences.slice(from, to));
  }

  private place(): string {
    const { app } = this;
    const sentence = app.link?.sentence ?? app.lit?.sentence;
    const chapter = sentence === undefined ? "" : app.book.chapterTitleOf(sentence);
    return [app.book.title, chapter, `film at ${app.when(app.time_s)}`].filter(Boolean).join(" · ");
  }

  private description(): string {
    return [`Card: ${this.place()}`, this.passage()].filter(Boolean).join(". ");
  }

  private draw(canvas: HTMLCanvasElement, frame: CanvasImageSource | null): void {
    const context = canvas.getContext("2d")!;
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
    const serif = colour("serif");
    const inner_px = WIDTH_PX - 2 * MARGIN_PX;
    const fonts = { text: `${TEXT.size_px}px ${serif}`, small: `${SMALL.size_px}px system-ui, sans-serif` };
    const lines = (text: string, font: string) => {
      context.font = font;
      return wrap(text, inner_px, (part) => context.measureText(part).width);
    };
    const { moment, payload } = this.app;
    const passage = lines(this.passage() || (moment === null ? "" : payload.moments[moment].text), fonts.text);
    const place = lines(this.place(), fonts.small);
    const frame_px = frame ? Math.round((WIDTH_PX * heightOf(frame)) / widthOf(frame)) : 0;
    canvas.width = WIDTH_PX;
    canvas.height = frame_px + MARGIN_PX * 2 + passage.length * TEXT.line_px + (place.length + 0.5) * SMALL.line_px;
    context.fillStyle = colour("page");
    context.fillRect(0, 0, canvas.width, canvas.height);
    if (frame) context.drawImage(frame, 0, 0, WIDTH_PX, frame_px);
    const shown = document.querySelector(".sentence");
    const isRightToLeft = shown !== null && getComputedStyle(shown).direction === "rtl";
    let y = frame_px + MARGIN_PX;
    const write = (texts: string[], font: string, ink: string, line_px: number) => {
      [context.font, context.fillStyle, context.textBaseline] = [font, ink, "top"];
      context.textAlign = isRightToLeft ? "right" : "left";
      for (const text of texts) {
        context.fillText(text, isRightToLeft ? WIDTH_PX - MARGIN_PX : MARGIN_PX, y);
        y += line_px;
      }
    };
    write(passage, fonts.text, colour("ink"), TEXT.line_px);
    y += SMALL.line_px / 2;
    write(place, fonts.small, colour("soft"), SMALL.line_px);
  }

  private save(canvas: HTMLCanvasElement, name: string): void {
    canvas.toBlob((blob) => {
      if (blob) saveBlob(blob, name);
      else this.app.say("The browser could not make the picture.");
    }, "image/png");
  }

  private async copy(link: HTMLInputElement): Promise<void> {
    try {
      await navigator.clipboard.writeText(link.value);
      this.app.say("Copied.");
    } catch {
      // Where the browser keeps its clipboard to itself, the reader can still copy.
      link.select();
      this.app.say("Press Ctrl C to copy the link.");
    }
  }
}

function widthOf(frame: CanvasImageSource): number {
  return frame instanceof HTMLVideoElement ? frame.videoWidth : (frame as HTMLImageElement).naturalWidth;
}

function heightOf(frame: CanvasImageSource): number {
  return frame instanceof HTMLVideoElement ? frame.videoHeight : (frame as HTMLImageElement).naturalHeight;
}
