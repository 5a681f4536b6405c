import type { Database } from 'bun:sqlite'
import type { Command } from 'commander'
import { isoTime, isoTimeOrNull } from '../../core/clock.ts'
import { isHeld } from '../../server/lock.ts'
import { compact, databaseSize, emptyLog } from '../../storage/compact.ts'
import { copiesBeside } from '../../storage/erasure/copies-beside.ts'
import { erase } from '../../storage/erasure/erase.ts'
import { type ErasureRow, ErasureTable } from '../../storage/erasure/erasure-table.ts'
import { type ErasedCounts, erasedKinds } from '../../storage/erasure/erasure-work.ts'
import { beginErasure } from '../../storage/erasure/erasures.ts'
import { whileRewriting } from '../../storage/rewriting.ts'
import { withData } from '../data.ts'
import { examples } from '../examples.ts'
import { exitStatus, UsageFailure, warn } from '../failure.ts'
import { print, printColumns, printJson } from '../output.ts'
import { addSettings, settingsOf } from '../settings.ts'
import { addPersonArguments, nothingStored, personAsked } from './named.ts'

interface Options {
  anonymous?: boolean
  yes?: boolean
  compact?: boolean
  json?: boolean
}

/** What is kept of an erasure: nothing that tells whose it was, but for who has the key and the name. */
interface Receipt {
  organisation: string
  /** The person's hash, under the key of `erasures.jsonl`. */
  person: string
  askedAt: string
  /** Null while a file may still hold something of them. */
  finishedAt: string | null
  erased: ErasedCounts
}

/** How long readers as of before are waited for, and how often it is tried, milliseconds. */
const patienceMs = 30_000
const pauseMs = 250

/** After a step others have the database for this many times as long, at least so many milliseconds. */
const pauseFactor = 2
const leastPauseMs = 2

/** So large a database is compacted without being asked beside a running server: writes wait half a second. */
const quickBytes = 32 * 1024 * 1024

export function addErase(person: Command): void {
  addPersonArguments(addSettings(person.command('erase'), ['data']))
    .description(
      'erase a person: nothing of theirs is left in any file but copies made before, totals stay as they are, and nothing more is taken of them',
    )
    .option('--yes', 'do not ask')
    .option(
      '--compact',
      `write a database of over ${quickBytes / 1024 ** 2} MB anew beside a running server too, for which its writes wait`,
    )
    .option(
      '--json',
      'print the receipt {organisation, person, askedAt, finishedAt, erased} as JSON',
    )
    .addHelpText(
      'after',
      examples(
        'cairn person erase harbor ada',
        'cairn person erase harbor ada --yes --json > receipt.json',
        'cairn person erase harbor visitor-7 --anonymous --yes --compact',
      ),
    )
    .action(async (org: string, id: string, options: Options, command: Command) => {
      const { data } = settingsOf(command, 'data')
      await withData(data, async database => {
        const asked = personAsked(database, org, id, options)
        if (!options.yes) await confirm(id)
        const { row, left } = await whileRewriting(data, async () => {
          const row = beginErasure(database, data, asked, Date.now())
          await eraseInSteps(database, row)
          return { row, left: await cleanFiles(database, data, options) }
        })
        if (left === null) new ErasureTable(database).finish(row, Date.now())
        else {
          warn(`not finished: ${left}`)
          process.exitCode = exitStatus.failure
        }
        warnOfCopies(data)
        const receipt = receiptOf(new ErasureTable(database).get(row)!)
        if (isNothing(receipt)) warn(nothingStored(asked))
        if (options.json) printJson(receipt)
        else printReceipt(receipt)
      })
    })
}

async function confirm(id: string): Promise<void> {
  if (!process.stdin.isTTY) {
    throw new UsageFailure('erasing cannot be undone: say --yes where nobody can be asked')
  }
  process.stderr.write('This cannot be undone. Type the id once more to go on: ')
  for await (const line of console) {
    if (line.trim() === id) return
    break
  }
  throw new UsageFailure('that is not the id: nothing was erased')
}

/** Beside a running server, whose commits go first. */
async function eraseInSteps(database: Database, row: ErasureRow): Promise<void> {
  const { stderr } = process
  const done = new Map<string, number>()
  let startedAt = performance.now()
  for (const step of erase(database, row)) {
    done.set(step.at, (done.get(step.at) ?? 0) + step.done)
    if (stderr.isTTY) stderr.write(`\r\u001b[K${step.at}: ${done.get(step.at)}`)
    const pauseMs = step.at === 'reading events' ? 0 : (performance.now() - startedAt) * pauseFactor
    if (pauseMs > 0) await Bun.sleep(Math.max(leastPauseMs, pauseMs))
    startedAt = performance.now()
  }
  if (stderr.isTTY) stderr.write('\r\u001b[K')
}

/**
 * Takes what was erased out of unused parts of the database, and out of its log, for which whoever
 * reads as of before has to be waited for.
 *
 * @returns why that is not done, and what to do; null where it is
 */
async function cleanFiles(
  database: Database,
  dataDir: string,
  options: Pick<Options, 'compact'>,
): Promise<string | null> {
  const { bytes } = databaseSize(database)
  const isQuick = options.compact || bytes <= quickBytes || !isHeld(dataDir)
  if (isQuick) compact(database, dataDir)
  const deadline = performance.now() + patienceMs
  let isEmpty = emptyLog(database)
  while (!isEmpty && performance.now() < deadline) {
    await Bun.sleep(pauseMs)
    isEmpty = emptyLog(database)
  }
  if (!isQuick) {
    return `nobody can read it any more, but unused parts of the database (${Math.ceil(bytes / 1024 ** 2)} MB) may hold bytes of it until it is written anew: at the next start, or by this command with --compact, for which the server's writes wait`
  }
  if (isEmpty) return null
  return 'a long download reads the database as of before, so that its log still holds what was erased: run this again later, or restart the server'
}

/** What they hold is not this command's to change; a restore erases it again. */
function warnOfCopies(dataDir: string): void {
  const copies = copiesBeside(dataDir)
  if (copies.length === 0) return
  warn(
    `copies of the database made before may hold this person until you delete them: ${copies.join(', ')}`,
  )
}

const receiptOf = ({ orgId, person, askedAt, finishedAt, receipt }: ErasureRow): Receipt => ({
  organisation: orgId,
  person,
  askedAt: isoTime(askedAt),
  finishedAt: isoTimeOrNull(finishedAt),
  erased: JSON.parse(receipt ?? '{}'),
})

const isNothing = ({ erased }: Receipt) => erasedKinds.every(kind => !erased[kind])

function printReceipt({ organisation, person, askedAt, finishedAt, erased }: Receipt): void {
  printColumns([
    ['organisation', organisation],
    ['person', `${person} (a hash)`],
    ['asked', askedAt],
    ['finished', finishedAt ?? 'not yet'],
    ...erasedKinds.map(kind => [kind, String(erased[kind] ?? 0)]),
  ])
  print('what this person reports from now on is refused; "cairn person allow" takes it again')
}
