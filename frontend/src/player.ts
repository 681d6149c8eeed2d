// What drives the page: the film itself, or a clock where there is no film.

import { clamp } from "./order.ts";

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

/** The film in a <video> element. */
export class VideoPlayer implements Player {
  constructor(
    readonly video: HTMLVideoElement,
    private readonly onChange: () => void,
  ) {
    for (const event of ["play", "pause", "seeking", "seeked", "ratechange", "ended", "timeupdate"]) {
      video.addEventListener(event, () => this.onChange());
    }
  }

  get time_s(): number {
    return this.video.currentTime;
  }

  get isPlaying(): boolean {
    return !this.video.paused && !this.video.ended;
  }

  get rate(): number {
    return this.video.playbackRate;
  }

  set rate(rate: number) {
    this.video.playbackRate = rate;
  }

  play(): void {
    // A refused start (no gesture yet, a source that failed) leaves the film paused, and shows so.
    this.video.play().catch(() => this.onChange());
  }

  pause(): void {
    this.video.pause();
  }

  seek(time_s: number): void {
    this.video.currentTime = time_s;
    this.onChange();
  }
}
