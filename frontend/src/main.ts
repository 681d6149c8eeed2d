// Puts the page together; where its data is broken, says so in plain words.

import { App } from "./app.ts";
import { BookView } from "./book_view.ts";
import { Contents } from "./contents.ts";
import { element } from "./dom.ts";
import { LinkDrag } from "./drag_link.ts";
import { Header } from "./header.ts";
import { bindKeys, type KeyGroup, makeHelp } from "./keys.ts";
import { NamesView } from "./names_view.ts";
import { NowCard } from "./now_card.ts";
import { PayloadError, readPayload } from "./payload.ts";
import { ReportView } from "./report_view.ts";
import { SearchView } from "./search_view.ts";
import { ShareDialog } from "./share.ts";
import { SpanView } from "./span_view.ts";
import { Stage } from "./stage.ts";
import { Strip } from "./strip.ts";
import { Timeline } from "./timeline.ts";
import { Transcript } from "./transcript.ts";

const NOTICE_MS = 4000;
const NOTICE_MS_A_LETTER = 50;

function keyGroups(app: App, parts: { book: BookView; stage: Stage; strip: Strip; header: Header; search: SearchView; report: ReportView; share: ShareDialog; contents: Contents; help: () => void }): KeyGroup[] {
  const { book, stage, strip, header, search, report, share, contents } = parts;
  const later = (step_s: number) => () => app.seek(app.time_s + step_s);
  const playPicked = () => {
    const sentence = app.picked ?? app.link?.sentence;
    if (sentence !== undefined) app.playSentence(sentence);
  };
  return [
    {
      name: "Film",
      keys: [
        { keys: [" "], shown: "Space", does: "play or pause", act: () => app.togglePlay() },
        { keys: ["arrowleft"], shown: "←", does: "five seconds back", act: later(-5) },
        { keys: ["arrowright"], shown: "→", does: "five seconds on", act: later(5) },
        { keys: [","], shown: ",", does: "previous moment", act: () => app.step(-1) },
        { keys: ["."], shown: ".", does: "next moment", act: () => app.step(1) },
        { keys: ["b"], shown: "B", does: "previous moment that is in the book", act: () => app.stepInBook(-1) },
        { keys: ["n"], shown: "N", does: "next moment that is in the book", act: () => app.stepInBook(1) },
        { keys: ["<"], shown: "<", does: "slower", act: () => app.setRate(app.player.rate - 0.25) },
        { keys: [">"], shown: ">", does: "faster", act: () => app.setRate(app.player.rate + 0.25) },
        { keys: ["m"], shown: "M", does: "sound off or on", act: () => stage.toggleMute() },
        { keys: ["f"], shown: "F", does: "full screen", act: () => stage.toggleFull() },
        { keys: ["p"], shown: "P", does: "full screen: show or hide the passage", act: () => stage.overlay.togglePassage() },
        { keys: ["e"], shown: "E", does: "share this moment", act: () => void share.open() },
      ],
    },
    {
      name: "Book",
      keys: [
        { keys: ["j"], shown: "J", does: "pick the next sentence", act: () => book.pickNext(1) },
        { keys: ["k"], shown: "K", does: "pick the sentence before", act: () => book.pickNext(-1) },
        { keys: ["enter"], shown: "Enter", does: "film to the picked sentence", act: playPicked },
        { keys: ["g"], shown: "G", does: "back to the film’s place", act: () => book.comeBack() },
        { keys: ["c"], shown: "C", does: "chapters", act: () => contents.open() },
        { keys: ["/"], shown: "/", does: "search book and film", act: () => search.input.select() },
        { keys: ["escape"], shown: "Esc", does: "let go of the picked sentence", act: () => app.letGo() },
      ],
    },
    {
      name: "Correct",
      isCorrecting: true,
      keys: [
        { keys: ["y"], shown: "Y", does: "this link, or this guess, is right", act: () => void app.confirm() },
        { keys: ["x"], shown: "X", does: "not in the book", act: () => void app.reject() },
        { keys: ["1"], shown: "1", does: "link to the best passage", act: () => void app.choose(0) },
        { keys: ["2"], shown: "2", does: "link to the second best", act: () => void app.choose(1) },
        { keys: ["3"], shown: "3", does: "link to the third best", act: () => void app.choose(2) },
        { keys: ["l"], shown: "L", does: "link here: to the picked sentence", act: () => app.linkHere() },
        { keys: [], shown: "Shift+←→", does: "select several moments (or Shift-click in the strip)", act: () => undefined },
        { keys: [], shown: "Shift+↑↓", does: "select several sentences (or Shift-click)", act: () => undefined },
        { keys: ["u"], shown: "U", does: "undo (also Ctrl Z)", act: () => void app.undo() },
      ],
    },
    {
      name: "Page",
      keys: [
        { keys: ["v"], shown: "V", does: "reading, or all tools", act: () => app.display.setReading(!app.display.isReading) },
        { keys: ["["], shown: "[", does: "show less sure links; below 50 %, guesses", act: () => app.setThreshold(app.kept.threshold - 0.05) },
        { keys: ["]"], shown: "]", does: "show only surer links", act: () => app.setThreshold(app.kept.threshold + 0.05) },
        { keys: ["s"], shown: "S", does: "no spoilers, on or off", act: () => app.setSpoilers(!app.kept.hidesSpoilers) },
        { keys: ["h"], shown: "H", does: "no spoilers: seen up to here", act: () => app.kept.hidesSpoilers && app.setSeenHere() },
        { keys: ["+", "="], shown: "+", does: "zoom into the strip", act: () => strip.zoom(1 / 1.5) },
        { keys: ["-"], shown: "−", does: "zoom out", act: () => strip.zoom(1.5) },
        { keys: ["0"], shown: "0", does: "whole strip", act: () => strip.showAll() },
        { keys: ["r"], shown: "R", does: "fidelity report", act: () => report.open() },
        { keys: ["t"], shown: "T", does: "colours: system, light, dark", act: () => header.nextTheme() },
        { keys: ["?"], shown: "?", does: "these keys", act: parts.help },
      ],
    },
  ];
}

