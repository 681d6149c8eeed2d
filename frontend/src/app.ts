// The state of the page and everything that can be done to it; the views listen.

import { Book } from "./book.ts";
import { Corrections, type Outcome } from "./corrections.ts";
import { Display } from "./display.ts";
import { Emitter } from "./emitter.ts";
import { isShown, momentAt, momentsOfSentences, nextInBook } from "./follow.ts";
import { type Kept, readKept, writeItem } from "./memory.ts";
import { clamp } from "./order.ts";
import { findOutliers } from "./outliers.ts";
import { filesOf, when } from "./parts.ts";
import type { FilmPart, Judgement, PageLink, Payload } from "./payload.ts";
import { ClockPlayer, type Player } from "./player.ts";
import { Axis } from "./scale.ts";
import { timeIn } from "./share.ts";
import { allOf, confirmEach, makeJudgement, momentsOf as momentsIn, Selection, type Span } from "./spans.ts";
import { toldSentences } from "./spoilers.ts";
import { ThemeSwitch } from "./theme.ts";
import { counted } from "./words.ts";

export type Topic =
  | "time" | "moment" | "lit" | "player" | "links" | "veil" | "picked" | "follow" | "theme" | "display" | "axes" | "notice";

const SAVE_MS = 1000;
const PATIENCE_MS = 400;
/** Who skips no more than this still watches. */
const SKIP_S = 10;
/** A passage with a smaller probability is no alternative. */
const LEAST = 0.005;
/** A passage stays lit through a pause, a cut, an added word: without this it would flicker. */
const LINGER_S = 8;

export class App extends Emitter<Topic> {
  readonly book: Book;
  /** The film's parts; one, where it is a single file. */
  readonly files: FilmPart[];
  readonly kept: Kept;
  readonly corrections: Corrections;
  readonly colours = new ThemeSwitch(() => this.emit("theme"));
  readonly display = new Display(() => this.emit("display"));
  readonly filmAxis: Axis;
  readonly bookAxis: Axis;
  player: Player;
  moment: number | null = null;
  /** The passage that is lit, and until when it stays so if no other follows. */
  lit: { sentence: number; until_s: number } | null = null;
  /** The sentence that the reader chose to act on. */
  picked: number | null = null;
  /** What the reader has selected to judge at once. */
  readonly selection = new Selection();
  /** The moment for which the reader is asked to click the right sentence. */
  linking: number | null = null;
  isFollowing: boolean;
  /** Which sentences the film has told so far; null where all of the book is shown. */
  told: Uint8Array | null = null;
  notice = "";
  momentsOf: Map<number, number[]> = new Map();
  /** The links as the alignment found them, of moments that had been judged when the page was made; those that are known. */
  private readonly found: Map<number, PageLink>;
  private readonly judgedBefore: Set<number>;
  private outliers: Int8Array = new Int8Array();
  private readonly key: string;
  private frame = 0;
  private saveTimer = 0;
  /** Whether the reader leapt beyond what has been seen: playing there lifts nothing. */
  private isAhead = false;
  private seenMoment: number | null | undefined = undefined;

  constructor(readonly payload: Payload) {
    super();
    this.book = new Book(payload.book);
    const { book, film } = payload;
    this.files = filesOf(film);
    this.key = `folioreel:${payload.id}`;
    this.kept = readKept(this.key);
    // A link to a moment shows its passage, wherever the reader was before.
    if (timeIn(location.hash) !== null) this.kept.awayAt = null;
    this.isFollowing = this.kept.awayAt === null;
    this.corrections = new Corrections(payload, `${this.key}:judgements`);
    this.found = new Map(payload.found ?? []);
    this.judgedBefore = new Set(payload.judgements.flatMap(momentsIn));
    this.filmAxis = new Axis(Math.max(1, film.duration_s), 20);
    this.bookAxis = new Axis(book.sentences.length, 20);
    this.player = new ClockPlayer(film.duration_s, () => this.playerChanged());
    // Read before the player reports its own start.
    const { rate } = this.kept;
    const time_s = clamp(timeIn(location.hash) ?? this.kept.time_s, 0, film.duration_s);
    this.player.rate = rate;
    this.player.seek(time_s);
    this.isAhead = time_s > this.kept.seen_s + SKIP_S;
    this.drawVeil(true);
    // While reading, what was selected can no longer be seen.
    this.on("display", () => this.canCorrect || this.letGo());
    addEventListener("pagehide", () => this.save());
    addEventListener("hashchange", () => this.seek(timeIn(location.hash) ?? this.time_s));
  }

