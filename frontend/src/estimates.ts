// Shares with their uncertainty, from the probabilities of links: the same as export/estimates.py.

export interface Estimate {
  value: number;
  /** The 95 % interval. */
  low: number;
  high: number;
}

/** Something that counts by its weight, with the probability that it is so. */
export interface Chance {
  weight: number;
  chance: number;
  /** Whether a reader has decided it. */
  isJudged: boolean;
}

/** How far the log odds of all lines of a film are off together; estimates.py says how it was measured. */
const FILM_ERROR = 0.8;
const SUREST = 0.01;
const SIGMAS = 1.96;

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);

/** The expected share of the weight, and its interval; null where there is nothing to weigh. */
export function estimateShare(things: Chance[]): Estimate | null {
  const whole = sum(things.map(({ weight }) => weight));
  if (whole <= 0) return null;
  const shareOf = (chanceOf: (thing: Chance) => number) => sum(things.map((thing) => thing.weight * chanceOf(thing))) / whole;
  const value = shareOf(({ chance }) => chance);
  const open = things.filter(({ isJudged }) => !isJudged);
  const byLine = (SIGMAS ** 2 * sum(open.map(({ weight, chance }) => weight ** 2 * chance * (1 - chance)))) / whole ** 2;
  const end = (sign: 1 | -1): number => {
    const factor = Math.exp(-sign * SIGMAS * FILM_ERROR);
    const byFilm =
      shareOf(({ chance, isJudged }) => {
        const safe = Math.min(1 - SUREST, Math.max(SUREST, chance));
        return isJudged ? chance : 1 / (1 + ((1 - safe) / safe) * factor);
      }) - value;
    // Chances of 0 and 1 can move one way only.
    return value + sign * Math.sqrt(byLine + (byFilm * sign > 0 ? byFilm ** 2 : 0));
  };
  const judged = (chance: number) => sum(things.filter((t) => t.isJudged && t.chance === chance).map((t) => t.weight)) / whole;
  return { value, low: Math.max(judged(1), end(-1)), high: Math.min(1 - judged(0), end(1)) };
}

/** A share and its interval, as 72 % (58–86 %). */
export function shareText(share: Estimate | null): string {
  if (share === null) return "–";
  const whole = (value: number) => Math.round(100 * value);
  return `${whole(share.value)} % (${whole(share.low)}–${whole(share.high)} %)`;
}
