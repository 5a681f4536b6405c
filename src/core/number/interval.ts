import { quotient } from './statistics.ts'

/** The 97.5 % quantile of the standard normal distribution, for intervals of 95 %. */
const z95 = 1.959963984540054

/**
 * How wide each of several intervals has to be, in standard deviations, so that with 95 % confidence none
 * of them misses (Bonferroni). Within 0.0005 of the exact quantile.
 *
 * @see Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.2.23
 */
export function zOfSeveral(intervals: number): number {
  const t = Math.sqrt(-2 * Math.log(0.025 / Math.max(1, intervals)))
  const below = 1 + t * (1.432788 + t * (0.189269 + t * 0.001308))
  return t - (2.515517 + t * (0.802853 + t * 0.010328)) / below
}

/**
 * The 95 % confidence interval for the share in the whole population, if `hits` of `trials` were counted;
 * null without trials.
 *
 * @see Wilson, "Probable Inference, the Law of Succession, and Statistical Inference" (1927)
 */
export function wilsonInterval(
  hits: number,
  trials: number,
  z = z95,
): { low: number; high: number } | null {
  if (trials === 0) return null
  const share = hits / trials
  const spread = z * z
  const centre = share + spread / (2 * trials)
  const reach = z * Math.sqrt((share * (1 - share) + spread / (4 * trials)) / trials)
  const whole = 1 + spread / trials
  return {
    low: hits === 0 ? 0 : Math.max(0, (centre - reach) / whole),
    high: hits === trials ? 1 : Math.min(1, (centre + reach) / whole),
  }
}

/** A count of hits among a number of trials. */
export interface Share {
  hits: number
  trials: number
}

/** The difference of two shares, `now` minus `before`; null if either has no trials. */
export const shareDifference = (now: Share, before: Share, decimals: number): number | null =>
  quotient(
    now.hits * before.trials - before.hits * now.trials,
    now.trials * before.trials,
    decimals,
  )

/**
 * The 95 % confidence interval for the difference of two shares, `now` minus `before`; null if either has
 * no trials. Combines the two Wilson intervals.
 *
 * @see Newcombe, "Interval Estimation for the Difference Between Independent Proportions" (1998), method 10
 */
export function differenceInterval(
  now: Share,
  before: Share,
  z = z95,
): { low: number; high: number } | null {
  const a = wilsonInterval(now.hits, now.trials, z)
  const b = wilsonInterval(before.hits, before.trials, z)
  if (a === null || b === null) return null
  const [p, q] = [now.hits / now.trials, before.hits / before.trials]
  const difference = p - q
  return {
    low: difference - Math.hypot(p - a.low, b.high - q),
    high: difference + Math.hypot(a.high - p, q - b.low),
  }
}
