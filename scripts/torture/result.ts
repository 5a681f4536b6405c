import { markdownOf } from '../report/table.ts'

/** What every part gets. */
export interface Options {
  /** The short form takes seconds and runs in `scripts/test --long`; the long form takes hours. */
  isLong: boolean
  /** The seed of everything random: the same number repeats a run, as far as the machine allows. */
  seed: number
}

export interface Check {
  what: string
  value: string | number
  /** Whether a guarantee held; absent if the line only informs. */
  isOk?: boolean
}

export interface Result {
  title: string
  checks: readonly Check[]
  /** Sentences below the table, such as what could not be tried here. */
  notes?: readonly string[]
}

/** A guarantee that holds if no violation was found. */
export const none = (what: string, found: number): Check => ({
  what,
  value: found,
  isOk: found === 0,
})

/** A guarantee that holds if no sentence says otherwise. */
export const noProblem = (what: string, problems: readonly string[]): Check => ({
  what,
  value: problems.length > 0 ? `${problems.length}: ${problems.slice(0, 3).join('; ')}` : 0,
  isOk: problems.length === 0,
})

/** Proof that something happened at all, because a part that tried nothing proves nothing. */
export const some = (what: string, count: number): Check => ({
  what,
  value: count,
  isOk: count > 0,
})

export const failedIn = ({ checks }: Result) => checks.filter(({ isOk }) => isOk === false)

const verdictOf = ({ isOk }: Check) => (isOk === undefined ? '' : isOk ? 'ok' : 'FAILED')

export function linesOf({ title, checks, notes }: Result): string[] {
  const rows = checks.map(check => [check.what, String(check.value), verdictOf(check)])
  return markdownOf({ title, header: ['what', 'found', ''], rows, ...(notes && { notes }) })
}
