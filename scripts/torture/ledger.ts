import { markdownOf } from '../report/table.ts'

/** What a part of the kit is asked for. */
export interface Torture {
  /** The hours' form; else the short one, which the tests run too. */
  isLong: boolean
  /** What all chance is drawn from: the same number repeats a run, as far as the machine lets it. */
  seed: number
}

/** One line of what a part found. */
export interface Entry {
  what: string
  value: string | number
  /** Whether a promise held; absent where the line only tells. */
  isGood?: boolean
}

/** What a part did, and whether what Cairn promises held meanwhile. */
export interface Ledger {
  title: string
  entries: readonly Entry[]
  /** Sentences below it: what could not be tried here, and why. */
  notes?: readonly string[]
}

/** A promise, and what came of it: good where nothing was found against it. */
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