/** A line at the foot of the page, read aloud by screen readers; it goes by itself, by a click or by Escape. */
function makeNotice(app: App): HTMLElement {
  const text = element("p", { class: "notice", role: "status", "aria-live": "polite" });
  let timer = 0;
  const hide = () => text.classList.remove("on");
  app.on("notice", () => {
    text.textContent = app.notice;
    text.classList.add("on");
    clearTimeout(timer);
    timer = window.setTimeout(hide, Math.max(NOTICE_MS, app.notice.length * NOTICE_MS_A_LETTER));
  });
  text.addEventListener("click", hide);
  addEventListener("keydown", (event) => event.key === "Escape" && hide());
  return text;
}

function build(app: App): void {
  const book = new BookView(app);
  const showSentence = (sentence: number) => book.pickAt(sentence);
  const stage: Stage = new Stage(app, () => void share.open());
  const share = new ShareDialog(app, () => stage.frame());
  const contents = new Contents(app, book);
  const transcript = new Transcript(app);
  const now = new NowCard(app, showSentence);
  const timeline = new Timeline(app);
  const strip = new Strip(app, { dragLink: (event) => drag.start(event), showSentence });
  const drag = new LinkDrag(app, book, (x, y) => strip.sentenceAt(x, y));
  const search = new SearchView(app, showSentence);
  const names = new NamesView(app, (words) => search.find(words));
  const report = new ReportView(app, showSentence);
  const span = new SpanView(app, {
    strip: strip.root.querySelector<HTMLElement>(".strip-board")!,
    timeline: timeline.root,
    book: book.scroller,
    sentenceAt: (x, y) => strip.sentenceAt(x, y),
    show: (sentence) => book.keepInView(sentence),
  });
  const openHelp = () => help.showModal();
  const header = new Header(app, search.root, () => report.open(), openHelp);
  const groups = keyGroups(app, { book, stage, strip, header, search, report, share, contents, help: openHelp });
  const help = makeHelp(app, groups);
  bindKeys(app, groups);
  const film = element(
    "div",
    { class: "film" },
    stage.root, now.root, span.root, timeline.root, strip.root, transcript.root,
  );
  book.root.prepend(contents.bar);
  book.root.append(names.root);
  const warnings = (app.payload.warnings ?? []).map((text) => element("p", { class: "warning" }, `Warning: ${text}`));
  const top = warnings.length ? element("div", {}, header.root, element("aside", { "aria-label": "Warnings" }, ...warnings)) : header.root;
  document.body.append(top, element("main", {}, film, book.root), report.dialog, contents.dialog, share.dialog, help, makeNotice(app));
  document.title = `${app.book.title || app.payload.film.title} – folioreel`;
  book.start();
  drag.place();
}

function showProblem(message: string): void {
  document.body.append(
    element(
      "main",
      { class: "problem", role: "alert" },
      element("h1", {}, "This page cannot be shown"),
      element("p", {}, `Something is wrong with its alignment: ${message}.`),
      element("p", {}, "Make it again: “folioreel align BOOK FILM --out DIR --force”, then open DIR/page.html, or run “folioreel view DIR/alignment.json”."),
    ),
  );
}

try {
  build(new App(readPayload(document.getElementById("payload")?.textContent)));
} catch (error) {
  if (error instanceof PayloadError) showProblem(error.message);
  else {
    showProblem(error instanceof Error ? error.message : String(error));
    throw error;
  }
}
