import type { BackupProgress } from '../storage/sqlite/backup/backup.ts'

const barWidth = 24
/** How often the bar is drawn again, and how often a line is printed if there is no terminal; milliseconds. */
const drawEveryMs = 100
const tellEveryMs = 5_000

const emptyLine = '\r\u001b[K'

/** Removes the line that a terminal shows. */
export const clearLine = ({ stderr } = process) => {
  if (stderr.isTTY) stderr.write(emptyLine)
}

const words = { copying: 'copying', checking: 'checking the copy', hashing: 'making the checksum' }

/**
 * One line on stderr about long work. A terminal shows it redrawn in place; elsewhere it is printed at
 * intervals, so that a log has lines about long work and none about short work.
 */
export function progressLine(
  { stderr } = process,
  now: () => number = () => performance.now(),
): {
  isTerminal: boolean
  /** @param stage a new stage is shown at once */
  show: (stage: string, line: () => string) => void
  end: () => void
} {
  const isTerminal = stderr.isTTY === true
  let printedAt = isTerminal ? Number.NEGATIVE_INFINITY : now()
  let shown: string | null = null
  return {
    isTerminal,
    show(stage, line) {
      const isNews = isTerminal && stage !== shown
      if (!isNews && now() - printedAt < (isTerminal ? drawEveryMs : tellEveryMs)) return
      shown = stage
      printedAt = now()
      stderr.write(isTerminal ? `${emptyLine}${line()}` : `cairn: ${line()}\n`)
    },
    end() {
      if (isTerminal && shown !== null) stderr.write(emptyLine)
    },
  }
}

/** The same only on a terminal, for work that is not worth a line in a log. */
export function liveLine(): { show: (line: string) => void; end: () => void } {
  const { isTerminal, show, end } = progressLine()
  return { show: line => isTerminal && show('', () => line), end }
}

/** Shows the progress of a copy on stderr. */
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
  if (phase !== 'hashing') return `(${mb(total)} MB)`
  const share = total === 0 ? 1 : done / total
  const full = Math.round(share * barWidth)
  const bar = isTerminal ? `[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}] ` : ''
  return `${bar}${Math.floor(share * 100)} % (${mb(done)} of ${mb(total)} MB)`
}
