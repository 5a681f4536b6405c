import type { DeadLetterList, RetriedLetters } from '../modules/operations/schema.ts'
import { type RetryVerdict, retryVerdicts } from '../storage/interfaces/operations.ts'
import type { Command } from './command.ts'
import { exitStatus, UsageFailure, warn } from './failure.ts'
import { counted, print, printTable } from './output.ts'
import { addGroup, type Given, option, type Row, row } from './table.ts'

const chosen = {
  scope: 'here',
  args: { '[id...]': 'ids of dead letters' },
  options: [option('--all', 'all dead letters')],
  body: ({ id, all }: Given) => {
    if ((all ?? false) === id.length > 0) {
      throw new UsageFailure('name dead letters by their ids, or all of them with --all')
    }
    return all ? { all } : { ids: id.map(idIn) }
  },
} satisfies Partial<Row>

function idIn(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new UsageFailure(`"${text.slice(0, 20)}" is no id: "cairn dead-letters list" shows them`)
}

type Retried = Record<RetryVerdict, number> & RetriedLetters

const rows: Row[] = [
  row<DeadLetterList>({
    name: 'list',
    about: 'list the events and why they were rejected, oldest first',
    scope: 'here',
    route: 'GET /dead-letters',
    part: 'letters',
    columns: {
      id: 'id',
      received: 'receivedAt',
      kind: 'kind',
      event: 'eventId',
      reason: 'reason',
    },
    none: 'no dead letters',
    check({ letters, count }) {
      if (count > letters.length) warn(`showing the oldest ${letters.length} of ${count}`)
    },
    examples: ['cairn dead-letters list', 'cairn dead-letters list --json'],
  }),
  row<Retried>({
    ...chosen,
    name: 'retry',
    about: 'store events after all; exit status 1 if any is rejected again',
    async run({ ask }, given) {
      const body = chosen.body(given)
      const { letters } = await ask<typeof RetriedLetters>('POST /dead-letters/retry', { body })
      const counts = retryVerdicts.map(wanted => [
        wanted,
        letters.filter(({ verdict }) => verdict === wanted).length,
      ])
      return { ...Object.fromEntries(counts), letters }
    },
    check({ refused }) {
      if (refused > 0) process.exitCode = exitStatus.failure
    },
    show: ({ letters }) =>
      printTable(
        ['id', 'verdict'],
        letters.map(({ id, verdict }) => [String(id), verdict]),
        'no dead letters',
      ),
    examples: ['cairn dead-letters retry 17', 'cairn dead-letters retry --all'],
  }),
  row<{ dropped: number }>({
    ...chosen,
    name: 'drop',
    about: 'delete events for good',
    route: 'POST /dead-letters/drop',
    show: ({ dropped }) => print(`Dropped ${counted(dropped, 'dead letter')}.`),
    examples: ['cairn dead-letters drop 17 18', 'cairn dead-letters drop --all'],
  }),
]

export function addDeadLetters(cairn: Command): void {
  addGroup(
    cairn,
    {
      name: 'dead-letters',
      about: 'events that the database rejected: list, retry or drop them',
      examples: ['cairn dead-letters list', 'cairn dead-letters retry --all'],
      notes: `The sender of such an event was told that it was rejected ("storage"). Its id is
free: if it was sent again since, a retry finds a duplicate, and the letter is
gone. A completion, tick, health report or fingerprint was answered with 500; a
retry handles it as if it were reported now.`,
    },
    rows,
  )
}
