import type { BackupProgress } from '../storage/sqlite/backup/copy-database.ts'

const barWidth = 24
/** How often the bar is drawn anew, and, where no terminal shows it, how often a line tells; milliseconds. */
const drawEveryMs = 100
const tellEveryMs = 5_000

const words = { copying: 'copying', checking: 'checking the copy', hashing: 'making the checksum' }

/**
 * One line on stderr about long work: drawn over on a terminal, elsewhere told at times, so that a log
 * tells of a long one and nothing of a short one.
 */
export function progressLine(
  { stderr } = process,
  now: () => number = () => performance.now(),
): {
  isTerminal: boolean
  /** @param stage another than before is shown at once */
  show: (stage: string, line: () => string) => void
  end: () => void
} {
  const isTerminal = stderr.isTTY === true
  let toldAt = isTerminal ? Number.NEGATIVE_INFINITY : now()
  let shown: string | null = null
  return {
    isTerminal,
    show(stage, line) {
      const isNews = isTerminal && stage !== shown
      if (!isNews && now() - toldAt < (isTerminal ? drawEveryMs : tellEveryMs)) return
      shown = stage
      toldAt = now()
      stderr.write(isTerminal ? `\r\u001b[K${line()}` : `cairn: ${line()}\n`)
    },
    end() {
      if (isTerminal && shown !== null) stderr.write('\r\u001b[K')
    },
  }
}

/** The same on a terminal alone, for work that is worth no line in a log. */
export function liveLine(): { show: (line: string) => void; end: () => void } {
  const { isTerminal, show, end } = progressLine()
  return { show: line => isTerminal && show('', () => line), end }
}

/** Shows on stderr how far a copy is. */
export function progressBar(...how: Parameters<typeof progressLine>): {
  show: (progress: BackupProgress) => void
  end: () => void
} {
  const { isTerminal, show, end } = progressLine(...how)
  return {
    show: progress =>
      show(progress.phase, () => `${words[progress.phase]} ${shareOf(progress, isTerminal)}`),
    end,
  }
}

function shareOf({ phase, done, total }: BackupProgress, isTerminal: boolean): string {
  const mb = (bytes: number) => (bytes / 1e6).toFixed(0)
  if (phase === 'checking') return `(${mb(total)} MB)`
  const share = total === 0 ? 1 : done / total
  const full = Math.round(share * barWidth)
  const bar = isTerminal ? `[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}] ` : ''
  return `${bar}${Math.floor(share * 100)} % (${mb(done)} of ${mb(total)} MB)`
}
