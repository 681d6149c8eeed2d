// The film: its picture (or what stands for it), the controls, and what is being said.

import type { App } from "./app.ts";
import { element, iconButton, setIcon } from "./dom.ts";
import { shotAt } from "./follow.ts";
import { locate, matchFiles, partAt } from "./parts.ts";
import { Overlay } from "./overlay.ts";
import { ClockPlayer, type Reel, VideoPlayer } from "./player.ts";
import { clock } from "./words.ts";

const RATES = [0.5, 0.75, 1, 1.25, 1.5, 2, 3];
/** A subtitle stays a little longer than it is spoken. */
const LINGER_S = 0.4;
/** A video whose length differs by a larger share is another one. */
const OTHER_CUT = 0.02;

export class Stage {
  readonly root: HTMLElement;
  readonly screen: HTMLElement;
  readonly overlay: Overlay;
  private readonly still = element("img", { alt: "", class: "still", hidden: true });
  /** A keyboard scrolls what can have the focus: lines may be longer than the screen is high. */
  private readonly card = element("p", { class: "title-card", dir: "auto", tabindex: 0, hidden: true });
  private readonly picker: HTMLElement;
  private readonly playButton: HTMLButtonElement;
  private readonly muteButton: HTMLButtonElement;
  private readonly part = element("span", { class: "part" });
  private readonly now = element("span");
  private readonly total = element("span", { class: "total" });
  private readonly rate: HTMLSelectElement;
  private readonly subtitle = element("p", { class: "subtitle", dir: "auto" });
  private video: HTMLVideoElement | null = null;
  private isClock = true;
  private shot: number | null = -1;
  private spoken = "";

  constructor(
    private readonly app: App,
    private readonly share: () => void,
  ) {
    this.overlay = new Overlay(app);
    this.playButton = iconButton("play", "Play (space)", () => app.togglePlay());
    this.playButton.classList.add("play");
    this.muteButton = iconButton("sound", "Mute (M)", () => this.toggleMute());
    this.muteButton.classList.add("mute");
    this.rate = element(
      "select",
      { "aria-label": "Speed", title: "Speed (< and >)", change: () => app.setRate(Number(this.rate.value)) },
      ...RATES.map((rate) => element("option", { value: rate }, `${rate}×`)),
    );
    this.picker = this.makePicker();
    this.part.hidden = app.payload.film.parts === undefined;
    this.screen = element(
      "div",
      { class: "screen", click: () => this.onScreenClick() },
      this.still,
      this.card,
      this.picker,
    );
    if (app.payload.film.language) this.subtitle.lang = this.card.lang = app.payload.film.language;
    const words = element("div", { class: "words" }, this.overlay.passage, this.subtitle);
    this.root = element("section", { class: "stage", "aria-label": "Film" }, this.screen, this.overlay.seek, this.makeControls(), words);
    app.on("player", () => this.showPlayer());
    app.on("time", () => this.showTime());
    const { server, thumbnails } = app.payload;
    const hasPicture = Boolean(server?.video) || thumbnails.some((thumbnail) => thumbnail !== null);
    this.root.classList.toggle("no-picture", !hasPicture);
    const { video } = server ?? {};
    if (video) this.useVideos(app.files.map((_, k) => (app.payload.film.parts ? `${video}/${k}` : video)));
    this.showPlayer();
    this.showTime();
  }

  private makeControls(): HTMLElement {
    const { app } = this;
    const share = iconButton("share", "Share this moment (E)", () => this.share());
    share.classList.add("share");
    return element(
      "div",
      { class: "controls", role: "group", "aria-label": "Playing" },
      iconButton("previous", "Previous moment in the book (B)", () => app.stepInBook(-1)),
      this.playButton,
      iconButton("next", "Next moment in the book (N)", () => app.stepInBook(1)),
      this.part,
      element("span", { class: "time" }, this.now, this.total),
      this.rate,
      this.muteButton,
      share,
      iconButton("full", "Full screen (F)", () => this.toggleFull()),
    );
  }

  private makePicker(): HTMLElement {
    const { film, server } = this.app.payload;
    const { parts } = film;
    const input = element("input", {
      type: "file",
      accept: "video/*,.mkv,.mp4,.webm,.mov,.avi,.m4v",
      multiple: Boolean(parts),
      class: "visually-hidden",
      "aria-label": parts ? `Choose the film’s ${parts.length} files` : "Choose the film’s file",
      change: () => this.onChosen([...(input.files ?? [])]),
    });
    const file = film.file_name ? `“${film.file_name}”` : "the film’s file";
    const name = parts ? `the film’s ${parts.length} files, all at once` : file;
    const choose = element("button", { type: "button", click: () => input.click() }, `Choose ${name}`);
    const picker = element("div", { class: "picker", click: (event: MouseEvent) => event.stopPropagation() }, choose, input);
    picker.append(element("p", {}, "or play without it", element("span", {}, ", on a clock")));
    picker.hidden = Boolean(server?.video);
    input.tabIndex = -1;
    return picker;
  }

  /** The reader chose the film's files on this computer. */
  private onChosen(chosen: File[]): void {
    const { app } = this;
    if (chosen.length === 0) return;
    const files = app.payload.film.parts ? matchFiles(app.files, chosen) : chosen;
    if (files) return this.useVideos(files.map((file) => URL.createObjectURL(file)));
    const names = app.files.map((part) => part.file_name ?? part.title).join(", ");
    return app.say(`Choose all ${app.files.length} files of the film at once: ${names}.`);
  }

