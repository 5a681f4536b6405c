import { markdownOf } from '../report/table.ts'

/** What a part of the kit is asked to do. */
export interface Torture {
  /** Whether this is the long form, which takes hours, or the short one, which the tests run too. */
  isLong: boolean
  /** The seed of everything random: the same number repeats a run, as far as the machine allows. */
  seed: number
}

/** One line of what a part found. */
export interface Entry {
  what: string
  value: string | number
  /** Whether a promise held; absent if the line only informs. */
  isGood?: boolean
}

/** What a part did, and whether Cairn's promises held meanwhile. */
export interface Ledger {
  title: string
  entries: readonly Entry[]
  /** Sentences below the table: what could not be tried here, and why. */
  notes?: readonly string[]
}

/** A promise, which held if no violation was found. */
export const none = (what: string, found: number): Entry => ({
  what,
  value: found,
  isGood: found === 0,
})

/** A promise that a number stays at or below a bound. */
export const atMost = (what: string, value: number, bound: number, unit = ''): Entry => ({
  what: `${what} (at most ${bound}${unit})`,
  value: `${value}${unit}`,
  isGood: value <= bound,
})

export const broken = ({ entries }: Ledger) => entries.filter(({ isGood }) => isGood === false)

const verdictOf = ({ isGood }: Entry) => (isGood === undefined ? '' : isGood ? 'ok' : 'BROKEN')

/** A ledger's lines, ready to be pasted into a document. */
export function ledgerLines({ title, entries, notes }: Ledger): string[] {
  const rows = entries.map(entry => [entry.what, String(entry.value), verdictOf(entry)])
  return markdownOf({ title, header: ['what', 'found', ''], rows, ...(notes && { notes }) })
}
