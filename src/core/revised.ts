import { AppError } from './errors.ts'

/** How many times a change is tried because somebody else made one first. */
const maxTries = 20

/**
 * Repeats a change that is based on what was read, until nobody has made another in between.
 *
 * @param attempt reads, decides and writes; null if what it has read is no longer so, and nothing was written
 * @throws AppError `overloaded`
 */
export async function revised<T>(attempt: () => Promise<T | null>): Promise<T> {
  for (let tries = 1; tries <= maxTries; tries++) {
    const made = await attempt()
    if (made !== null) return made
  }
  throw new AppError('overloaded', 'Others are changing this organisation too. Try again.', {
    retryAfterSeconds: 1,
  })
}
