import type { ComponentChildren } from 'preact'
import type { Server } from '../../../modules/operations/schema.ts'
import { serverWords as words } from '../words/server.ts'
import { formatCount } from '../words/time.ts'
import { formatBound, formatBytes, formatRate } from './amounts.ts'

/** The longest times that are measured. */
const maxAnswerSeconds = 10
const maxCommitSeconds = 5

/** The verdicts on events that are not refused. */
const wellVerdicts = ['accepted', 'duplicate']

function Figure({
  name,
  value,
  isBad = false,
  children,
}: {
  name: string
  value: string
  isBad?: boolean
  children?: ComponentChildren
}) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd class={`figure-value ${isBad ? 'is-bad' : ''}`}>{value}</dd>
      <dd class="figure-below">{children}</dd>
    </div>
  )
}

/** How much the server has to do, and how much room it has. */
export function Now({ of }: { of: Server }) {
  const { requests, answers, events, queue, disk, process } = of
  const accepted = events.find(({ verdict }) => verdict === 'accepted')
  const refused = events
    .filter(({ verdict }) => !wellVerdicts.includes(verdict))
    .reduce((sum, { total }) => sum + total, 0)
  const bound = (seconds: number | null) =>
    formatBound(seconds, requests.perSecond > 0, maxAnswerSeconds)
  return (
    <dl class="figures four">
      <Figure name={words.requests} value={formatRate(requests.perSecond)}>
        {words.total(formatCount(requests.total))}
      </Figure>
      <Figure name={words.answers} value={bound(answers.p50Seconds)}>
        {requests.perSecond > 0 && words.answersBelow(bound(answers.p99Seconds))}
      </Figure>
      <Figure name={words.events} value={formatRate(accepted?.perSecond ?? 0)}>
        {refused > 0
          ? words.rejected(formatCount(refused))
          : words.total(formatCount(accepted?.total ?? 0))}
      </Figure>
      <Figure
        name={words.queue}
        value={formatCount(queue.events)}
        isBad={queue.isRefusing || queue.events * 2 > queue.limitEvents}
      >
        {queue.isRefusing ? words.refusing : words.queueOf(formatCount(queue.limitEvents))}
      </Figure>
      <Figure name={words.database} value={formatBytes(disk.databaseBytes)}>
        {disk.logBytes !== null && words.log(formatBytes(disk.logBytes))}
      </Figure>
      <Figure name={words.disk} value={formatBytes(disk.freeBytes)} />
      <Figure name={words.memory} value={formatBytes(process.memoryBytes)}>
        {words.cores(
          process.cores.toFixed(2),
          process.openFiles === null ? words.unknown : formatCount(process.openFiles),
        )}
      </Figure>
      <Figure name={words.commits} value={formatRate(of.commits.perSecond)}>
        {of.commits.perSecond > 0 &&
          words.answersBelow(formatBound(of.commits.p99Seconds, true, maxCommitSeconds))}
      </Figure>
    </dl>
  )
}