  /** Shows the film's files; where the browser cannot, the clock goes on. */
  private useVideos(addresses: string[]): void {
    this.video?.remove();
    const { files, time_s } = this.app;
    const reels: Reel[] = files.map((file, k) => ({ ...file, address: addresses[k] }));
    const first = partAt(files, time_s);
    let player: VideoPlayer | null = null;
    const video = element("video", { playsinline: true, preload: "auto", "aria-label": "Film" });
    this.video = video;
    video.addEventListener("error", () => this.onVideoError(video));
    video.addEventListener("loadedmetadata", () => {
      if (this.video !== video) return;
      this.checkLength(video);
      if (player) return;
      this.isClock = false;
      this.root.classList.remove("no-picture");
      this.picker.hidden = this.still.hidden = this.card.hidden = true;
      player = new VideoPlayer(video, () => this.app.playerChanged(), reels, first);
      this.app.setPlayer(player);
    });
    video.src = reels[first].address;
    this.screen.prepend(video);
  }

  /** Another cut of the film would play, with every link at the wrong time. */
  private checkLength(video: HTMLVideoElement): void {
    const { app } = this;
    const [{ duration_s, title }] = locate(app.files, app.time_s);
    const length_s = video.duration;
    if (!Number.isFinite(length_s) || Math.abs(length_s - duration_s) <= OTHER_CUT * duration_s) return;
    const aligned = app.payload.film.parts ? `aligned ${title}` : "aligned film";
    app.say(`This video is ${clock(length_s)} long, the ${aligned} ${clock(duration_s)}: is it the same one?`);
  }

  private onVideoError(video: HTMLVideoElement): void {
    if (this.video !== video) return;
    video.remove();
    this.video = null;
    const { film } = this.app.payload;
    this.picker.hidden = false;
    if (!this.isClock) {
      this.isClock = true;
      this.app.setPlayer(new ClockPlayer(film.duration_s, () => this.app.playerChanged()));
    }
    this.app.say("The browser cannot play this video. The page goes on without it, on a clock.");
    this.shot = -1;
    this.showTime();
  }

  private onScreenClick(): void {
    if (getSelection()?.isCollapsed !== false) this.app.togglePlay();
  }

  toggleMute(): void {
    if (!this.video) return;
    this.video.muted = !this.video.muted;
    setIcon(this.muteButton, this.video.muted ? "mute" : "sound");
    this.muteButton.setAttribute("aria-pressed", String(this.video.muted));
  }

  toggleFull(): void {
    if (document.fullscreenElement) void document.exitFullscreen();
    else (this.root.requestFullscreen?.() ?? Promise.reject()).catch(() => this.app.say("The browser does not allow full screen."));
  }

  /** What is on the screen, for a card; null where there is no picture. */
  async frame(): Promise<CanvasImageSource | null> {
    if (this.video && this.video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA) return this.video;
    if (this.still.hidden || !this.still.src) return null;
    await this.still.decode().catch(() => undefined);
    return this.still.naturalWidth > 0 ? this.still : null;
  }

  private showPlayer(): void {
    const { isPlaying, rate } = this.app.player;
    const label = isPlaying ? "Pause (space)" : "Play (space)";
    if (this.playButton.title !== label) {
      setIcon(this.playButton, isPlaying ? "pause" : "play");
      this.playButton.setAttribute("aria-label", label);
      this.playButton.title = label;
    }
    if (![...this.rate.options].some((option) => Number(option.value) === rate)) {
      this.rate.append(element("option", { value: rate }, `${rate}×`));
    }
    this.rate.value = String(rate);
    this.screen.classList.toggle("playing", isPlaying);
    this.muteButton.hidden = this.isClock;
  }

  private showTime(): void {
    const { app } = this;
    const [part, local_s] = locate(app.files, app.time_s);
    const [now, total] = [clock(local_s), ` / ${clock(part.duration_s)}`];
    if (this.now.textContent !== now) this.now.textContent = now;
    if (this.total.textContent !== total) this.total.textContent = total;
    if (this.part.textContent !== part.title) this.part.textContent = this.part.title = part.title;
    const moment = app.moment === null ? null : app.payload.moments[app.moment];
    const spoken = moment && app.time_s <= moment.end_s + LINGER_S ? moment.text : "";
    if (spoken !== this.spoken) {
      this.spoken = spoken;
      this.subtitle.textContent = spoken;
    }
    if (this.isClock) this.showStill(spoken);
  }

  /** Without the film: the shot's thumbnail, or the line that is spoken as a title card. */
  private showStill(spoken: string): void {
    const { film, thumbnails } = this.app.payload;
    const shot = shotAt(film.shots, this.app.time_s);
    if (shot !== this.shot) {
      this.shot = shot;
      const picture = shot === null ? null : (thumbnails[shot] ?? null);
      this.still.hidden = picture === null;
      if (picture !== null) this.still.src = picture;
    }
    this.card.hidden = !this.still.hidden;
    if (!this.card.hidden) this.card.textContent = spoken || "· · ·";
  }
}
