import { doingText, type UpgradeProgress } from '../../storage/upgrade.ts'

/** Where nobody looks on, a line at each change and then this often, milliseconds. */
const lineEveryMs = 5_000
const frameEveryMs = 100

/** Says on stderr how far a migration is: a line that is written over on a terminal, else lines. */
export function progressOnStderr(): (progress: UpgradeProgress) => void {
  const { stderr } = process
  const startedAt = performance.now()
  let stage = ''
  let toldAt = Number.NEGATIVE_INFINITY
  return progress => {
    const now = performance.now()
    const text = doingText(progress)
    const [nextStage = ''] = text.split(',')
    const isNext = nextStage !== stage
    if (!isNext && now - toldAt < (stderr.isTTY ? frameEveryMs : lineEveryMs)) return
    stage = nextStage
    toldAt = now
    const line = `${text} (${((now - startedAt) / 1_000).toFixed(1)} s)`
    const isLast = progress.doing === 'checkpoint'
    if (stderr.isTTY) stderr.write(`\r\u001b[K${isLast ? '' : line}`)
    else stderr.write(`cairn: ${line}\n`)
  }
}
