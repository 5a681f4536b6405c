import { inLine } from '../report/table.ts'

/** One line of the table: what was measured of Cairn, and of what stands beside it. */
export interface Figure {
  part: string
  what: string
  unit: string
  /** A number a round. */
  cairn: readonly number[]
  /** From the same rounds, of the floor unless `what` says otherwise; absent where nothing is. */
  beside?: readonly number[]
  /** What it should be, in words; absent for what is only reported. */
  goal?: string
  /** The goal as a number: of the ratio where something stands beside it, else of the median itself. */
  least?: number
  most?: number
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [low = 0, high = 0] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[middle]]
  return (low + high) / 2
}

/** How far the values lie apart, as a share of their median. */
export function spread(values: readonly number[]): number {
  const range = Math.max(...values) - Math.min(...values)
  return range === 0 ? 0 : range / median(values)
}

/** Cairn's median as a share of the one beside it; null without one. */
export const ratioOf = ({ cairn, beside }: Figure) =>
  beside === undefined ? null : median(cairn) / median(beside)

/** Whether the goal is met; null where there is none. */
export function isMet(figure: Figure): boolean | null {
  const { least, most } = figure
  if (least === undefined && most === undefined) return null
  const value = ratioOf(figure) ?? median(figure.cairn)
  return value >= (least ?? value) && value <= (most ?? value)
}

/** A number with as many digits as are worth reading. */
export const rounded = (value: number) => {
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString('en-US')
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2).replace(/^-(?=[0.]+$)/, '')
}

const verdict = (isMet: boolean | null) => {
  if (isMet === null) return ''
  return isMet ? 'met' : 'not met'
}

/** Figures as a table for people, columns in line. */
export function tableOf(figures: readonly Figure[]): string[] {
  const rows = figures.map(figure => {
    const ratio = ratioOf(figure)
    return [
      figure.part,
      figure.what,
      `${rounded(median(figure.cairn))} ${figure.unit}`,
      figure.beside ? `${rounded(median(figure.beside))} ${figure.unit}` : '',
      ratio === null ? '' : `${ratio.toFixed(2)} ×`,
      figure.cairn.length > 1 ? `±${Math.round((spread(figure.cairn) / 2) * 100)} %` : '',
      figure.goal ?? '',
      verdict(isMet(figure)),
    ]
  })
  const header = ['part', 'measure', 'cairn', 'beside', 'ratio', 'spread', 'goal', '']
  return inLine([header, ...rows]).map(cells => cells.join('  ').trimEnd())
}

/**
 * Measures a share of the floor until it is reached, a few times at most: a machine that was busy
 * for a moment shall fail nobody. All that was measured, in order.
 */
export async function tries(
  measure: () => Promise<number>,
  { least, most }: { least: number; most: number },
): Promise<number[]> {
  const shares: number[] = []
  do shares.push(await measure())
  while (Math.max(...shares) < least && shares.length < most)
  return shares
}
