import type { Static } from '@sinclair/typebox'
import type {
  DeadLetterList,
  DroppedLetters,
  LettersAsked,
  RetriedLetters,
} from '../modules/operations/model.ts'
import type { RetryVerdict } from '../modules/operations/port.ts'
import type { Command } from './command.ts'
import { CommandFailure, exitStatus, UsageFailure, warn } from './failure.ts'
import { addOrgOption, asked } from './manage.ts'
import { counted, print, printJson, printTable } from './output.ts'

export function addDeadLetters(cairn: Command): void {
  const letters = cairn
    .command('dead-letters')
    .description('events that the database refused: list, retry or drop them')
    .examples(
      'cairn dead-letters list',
      'cairn dead-letters retry --all',
      'cairn dead-letters drop 17 18',
    )
    .notes(`The caller was told that such an event was rejected ("storage"). Its id is free:
if it was sent again and stored since, a retry finds a duplicate, and the letter
is gone. A completion, tick, health report or fingerprint was answered with 500;
a retry handles it as if it were reported now. Data of a person who was erased
is refused.`)
  addList(letters)
  addRetry(letters)
  addDrop(letters)
}

function addList(letters: Command): void {
  addOrgOption(letters.command('list'))
    .description('list the events and why they were refused, oldest first')
    .option('--json', 'print [{id, eventId, kind, reason, receivedAt}, …]')
    .examples('cairn dead-letters list', 'cairn dead-letters list --org harbor --json')
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const { letters, count } = await asked<typeof DeadLetterList>(command, 'GET /dead-letters')
      if (count > letters.length) warn(`showing the oldest ${letters.length} of ${count}`)
      if (json) return printJson(letters.map(({ organisation, ...letter }) => letter))
      printTable(
        ['id', 'received', 'kind', 'event', 'reason'],
        letters.map(({ id, receivedAt, kind, eventId, reason }) => [
          ...[String(id), receivedAt, kind, eventId ?? '–', reason],
        ]),
        'there are no dead letters',
      )
    })
}

/** A command about some dead letters, or all. */
const ofLetters = (letters: Command, name: string) =>
  addOrgOption(letters.command(name))
    .argument('[id...]', 'ids of dead letters')
    .option('--all', 'all dead letters')

interface Chosen {
  all?: boolean
  json?: boolean
}

/** The dead letters that a command is about. @throws if one does not exist; then nothing is done */
function chosen(ids: string[], { all }: Chosen): Static<typeof LettersAsked> {
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
  ofLetters(letters, 'retry')
    .description('store events after all; exit status 1 if any is refused again')
    .option('--json', 'print {stored, duplicate, refused, letters: [{id, verdict}]}')
    .examples('cairn dead-letters retry 17', 'cairn dead-letters retry --all --json')
    .action(async (ids: string[], options: Chosen, command: Command) => {
      const body = chosen(ids, options)
      const { letters: tried } = await asked<typeof RetriedLetters>(
        command,
        'POST /dead-letters/retry',
        { body },
      )
      const count = (wanted: RetryVerdict) =>
        tried.filter(({ verdict }) => verdict === wanted).length
      const [stored, duplicate] = [count('stored'), count('duplicate')]
      const refused = count('refused')
      if (refused > 0) process.exitCode = exitStatus.failure
      if (options.json) return printJson({ stored, duplicate, refused, letters: tried })
      printTable(
        ['id', 'verdict'],
        tried.map(({ id, verdict }) => [String(id), verdict]),
        'there are no dead letters',
      )
    })
}

function addDrop(letters: Command): void {
  ofLetters(letters, 'drop')
    .description('delete events for good')
    .option('--json', 'print {dropped}')
    .examples('cairn dead-letters drop 17 18', 'cairn dead-letters drop --all')
    .action(async (ids: string[], options: Chosen, command: Command) => {
      const what = 'POST /dead-letters/drop'
      const { dropped } = await asked<typeof DroppedLetters>(command, what, {
        body: chosen(ids, options),
      })
      if (options.json) return printJson({ dropped })
      print(`dropped ${counted(dropped, 'dead letter')}`)
    })
}
