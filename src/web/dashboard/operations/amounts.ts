import { serverWords as words } from '../words/server.ts'
import { formatCount } from '../words/time.ts'

const units = ['B', 'KB', 'MB', 'GB', 'TB']
const step = 1_000

/** A size such as 5.3 MB. */
export function formatBytes(bytes: number | null): string {
  if (bytes === null) return words.unknown
  const power = Math.min(
    units.length - 1,
    Math.floor(Math.log(Math.max(1, bytes)) / Math.log(step)),
  )
  const amount = bytes / step ** power
  return `${amount < 10 && power > 0 ? amount.toFixed(1) : Math.round(amount)} ${units[power]}`
}

/** A rate. Low rates have decimals. */
export const formatRate = (perSecond: number): string =>
  words.perSecond(
    perSecond >= 100 || Number.isInteger(perSecond)
      ? formatCount(Math.round(perSecond))
      : perSecond.toFixed(perSecond < 0.1 ? 2 : 1),
  )

/** The upper bound of a time, such as ≤ 2.5 ms; a dash if nothing was timed, or "beyond" the measured range. */
export function formatBound(seconds: number | null, isAny: boolean, maxSeconds: number): string {
  if (seconds === null) return isAny ? words.beyond(`${maxSeconds} s`) : '–'
  return words.upTo(seconds < 1 ? `${formatCount(seconds * 1_000)} ms` : `${seconds} s`)
}
