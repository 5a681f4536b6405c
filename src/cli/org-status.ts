import { shown } from '../core/text/wording.ts'
import { isFullHour, lasting, minuteMs } from '../core/time/durations.ts'
import type { Installation } from '../modules/installation/schema.ts'
import { exitStatus } from './failure.ts'
import { cellOf, columns, print } from './output.ts'
import { row } from './table.ts'

type Status = Installation & { id: string; slug: string }

export const statusRow = row<Status>({
  name: 'status',
  about:
    'show whether the snippet is installed and active, and any problems; exit status 1 if it is misconfigured',
  run: async ({ ask, id, organisation: slug }) => ({
    id,
    slug,
    ...(await ask<Installation>('GET /install')),
  }),
  check({ state }) {
    if (state === 'misconfigured') process.exitCode = exitStatus.failure
  },
  show: status => print(...statusLines(status)),
  examples: ['cairn org status', 'cairn org status --org harbor --json'],
})

/** How far senders' clocks are off, from the time of receipt less that of sending. */
function skewIn(ms: number): string {
  if (Math.abs(ms) < minuteMs) return 'under a minute'
  return `${lasting(Math.abs(ms))} ${ms > 0 ? 'behind' : 'ahead'}`
}

function statusLines(status: Status): string[] {
  const { slug, stages, findings, snippetVersion, skewMsMedian, erased24h } = status
  const rejected = Object.entries(status.rejected24h).map(([code, count]) => `${code} ${count}`)
  const facts = {
    // Whatever a page sent as its version; anyone who views a page has the key.
    snippet: snippetVersion && shown(snippetVersion),
    'clock skew': skewMsMedian === null ? null : skewIn(skewMsMedian),
    'rejected in 24 h': rejected.join(', '),
    'from erased people': erased24h === 0 ? null : `${erased24h} in 24 h, not stored`,
  }
  return [
    `${slug}: ${status.state}, ${status.installed ? 'installed' : 'not installed'}`,
    '',
    ...columns([
      ['STAGE', 'FIRST', 'LAST'],
      ...stages.map(({ stage, firstAt, lastAt }) => [stage, cellOf(firstAt), cellOf(lastAt)]),
    ]),
    '',
    ...columns(Object.entries(facts).map(([label, value]) => [label, cellOf(value)])),
    ...findings.flatMap(({ severity, code, message, fix, since }) => [
      '',
      `${severity}: ${code}${since === null ? '' : `, since ${isFullHour(since) ? 'the hour of ' : ''}${since}`}`,
      `  ${message}`,
      `  ${fix}`,
    ]),
    ...(findings.length === 0 ? ['', 'no problems'] : []),
  ]
}
