// The fidelity report as a dialog: two small charts, and each bar of them as a row to go to.

import type { App } from "./app.ts";
import { element, iconButton, svg } from "./dom.ts";
import { chapterUse, meanShare, sceneUse } from "./fidelity.ts";
import { counted, percent } from "./words.ts";

interface Bar {
  label: string;
  /** Length in the chart. */
  size: number;
  /** Null where it is still hidden. */
  share: number | null;
  act: () => void;
}

const CHART = { width: 640, height: 88 };

/** Columns side by side, as wide as the part is long and as high as its share. */
function chart(bars: Bar[], name: string, className: string): SVGSVGElement {
  const total = bars.reduce((sum, bar) => sum + bar.size, 0) || 1;
  const picture = svg("svg", {
    class: `chart ${className}`,
    viewBox: `0 0 ${CHART.width} ${CHART.height}`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": name,
  });
  let x = 0;
  for (const bar of bars) {
    const width = (bar.size / total) * CHART.width;
    const inner = Math.max(0.5, width - 2);
    picture.append(svg("rect", { class: "ground", x, y: 0, width: inner, height: CHART.height }));
    if (bar.share !== null) {
      const height = bar.share * CHART.height;
      picture.append(svg("rect", { class: "value", x, y: CHART.height - height, width: inner, height }));
    }
    x += width;
  }
  return picture;
}

/** A chart in words; every bar of it stands in the list. */
function summary(bars: Bar[]): string {
  const seen = bars.flatMap(({ label, share }) => (share === null ? [] : [{ label, share }])).sort((a, b) => a.share - b.share);
  const words = ({ label, share }: { label: string; share: number }) => `${percent(share)} (${label})`;
  const range = seen.length > 1 ? `, from ${words(seen[0])} to ${words(seen[seen.length - 1])}` : "";
  return `${counted(bars.length, "part", "parts")}${range}; each is listed below`;
}

function row(bar: Bar, close: () => void): HTMLElement {
  const share = bar.share === null ? "hidden" : percent(bar.share);
  const line = svg("svg", { class: "row-bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" });
  line.append(svg("rect", { class: "ground", width: 100, height: 8 }));
  if (bar.share !== null) line.append(svg("rect", { class: "value", width: bar.share * 100, height: 8 }));
  const button = element(
    "button",
    { type: "button", class: "row", disabled: bar.share === null },
    element("span", { class: "row-label" }, bar.label),
    line,
    element("span", { class: "row-share" }, share),
  );
  button.addEventListener("click", () => {
    close();
    bar.act();
  });
  return element("li", {}, button);
}

export class ReportView {
  readonly dialog = element("dialog", { class: "sheet-dialog report", "aria-labelledby": "report-title" });

  constructor(
    private readonly app: App,
    private readonly showSentence: (sentence: number) => void,
  ) {
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
  }

  open(): void {
    const close = () => this.dialog.close();
    const [chapters, used] = this.chapterBars();
    const [scenes, kept] = this.sceneBars();
    const head = element(
      "header",
      {},
      element("h2", { id: "report-title" }, "Fidelity"),
      iconButton("cross", "Close", close),
    );
    const part = (title: string, note: string, bars: Bar[], className: string) =>
      element(
        "section",
        { class: className },
        element("h3", {}, title),
        element("p", {}, note),
        chart(bars, `${title}: ${summary(bars)}`, className),
        element("ol", {}, ...bars.map((bar) => row(bar, close))),
      );
    this.dialog.replaceChildren(
      head,
      part(
        "Chapters of the book",
        `${used}. A chapter’s share: of its paragraphs, those that some moment is linked to.`,
        chapters,
        "chapters",
      ),
      part(
        "Scenes of the film",
        `${kept}. A scene’s share: of its moments, those in the book. Scenes are cut at the longest pauses in speech.`,
        scenes,
        "scenes",
      ),
    );
    this.dialog.showModal();
  }

  private chapterBars(): [Bar[], string] {
    const { app } = this;
    const { book } = app;
    const uses = chapterUse(book, app.links.filter((_, i) => app.shownLink(i)), app.kept.threshold, app.veil);
    const bars = uses.map((use): Bar => {
      const isSeen = use.seen > 0;
      return {
        label: isSeen ? book.chapterTitle(use.chapter) : "Not seen yet",
        size: use.end - use.first,
        share: isSeen ? use.share : null,
        act: () => this.showSentence(book.paragraphs[use.first]),
      };
    });
    const mean = meanShare(uses);
    return [bars, `The film uses ${percent(mean)} of the book’s paragraphs${app.veil === Infinity ? "" : " seen so far"}`];
  }

  private sceneBars(): [Bar[], string] {
    const { app } = this;
    const { moments, film } = app.payload;
    const { threshold, hidesSpoilers } = app.kept;
    const scenes = sceneUse(moments, app.links, film.duration_s, threshold, app.seenLimit_s);
    const bars = scenes.map((scene): Bar => ({
      label: `${app.when(scene.start_s)} – ${app.when(scene.end_s)}`,
      size: scene.end_s - scene.start_s,
      share: scene.seen > 0 ? scene.share : null,
      act: () => app.goTo(scene.first),
    }));
    const mean = meanShare(scenes);
    return [bars, `${percent(mean)} of the film’s moments${hidesSpoilers ? " seen so far" : ""} are in the book`];
  }
}