  /** Says something to the reader, on screen and to screen readers. */
  say(text: string): void {
    this.notice = text;
    this.emit("notice");
  }

  // ---- the film

  /** A time of the film as the reader finds it, with the part's name where there are several. */
  when(time_s: number): string {
    return when(this.payload.film, time_s);
  }

  get time_s(): number {
    return this.player.time_s;
  }

  /** The current moment's link, if it is shown and not hidden. */
  get link(): PageLink | null {
    return this.moment === null ? null : this.shownLink(this.moment);
  }

  /**
   * Where the film is in the book: the current link's sentence, or else that of the last one before; null before the first.
   * A link that stands alone far away is no place to stay at, nor to leap to and back while the film plays.
   */
  get place(): number | null {
    const { link, player } = this;
    if (link && !player.isPlaying) return link.sentence;
    for (let i = this.moment ?? -1; i >= 0; i--) {
      const before = this.outliers[i] === 0 ? this.shownLink(i) : null;
      if (before) return before.sentence;
    }
    return null;
  }

  /** A moment's link, if it is shown: sure enough, and nothing of it is still to be seen. */
  shownLink(moment: number): PageLink | null {
    const link = this.links[moment];
    const isOpen = !this.isHidden(moment) && this.isTold(link.sentence);
    return isOpen && isShown(link, this.kept.threshold) ? link : null;
  }

  /** Whether a moment is still to be seen. */
  isHidden(moment: number): boolean {
    return this.payload.moments[moment].start_s > this.seenLimit_s;
  }

  /** Whether a sentence of the book may be shown. */
  isTold(sentence: number): boolean {
    return this.told === null || this.told[sentence] === 1;
  }

  /** How far the film may be shown. */
  get seenLimit_s(): number {
    return this.kept.hidesSpoilers ? this.kept.seen_s : Infinity;
  }

  /** Puts another player in the place of the present one, at the same time. */
  setPlayer(player: Player): void {
    const { time_s, rate, isPlaying } = this.player;
    this.player.pause();
    this.player = player;
    player.rate = rate;
    player.seek(time_s);
    if (isPlaying) player.play();
    this.playerChanged();
  }

  togglePlay(): void {
    if (this.player.isPlaying) this.player.pause();
    else this.player.play();
  }

  setRate(rate: number): void {
    this.player.rate = clamp(rate, 0.25, 4);
    this.kept.rate = this.player.rate;
    this.playerChanged();
  }

  /** The film to a time, by the reader's will: what was picked belonged to where it was. */
  seek(time_s: number): void {
    this.letGo();
    this.isAhead = time_s > this.kept.seen_s + SKIP_S;
    const wasLit = this.lit !== null;
    this.lit = null;
    this.player.seek(clamp(time_s, 0, this.payload.film.duration_s));
    this.playerChanged();
    if (wasLit && this.lit === null) this.emit("lit");
  }

  /** The film to the start of a moment; the book follows again. */
  goTo(moment: number): void {
    this.setFollowing(true);
    // Players round times: a little later is surely within the moment.
    const { start_s, end_s } = this.payload.moments[moment];
    this.seek(Math.min(start_s + 0.02, (start_s + end_s) / 2));
  }

