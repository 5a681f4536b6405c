import type { BackupProgress } from '../storage/backup/copy-database.ts'

const barWidth = 24
/** How often the bar is drawn anew, and, where no terminal shows it, how often a line tells; milliseconds. */
const drawEveryMs = 100
const tellEveryMs = 5_000

const words = { copying: 'copying', checking: 'checking the copy', hashing: 'making the checksum' }

/**
 * Shows on stderr how far a copy is: a bar that is drawn over on a terminal, elsewhere a line at times,
 * so that a log tells of a long one and nothing of a short one.
 */
export function progressBar(
  { stderr } = process,
  now: () => number = () => performance.now(),
): {
  show: (progress: BackupProgress) => void
  end: () => void
} {
  const isTerminal = stderr.isTTY === true
  let toldAt = isTerminal ? Number.NEGATIVE_INFINITY : now()
  let phase: BackupProgress['phase'] | null = null
  return {
    show(progress) {
      const isNews = isTerminal && progress.phase !== phase
      if (!isNews && now() - toldAt < (isTerminal ? drawEveryMs : tellEveryMs)) return
      phase = progress.phase
      toldAt = now()
      const line = `${words[phase]} ${shareOf(progress, isTerminal)}`
      stderr.write(isTerminal ? `\r\u001b[K${line}` : `cairn: ${line}\n`)
    },
    end() {
      if (isTerminal && phase !== null) stderr.write('\r\u001b[K')
    },
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
