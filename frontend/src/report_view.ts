// The fidelity report as a dialog: two small charts, and each bar of them as a row to go to.

import type { App } from "./app.ts";
import { element, iconButton, svg } from "./dom.ts";
import { type Estimate, estimateShare, shareText } from "./estimates.ts";
import { chapterUse, lineChances, paragraphChances, sceneUse } from "./fidelity.ts";
import { counted, percent } from "./words.ts";

interface Bar {
  label: string;
  /** Length in the chart. */
  size: number;
  /** Null where it is still hidden, or nobody speaks. */
  share: Estimate | null;
  isHidden: boolean;
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
      const height = bar.share.value * CHART.height;
      picture.append(svg("rect", { class: "value", x, y: CHART.height - height, width: inner, height }));
    }
    x += width;
  }
  return picture;
}

/** A chart in words; every bar of it stands in the list. */
function summary(bars: Bar[]): string {
  const seen = bars.flatMap(({ label, share }) => (share ? [{ label, share: share.value }] : [])).sort((a, b) => a.share - b.share);
  const words = ({ label, share }: { label: string; share: number }) => `${percent(share)} (${label})`;
  const range = seen.length > 1 ? `, from ${words(seen[0])} to ${words(seen[seen.length - 1])}` : "";
  return `${counted(bars.length, "part", "parts")}${range}; each is listed below`;
}

function row(bar: Bar, close: () => void): HTMLElement {
  const share = bar.isHidden ? "hidden" : shareText(bar.share);
  const line = svg("svg", { class: "row-bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" });
  line.append(svg("rect", { class: "ground", width: 100, height: 8 }));
  if (bar.share !== null) line.append(svg("rect", { class: "value", width: bar.share.value * 100, height: 8 }));
  const button = element(
    "button",
    { type: "button", class: "row", disabled: bar.isHidden },
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
        `${used}. Of a chapter: the share of its words in such paragraphs.`,
        chapters,
        "chapters",
      ),
      part(
        "Scenes of the film",
        `${kept}. Of a scene: the share of its lines. Scenes are cut at the longest pauses in speech.`,
        scenes,
        "scenes",
      ),
      element(
        "p",
        {},
        "The shares are expectations: the probability of a link says that the line has a counterpart in the book within three paragraphs of it. In brackets: 95 % intervals. “folioreel report” says more.",
      ),
    );
    this.dialog.showModal();
  }

  private chapterBars(): [Bar[], string] {
    const { app } = this;
    const { book, told } = app;
    const isShown = (paragraph: number) => told === null || told.subarray(...book.sentencesOf(paragraph)).includes(1);
    const chances = paragraphChances(book, { links: app.links, judged: app.judged });
    const bars = chapterUse(book, chances, isShown).map((use): Bar => {
      const shown = [...chances.keys()].slice(use.first, use.end).find(isShown);
      return {
        label: shown === undefined ? "Not seen yet" : book.chapterTitle(use.chapter),
        size: use.end - use.first,
        share: use.share,
        isHidden: shown === undefined,
        act: () => shown !== undefined && this.showSentence(told?.indexOf(1, book.paragraphs[shown]) ?? book.paragraphs[shown]),
      };
    });
    const share = estimateShare(chances.filter((_, p) => isShown(p)));
    return [bars, `${shareText(share)} of the book’s words${told === null ? "" : " seen so far"} are in paragraphs that the film renders`];
  }

  private sceneBars(): [Bar[], string] {
    const { app } = this;
    const { moments, film } = app.payload;
    const found = { links: app.links, judged: app.judged };
    const bars = sceneUse(moments, found, film.duration_s, app.seenLimit_s).map((scene): Bar => ({
      label: `${app.when(scene.start_s)} – ${app.when(scene.end_s)}`,
      size: scene.end_s - scene.start_s,
      share: scene.share,
      isHidden: scene.seen === 0,
      act: () => app.goTo(scene.first),
    }));
    const seen = moments.filter((moment) => moment.start_s <= app.seenLimit_s).length;
    const share = estimateShare(lineChances(moments, found, 0, seen));
    if (share === null) return [bars, "Nobody speaks, and shares are shares of spoken lines"];
    return [bars, `${shareText(share)} of the film’s lines${app.kept.hidesSpoilers ? " seen so far" : ""} are in the book`];
  }
}
