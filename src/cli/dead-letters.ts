import type { Database } from 'bun:sqlite'
import type { Command } from 'commander'
import { isoTime } from '../core/clock.ts'
import {
  forgetRetries,
  hasOpenRetries,
  type RetryVerdict,
  retryVerdicts,
  wantRetries,
} from '../storage/dead-letter-retries.ts'
import {
  type DeadLetter,
  deadLetterIds,
  dropDeadLetters,
  listDeadLetters,
} from '../storage/dead-letters.ts'
import { organisationNamed, serverHas, withData } from './data.ts'
import { examples } from './examples.ts'
import { CommandFailure, exitStatus, UsageFailure, warn } from './failure.ts'
import { counted, print, printJson, printTable } from './output.ts'
import { asStorage } from './own-storage.ts'
import { addSettings, settingsOf } from './settings.ts'

const mostListed = 1_000

interface Options {
  org?: string
  all?: boolean
  json?: boolean
}

/** A command of one organisation. */
const ofOrganisation = (command: Command) =>
  addSettings(command, ['data']).option(
    '--org <org>',
    'id or slug; may be left out where there is only one',
  )

export function addDeadLetters(cairn: Command): void {
  const letters = cairn
    .command('dead-letters')
    .description('events that the database refused: list them, store them after all, drop them')
    .addHelpText(
      'after',
      `${examples(
        'cairn dead-letters list',
        'cairn dead-letters retry --all',
        'cairn dead-letters drop 17 18',
      )}

A caller was told of such an event that it is rejected ("storage"). Its id is
free: where it was sent again and stored meanwhile, a retry finds a duplicate,
and the letter is gone. A completion, tick, health report or fingerprint was
answered by 500; a retry does it as if it were reported now. What is of a
person who was erased is refused.`,
    )
  addList(letters)
  addRetry(letters)
  addDrop(letters)
}

const shown = ({ receivedAt, ...letter }: DeadLetter) => ({
  ...letter,
  receivedAt: isoTime(receivedAt),
})

function addList(letters: Command): void {
  ofOrganisation(letters.command('list'))
    .description('list the events with the reason, the oldest first')
    .option('--json', 'print [{id, eventId, kind, reason, receivedAt}, …]')
    .addHelpText(
      'after',
      examples('cairn dead-letters list', 'cairn dead-letters list --org harbor --json'),
    )
    .action(async (options: Options, command: Command) => {
      const { data } = settingsOf(command, 'data')
      const { letters: listed, count } = await withData(data, database =>
        listDeadLetters(database, organisationNamed(database, options.org).row, mostListed),
      )
      if (count > listed.length) {
        warn(`these are the oldest ${listed.length} of ${count}`)
      }
      if (options.json) return printJson(listed.map(shown))
      printTable(
        ['id', 'received', 'kind', 'event', 'reason'],
        listed.map(letter => [
          String(letter.id),
          isoTime(letter.receivedAt),
          letter.kind,
          letter.eventId ?? '–',
          letter.reason,
        ]),
        'there are no dead letters',
      )
    })
}

/** The letters that a command is about. @throws where one is not there: then nothing is done */
function chosen(database: Database, orgRow: number, ids: string[], { all }: Options): number[] {
  if ((all ?? false) === ids.length > 0) {
    throw new UsageFailure('name dead letters by their ids, or give --all, one of the two')
  }
  const known = deadLetterIds(database, orgRow)
  if (all) return known
  const isKnown = new Set(known.map(String))
  const unknown = [...new Set(ids)].filter(id => !isKnown.has(id))
  if (unknown.length === 0) return [...new Set(ids.map(Number))]
  const some = unknown.slice(0, 5).map(id => `"${id.slice(0, 20)}"`)
  throw new CommandFailure(
    `nothing was done: there is no dead letter ${some.join(', ')}; "cairn dead-letters list" shows all`,
  )
}

function addRetry(letters: Command): void {
  ofOrganisation(letters.command('retry'))
    .description('store events after all; exit status 1 if any is refused again')
    .argument('[id...]', 'of dead letters')
    .option('--all', 'all that there are')
    .option('--json', 'print {stored, duplicate, refused, letters: [{id, verdict}]}')
    .addHelpText(
      'after',
      examples('cairn dead-letters retry 17', 'cairn dead-letters retry --all --json'),
    )
    .action(async (ids: string[], options: Options, command: Command) => {
      const { data } = settingsOf(command, 'data')
      const verdicts = await withData(data, database => {
        const { row } = organisationNamed(database, options.org)
        return retried(database, data, row, chosen(database, row, ids, options))
      })
      const tried = [...verdicts].map(([id, verdict]) => ({ id, verdict }))
      const count = (verdict: RetryVerdict) => tried.filter(of => of.verdict === verdict).length
      const counts = {
        stored: count('stored'),
        duplicate: count('duplicate'),
        refused: count('refused'),
      }
      if (counts.refused > 0) process.exitCode = exitStatus.failure
      if (options.json) return printJson({ ...counts, letters: tried })
      printTable(
        ['id', 'verdict'],
        tried.map(({ id, verdict }) => [String(id), verdict]),
        'there are no dead letters',
      )
    })
}

/** Has letters tried, by a running server or by this process. */
async function retried(
  database: Database,
  dataDir: string,
  orgRow: number,
  letters: readonly number[],
): Promise<Map<number, RetryVerdict>> {
  if (letters.length === 0) return new Map()
  wantRetries(database, orgRow, letters)
  await asStorage(dataDir, storage => storage.watch())
  const isDone = () => !hasOpenRetries(database, orgRow)
  if (!(await serverHas(dataDir, isDone))) {
    throw new CommandFailure(
      'the running server has not tried all of them yet, and goes on: see its log, and "cairn dead-letters list"',
    )
  }
  const verdicts = retryVerdicts(database, orgRow)
  forgetRetries(database, orgRow)
  return verdicts
}

function addDrop(letters: Command): void {
  ofOrganisation(letters.command('drop'))
    .description('delete events for good')
    .argument('[id...]', 'of dead letters')
    .option('--all', 'all that there are')
    .option('--json', 'print {dropped}')
    .addHelpText(
      'after',
      examples('cairn dead-letters drop 17 18', 'cairn dead-letters drop --all'),
    )
    .action(async (ids: string[], options: Options, command: Command) => {
      const { data } = settingsOf(command, 'data')
      const dropped = await withData(data, database => {
        const { row } = organisationNamed(database, options.org)
        return dropDeadLetters(database, row, chosen(database, row, ids, options))
      })
      if (options.json) return printJson({ dropped })
      print(`dropped ${counted(dropped, 'dead letter')}`)
    })
}
