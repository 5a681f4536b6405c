import { shown } from '../core/text/wording.ts'
import { isFullHour, lasting, minuteMs } from '../core/time/durations.ts'
import type { Installation } from '../modules/installation/schema.ts'
import { exitStatus } from './failure.ts'
import { cellOf, columns, fieldLines, print } from './output.ts'
import { row } from './table.ts'

type Status = Installation & { id: string; slug: string }

export const statusRow = row<Status>({
  name: 'status',
  about:
    'show whether the snippet is installed and active, and problems; exit status 1 if it is misconfigured',
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

/** @param ms time of receipt less time of sending */
const skewIn = (ms: number) =>
  Math.abs(ms) < minuteMs
    ? 'under a minute'
    : `${lasting(Math.abs(ms))} ${ms > 0 ? 'behind' : 'ahead'}`

function statusLines(status: Status): string[] {
  const { slug, state, installed, stages, findings, snippetVersion, skewMsMedian } = status
  const facts = {
    // Anyone with the key can send any text as the version.
    snippet: snippetVersion && shown(snippetVersion),
    'clock difference': skewMsMedian === null ? null : skewIn(skewMsMedian),
    'rejected in 24 h': Object.entries(status.rejected24h).map(pair => pair.join(' ')),
    'of erased people in 24 h': status.erased24h,
  }
  const problems = findings.flatMap(({ severity, code, message, fix, since }) => {
    const hour = since !== null && isFullHour(since) ? 'the hour of ' : ''
    const title = `${severity}: ${code}${since === null ? '' : `, since ${hour}${since}`}`
    return ['', title, `  ${message}`, `  ${fix}`]
  })
  return [
    `${slug}: ${state}, ${installed ? 'installed' : 'not installed'}`,
    '',
    ...columns([
      ['STAGE', 'FIRST', 'LAST'],
      ...stages.map(({ stage, firstAt, lastAt }) => [stage, cellOf(firstAt), cellOf(lastAt)]),
    ]),
    '',
    ...fieldLines(facts),
    ...(problems.length > 0 ? problems : ['', 'No problems found.']),
  ]
}