  step(step: 1 | -1): void {
    const next = this.moment === null ? 0 : this.moment + step;
    if (this.payload.moments[next]) this.goTo(next);
  }

  stepInBook(step: 1 | -1): void {
    const next = nextInBook(this.links, this.moment, step, this.kept.threshold);
    if (next === null) this.say(`No ${step === 1 ? "later" : "earlier"} moment is in the book.`);
    else if (this.payload.moments[next].start_s > this.seenLimit_s) this.say("The next moment in the book is still hidden.");
    else this.goTo(next);
  }

  /** To be called by a player when it starts, stops or moves. */
  playerChanged(): void {
    this.tick();
    this.emit("player");
    cancelAnimationFrame(this.frame);
    if (this.player.isPlaying) this.frame = requestAnimationFrame(this.run);
  }

  private readonly run = (): void => {
    this.tick();
    if (this.player.isPlaying) this.frame = requestAnimationFrame(this.run);
    else this.emit("player");
  };

  private tick(): void {
    const { time_s, isPlaying } = this.player;
    this.kept.time_s = time_s;
    if (isPlaying && !this.isAhead && time_s > this.kept.seen_s) this.kept.seen_s = time_s;
    const moment = momentAt(this.payload.moments, time_s);
    const isNew = moment !== this.moment;
    this.moment = moment;
    this.drawVeil();
    this.light();
    this.emit("time");
    if (isNew) this.emit("moment");
    this.saveSoon();
  }

  /** Lights the current passage; without one, the last stays lit for a little while. */
  private light(): void {
    const { link, lit, moment, time_s } = this;
    if (link && moment !== null) this.lit = { sentence: link.sentence, until_s: this.payload.moments[moment].end_s + LINGER_S };
    else if (lit && (time_s > lit.until_s || !this.isTold(lit.sentence))) this.lit = null;
    if (this.lit?.sentence !== lit?.sentence) this.emit("lit");
  }

  // ---- the book

  setFollowing(isFollowing: boolean): void {
    if (this.isFollowing === isFollowing) return;
    this.isFollowing = isFollowing;
    if (isFollowing) this.kept.awayAt = null;
    this.emit("follow");
    this.saveSoon();
  }

  pick(sentence: number | null): void {
    this.picked = sentence;
    this.selection.sentences.set(null);
    this.emit("picked");
  }

  /** Neither picks, selects nor links any longer. */
  letGo(): void {
    if (this.picked === null && this.linking === null && !this.selection.isActive) return;
    this.linking = null;
    this.selection.clear();
    this.pick(null);
  }

  /** The film to the sentence's moment: the next of them, where it has several. */
  playSentence(sentence: number): void {
    const moments = this.momentsOf.get(sentence);
    if (!moments) return this.say("This sentence has no link.");
    const after = moments.find((moment) => this.moment !== null && moment > this.moment);
    const isHere = this.moment !== null && moments.includes(this.moment);
    return this.goTo(isHere && after !== undefined ? after : moments[0]);
  }

  setThreshold(threshold: number): void {
    this.kept.threshold = clamp(Math.round(threshold * 100) / 100, 0, 1);
    this.drawVeil(true);
  }

  // ---- spoilers

  setSpoilers(hides: boolean): void {
    this.kept.hidesSpoilers = hides;
    if (hides) {
      this.kept.seen_s = Math.max(this.kept.seen_s, this.time_s);
      this.isAhead = false;
    }
    this.drawVeil(true);
    this.say(hides ? `The book is hidden beyond ${this.when(this.kept.seen_s)} of the film.` : "The whole book is shown.");
  }

  /** Counts everything up to now as seen, and nothing else. */
  setSeenHere(): void {
    this.kept.seen_s = this.time_s;
    this.isAhead = false;
    this.drawVeil(true);
    this.say(`Seen up to ${this.when(this.time_s)}.`);
  }

