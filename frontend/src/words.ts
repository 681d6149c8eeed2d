// Numbers as a reader says them.

/** Seconds as 1:02:03 (or 2:03 in the first hour). */
export function clock(time_s: number): string {
  const whole = Math.max(0, Math.floor(time_s));
  const two = (n: number) => String(n).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const rest = `${two(whole % 60)}`;
  return hours > 0 ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** A link's probability, and of what: it is right if its counterpart stands at most three paragraphs away. */
export function certainty(score: number): string {
  return `${percent(score)} within three paragraphs`;
}

/** How sure a link is, in a word. */
export function sureness(score: number): string {
  if (score >= 0.95) return "Very sure";
  if (score >= 0.8) return "Sure";
  if (score >= 0.6) return "Likely";
  if (score >= 0.5) return "Perhaps";
  return "Guess";
}

export function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
