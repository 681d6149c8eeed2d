// What drives the page: the film itself, or a clock where there is no film.

import { clamp } from "./order.ts";
import { partAt } from "./parts.ts";

export interface Player {
  readonly time_s: number;
  readonly isPlaying: boolean;
  rate: number;
  play(): void;
  pause(): void;
  seek(time_s: number): void;
}

/** Runs through the film's time without the film. */
export class ClockPlayer implements Player {
  isPlaying = false;
  private base_s = 0;
  private since_ms = 0;
  private speed = 1;

  constructor(
    private readonly duration_s: number,
    private readonly onChange: () => void,
    private readonly now_ms: () => number = () => performance.now(),
  ) {}

  get time_s(): number {
    const run_s = this.isPlaying ? ((this.now_ms() - this.since_ms) / 1000) * this.speed : 0;
    return clamp(this.base_s + run_s, 0, this.duration_s);
  }

  get rate(): number {
    return this.speed;
  }

  set rate(rate: number) {
    this.restart(this.time_s);
    this.speed = rate;
    this.onChange();
  }

  play(): void {
    if (this.isPlaying) return;
    this.restart(this.time_s >= this.duration_s ? 0 : this.time_s);
    this.isPlaying = true;
    this.onChange();
  }

  pause(): void {
    this.restart(this.time_s);
    this.isPlaying = false;
    this.onChange();
  }

  seek(time_s: number): void {
    this.restart(clamp(time_s, 0, this.duration_s));
    this.onChange();
  }

  private restart(time_s: number): void {
    this.base_s = time_s;
    this.since_ms = this.now_ms();
  }
}

/** A file of the film: where it is, and when it plays. */
export interface Reel {
  address: string;
  start_s: number;
  duration_s: number;
}

/** The film in a <video> element, which goes from one file to the next. */
export class VideoPlayer implements Player {
  /** Where to begin in a file that is being opened, and whether to go on playing there. */
  private opening: { time_s: number; isPlaying: boolean } | null = null;
  /** Whether the reader wants it to play: at the end of a file the element itself is paused. */
  private isWanted = false;

  /** The video must be showing the given reel. */
  constructor(
    readonly video: HTMLVideoElement,
    private readonly onChange: () => void,
    private readonly reels: Reel[],
    private reel: number,
  ) {
    for (const event of ["play", "pause", "seeking", "seeked", "ratechange", "timeupdate"]) {
      video.addEventListener(event, () => this.onChange());
    }
    video.addEventListener("loadedmetadata", () => this.onOpened());
    video.addEventListener("ended", () => this.onEnded());
    video.addEventListener("play", () => (this.isWanted = true));
    video.addEventListener("pause", () => (this.isWanted &&= video.ended));
  }

  get time_s(): number {
    if (this.opening) return this.opening.time_s;
    const { start_s, duration_s } = this.reels[this.reel];
    const isLast = this.reel === this.reels.length - 1;
    // A file may run a little longer than the part it is: the next part has not begun yet.
    return start_s + (isLast ? this.video.currentTime : Math.min(this.video.currentTime, duration_s - 0.001));
  }

  get isPlaying(): boolean {
    return this.opening ? this.opening.isPlaying : !this.video.paused && !this.video.ended;
  }

  get rate(): number {
    return this.video.playbackRate;
  }

  set rate(rate: number) {
    // The default, too: a file that is opened later begins with it.
    this.video.defaultPlaybackRate = this.video.playbackRate = rate;
  }

  play(): void {
    if (this.opening) {
      this.opening.isPlaying = true;
      return this.onChange();
    }
    // A film that is over begins again: the element by itself would play the last file again.
    if (this.video.ended && this.reels.length > 1) return this.open(0, true);
    // A refused start (no gesture yet, a source that failed) leaves the film paused, and shows so.
    return void this.video.play().catch(() => this.onChange());
  }

  pause(): void {
    this.isWanted = false;
    this.video.pause();
    if (!this.opening) return;
    this.opening.isPlaying = false;
    this.onChange();
  }

  seek(time_s: number): void {
    const reel = partAt(this.reels, time_s);
    if (reel !== this.reel || this.opening) return this.open(time_s, this.isPlaying);
    this.video.currentTime = time_s - this.reels[reel].start_s;
    return this.onChange();
  }

  /** Opens the file that plays at a time. */
  private open(time_s: number, isPlaying: boolean): void {
    const reel = partAt(this.reels, time_s);
    const isOpening = this.opening !== null && reel === this.reel;
    this.opening = { time_s, isPlaying };
    this.reel = reel;
    if (!isOpening) this.video.src = this.reels[reel].address;
    this.onChange();
  }

  private onOpened(): void {
    if (!this.opening) return;
    const { time_s, isPlaying } = this.opening;
    this.opening = null;
    this.video.currentTime = time_s - this.reels[this.reel].start_s;
    if (isPlaying) this.play();
    this.onChange();
  }

  private onEnded(): void {
    const next = this.reels[this.reel + 1];
    if (next && this.isWanted && !this.opening) this.open(next.start_s, true);
    else this.onChange();
  }
}