  /** Draws the line between seen and unseen anew, where a moment more (or another link) asks for it. */
  private drawVeil(isForced = false): void {
    const { moments } = this.payload;
    const seen = this.kept.hidesSpoilers ? momentAt(moments, this.kept.seen_s) : undefined;
    if (!isForced && seen === this.seenMoment) return;
    this.seenMoment = seen;
    const before = this.told;
    const { seen_s, threshold } = this.kept;
    if (isForced) this.outliers = findOutliers(moments, this.links, this.book.sentences.length, threshold);
    const { links, outliers } = this;
    this.told = seen === undefined ? null : toldSentences(this.book, { moments, links, outliers }, seen_s, threshold);
    this.momentsOf = momentsOfSentences(this.links.map((_, i) => this.shownLink(i)));
    if (!isSame(before, this.told)) this.emit("veil");
    // What is no longer shown goes dark at once.
    if (isForced) this.lit = null;
    this.light();
    this.emit("links");
    this.saveSoon();
  }

  // ---- correcting

  get links(): PageLink[] {
    return this.corrections.links;
  }

  get judged(): Map<number, Judgement> {
    return this.corrections.judged;
  }

  get canUndo(): boolean {
    return this.corrections.canUndo;
  }

  /** Whether the tools to correct links are there: not while reading. */
  get canCorrect(): boolean {
    return !this.display.isReading;
  }

  /** A moment's link before anything was said of it; null where the page does not know. */
  linkAsFound(moment: number): PageLink | null {
    const found = this.found.get(moment);
    return found ?? (this.judgedBefore.has(moment) ? null : this.payload.links[moment]);
  }

  /** Says that the current moment's link, as it is shown, is right. */
  async confirm(): Promise<void> {
    if (this.selection.isActive) return this.judgeSelected("match");
    const { moment } = this;
    if (!this.canJudge(moment)) return;
    const { in_book, sentence } = this.links[moment];
    // As it was judged, with its span and note.
    if (this.judged.has(moment)) return this.say("You have judged this already.");
    if (this.link) return this.judge(moment, "match", sentence, in_book ? "Confirmed." : "Accepted.");
    if (!in_book) return this.judge(moment, "none", null, "Confirmed: not in the book.");
    this.say("This link is not shown: it is less sure than the slider asks for.");
  }

  /** The best passages for the current moment that may be shown, with their probabilities. */
  get alternatives(): [number, number][] {
    if (this.moment === null || this.isHidden(this.moment)) return [];
    const { sentence, score } = this.payload.links[this.moment];
    const found: [number, number][] = this.links[this.moment].alternatives ?? [[sentence, score]];
    return found.filter(([j, chance]) => chance >= LEAST && this.isTold(j));
  }

  /** Links the current moment to one of its alternatives, counted from 0. */
  async choose(index: number): Promise<void> {
    const { moment, alternatives } = this;
    if (!this.canJudge(moment)) return;
    if (!alternatives[index]) return this.say(`There is no alternative ${index + 1} here.`);
    return this.linkTo(alternatives[index][0], moment);
  }

  async reject(): Promise<void> {
    if (this.selection.isActive) return this.judgeSelected("none");
    return this.judge(this.moment, "none", null, "Marked as not in the book.");
  }

  /** Links the current moment to the picked sentence; where none is, asks for it. */
  linkHere(): void {
    if (this.selection.isActive && this.selectedPassage()) return void this.judgeSelected("match");
    if (this.picked !== null) return void this.linkTo(this.picked, this.linking ?? this.moment);
    if (this.linking !== null) return this.letGo();
    if (!this.canJudge(this.moment)) return;
    this.linking = this.moment;
    this.emit("picked");
    return this.say("Click the right sentence, or pick it (J and K) and press L. Esc: leave it.");
  }

