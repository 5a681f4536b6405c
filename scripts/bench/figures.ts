import { inLine } from '../report/table.ts'

/** One line of the table: the measurements of Cairn and of what it is compared with. */
export interface Figure {
  part: string
  what: string
  unit: string
  /** One number per round. */
  cairn: readonly number[]
  /** From the same rounds: the floor's unless `what` says otherwise; absent without a comparison. */
  beside?: readonly number[]
  /** What the figure should be, in words; absent if it is only reported. */
  goal?: string
  /** The goal as a number: for the ratio if there is a comparison, otherwise for the median itself. */
  least?: number
  most?: number
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [low = 0, high = 0] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[middle]]
  return (low + high) / 2
}

/** How far apart the values are, as a share of their median. */
export function spread(values: readonly number[]): number {
  const range = Math.max(...values) - Math.min(...values)
  return range === 0 ? 0 : range / median(values)
}

/** Cairn's median as a share of the other's; null without a comparison. */
export const ratioOf = ({ cairn, beside }: Figure) =>
  beside === undefined ? null : median(cairn) / median(beside)

/** Whether the goal is met; null if there is none. */
export function isMet(figure: Figure): boolean | null {
  const { least, most } = figure
  if (least === undefined && most === undefined) return null
  const value = ratioOf(figure) ?? median(figure.cairn)
  return value >= (least ?? value) && value <= (most ?? value)
}

/** A number with no more digits than are worth reading. */
export const rounded = (value: number) => {
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString('en-US')
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2).replace(/^-(?=[0.]+$)/, '')
}

const verdict = (isMet: boolean | null) => {
  if (isMet === null) return ''
  return isMet ? 'met' : 'not met'
}

/** Figures as a table for people, with aligned columns. */
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
 * Measures a share of the floor until it is reached, a few times at most, so that a machine that was busy
 * for a moment does not fail the check. Returns everything that was measured, in order.
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
