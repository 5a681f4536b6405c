import type { DeadLetter, Retried, RetryVerdict } from '../modules/operations/port.ts'
import type { Command } from './command.ts'
import { CommandFailure, exitStatus, UsageFailure, warn } from './failure.ts'
import { managed } from './manage.ts'
import { counted, print, printJson, printTable } from './output.ts'
import { addSettings } from './settings.ts'

interface Options {
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
    .examples(
      'cairn dead-letters list',
      'cairn dead-letters retry --all',
      'cairn dead-letters drop 17 18',
    )
    .notes(`A caller was told of such an event that it is rejected ("storage"). Its id is
free: where it was sent again and stored meanwhile, a retry finds a duplicate,
and the letter is gone. A completion, tick, health report or fingerprint was
answered by 500; a retry does it as if it were reported now. What is of a
person who was erased is refused.`)
  addList(letters)
  addRetry(letters)
  addDrop(letters)
}

function addList(letters: Command): void {
  ofOrganisation(letters.command('list'))
    .description('list the events with the reason, the oldest first')
    .option('--json', 'print [{id, eventId, kind, reason, receivedAt}, …]')
    .examples('cairn dead-letters list', 'cairn dead-letters list --org harbor --json')
    .action(async (options: Options, command: Command) => {
      type Listed = Omit<DeadLetter, 'receivedAt'> & { receivedAt: string }
      const { letters: listed, count } = await managed(command, ({ ask }) =>
        ask<{ letters: Listed[]; count: number }>('GET /dead-letters'),
      )
      if (count > listed.length) {
        warn(`these are the oldest ${listed.length} of ${count}`)
      }
      if (options.json) {
        return printJson(
          listed.map(({ id, receivedAt, eventId, kind, reason }) => ({
            id,
            receivedAt,
            eventId,
            kind,
            reason,
          })),
        )
      }
      printTable(
        ['id', 'received', 'kind', 'event', 'reason'],
        listed.map(letter => [
          String(letter.id),
          letter.receivedAt,
          letter.kind,
          letter.eventId ?? '–',
          letter.reason,
        ]),
        'there are no dead letters',
      )
    })
}

/** The letters that a command is about. @throws where one is not there: then nothing is done */
function chosen(ids: string[], { all }: Options): { ids: number[] } | { all: true } {
  if ((all ?? false) === ids.length > 0) {
    throw new UsageFailure('name dead letters by their ids, or give --all, one of the two')
  }
  if (all) return { all }
  const unknown = ids.filter(id => !/^[1-9]\d{0,14}$/.test(id))
  if (unknown.length === 0) return { ids: ids.map(Number) }
  const some = unknown.slice(0, 5).map(id => `"${id.slice(0, 20)}"`)
  throw new CommandFailure(
    `there is no dead letter ${some.join(', ')}: nothing was done; "cairn dead-letters list" shows all`,
  )
}

function addRetry(letters: Command): void {
  ofOrganisation(letters.command('retry'))
    .description('store events after all; exit status 1 if any is refused again')
    .argument('[id...]', 'of dead letters')
    .option('--all', 'all that there are')
    .option('--json', 'print {stored, duplicate, refused, letters: [{id, verdict}]}')
    .examples('cairn dead-letters retry 17', 'cairn dead-letters retry --all --json')
    .action(async (ids: string[], options: Options, command: Command) => {
      const body = chosen(ids, options)
      const { letters: tried } = await managed(command, ({ ask }) =>
        ask<{ letters: Retried[] }>('POST /dead-letters/retry', { body }),
      )
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

function addDrop(letters: Command): void {
  ofOrganisation(letters.command('drop'))
    .description('delete events for good')
    .argument('[id...]', 'of dead letters')
    .option('--all', 'all that there are')
    .option('--json', 'print {dropped}')
    .examples('cairn dead-letters drop 17 18', 'cairn dead-letters drop --all')
    .action(async (ids: string[], options: Options, command: Command) => {
      const body = chosen(ids, options)
      const { dropped } = await managed(command, ({ ask }) =>
        ask<{ dropped: number }>('POST /dead-letters/drop', { body }),
      )
      if (options.json) return printJson({ dropped })
      print(`dropped ${counted(dropped, 'dead letter')}`)
    })
}