  async linkTo(sentence: number, moment: number | null): Promise<void> {
    if (this.linking !== null && this.selection.moments.span) {
      this.selection.sentences.set([sentence, sentence]);
      return this.judgeSelected("match");
    }
    this.letGo();
    return this.judge(moment, "match", sentence, "Linked.");
  }

  /** The moments that the next judgement speaks of. */
  private selectedMoments(): Span | null {
    return this.selection.moments.span ?? (this.moment === null ? null : [this.moment, this.moment]);
  }

  /** The sentences that were selected or picked. */
  private selectedPassage(): Span | null {
    return this.selection.sentences.span ?? (this.picked === null ? null : [this.picked, this.picked]);
  }

  /** Judges all that is selected; where no sentence is, each moment by its own link. */
  private async judgeSelected(verdict: "match" | "none"): Promise<void> {
    const moments = this.selectedMoments();
    if (!this.canJudge(moments && moments[1]) || !moments) return;
    const passage = this.selectedPassage();
    if (verdict === "match" && !passage) return this.confirmSelected(moments);
    const { kind, note } = this.selection;
    const judgement = makeJudgement(verdict, moments, passage, kind, note ?? "");
    this.letGo();
    const count = moments[1] - moments[0] + 1;
    const done = verdict === "none" ? "Marked as not in the book" : "Linked";
    await this.revise(this.corrections.add([judgement], count > 1 ? `${done}: ${count} moments.` : `${done}.`));
  }

  /** Confirms the link of each moment that has one and was not judged before; one undo takes all back. */
  private async confirmSelected(moments: Span): Promise<void> {
    const { kind, note } = this.selection;
    const all = allOf(moments);
    const open = all.filter((moment) => !this.judged.has(moment));
    const judgements = confirmEach(open, (moment) => this.shownLink(moment), kind, note ?? "");
    if (open.length === 0) return this.say("You have judged this already.");
    if (judgements.length === 0) return this.say("None of this has a link that is shown: select its sentences, too.");
    this.letGo();
    const done = all.length > 1 ? `Confirmed: ${counted(judgements.length, "moment", "moments")}.` : "Confirmed.";
    const unlinked = open.length - judgements.length;
    const judged = all.length - open.length;
    const left = [unlinked > 0 && `${unlinked} without a link`, judged > 0 && `${judged} judged before`].filter(Boolean);
    return void (await this.revise(this.corrections.add(judgements, left.length ? `${done} Unchanged: ${left.join(", ")}.` : done)));
  }

  async undo(): Promise<void> {
    if (!this.canUndo) return this.say("There is nothing to undo.");
    const { moment } = await this.revise(this.corrections.undo());
    if (moment !== null && moment !== this.moment && !this.isHidden(moment)) this.goTo(moment);
  }

  /** Whether a moment can be judged; if not, says why. */
  private canJudge(moment: number | null): moment is number {
    if (moment === null) this.say("The film has not reached its first moment yet.");
    else if (this.isHidden(moment)) this.say("This is still hidden: judge it when it has been seen.");
    else return true;
    return false;
  }

  private async judge(moment: number | null, verdict: "match" | "none", sentence: number | null, done: string): Promise<void> {
    if (this.canJudge(moment)) await this.revise(this.corrections.add([{ moment, verdict, sentence }], done));
  }

  private async revise(outcome: Promise<Outcome>): Promise<Outcome> {
    const timer = setTimeout(() => this.say("Solving again around it …"), PATIENCE_MS);
    const told = await outcome;
    clearTimeout(timer);
    this.drawVeil(true);
    this.say(told.words);
    return told;
  }

  // ---- what is kept

  saveSoon(): void {
    if (this.saveTimer) return;
    this.saveTimer = window.setTimeout(() => this.save(), SAVE_MS);
  }

  private save(): void {
    clearTimeout(this.saveTimer);
    this.saveTimer = 0;
    writeItem(this.key, this.kept);
  }
}

function isSame(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === b || (a !== null && b !== null && a.every((value, k) => value === b[k]));
}
