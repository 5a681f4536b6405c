import type { ErasureProgress } from '../../modules/people/port.ts'
import type { Command } from '../command.ts'
import { exitStatus, UsageFailure, warn } from '../failure.ts'
import { addUrl, managed } from '../manage.ts'
import { print, printColumns, printJson } from '../output.ts'
import { progressLine } from '../progress.ts'
import {
  addPersonArguments,
  nothingStored,
  ofOrganisation,
  type PersonOptions,
  personNamed,
} from './named.ts'

interface Options extends PersonOptions {
  yes?: boolean
  compact?: boolean
  json?: boolean
}

/** What is kept of an erasure: nothing that tells whose it was, but for who has the key and the name. */
interface Receipt {
  organisation: string
  person: string
  askedAt: string
  finishedAt: string | null
  erased: Record<string, number>
}

interface Erasure extends Receipt {
  id: string
  unfinished: keyof typeof remedies | null
  copies: string[]
}

/** Why an erasure is not finished, and what to do. */
const remedies = {
  unused_parts:
    "nobody can read it any more, but unused parts of the database may hold bytes of it until it is written anew: at the next start, or by this command with --compact, for which the server's writes wait",
  log: 'a long download reads the database as of before, so that its log still holds what was erased: run this again later, or restart the server',
} as const

export function addErase(person: Command): void {
  addPersonArguments(addUrl(person.command('erase')))
    .description(
      'erase a person: nothing of theirs is left in any file but copies made before, totals stay as they are, and nothing more is taken of them',
    )
    .option('--yes', 'do not ask')
    .option(
      '--compact',
      'write a database of over 32 MB anew beside a running server too, for which its writes wait',
    )
    .option(
      '--json',
      'print the receipt {organisation, person, askedAt, finishedAt, erased} as JSON',
    )
    .examples(
      'cairn person erase harbor ada',
      'cairn person erase harbor ada --yes --json > receipt.json',
      'cairn person erase harbor visitor-7 --anonymous --yes --compact',
    )
    .action(async (org: string, id: string, options: Options, command: Command) => {
      const query = new URLSearchParams(personNamed(id, options))
      if (options.compact) query.set('compact', 'true')
      if (!options.yes) await confirm(id)
      const progress = progressLine()
      const onProgress = ({ at, done }: ErasureProgress) => {
        if (progress.isTerminal) progress.show(at, () => `${at}: ${done}`)
      }
      const {
        id: _,
        unfinished,
        copies,
        ...receipt
      } = await managed(
        command,
        ({ ask }) => ask<Erasure>(`DELETE /people?${query}`, { onProgress }),
        ofOrganisation(org),
      ).finally(progress.end)
      if (unfinished !== null) {
        warn(`not finished: ${remedies[unfinished]}`)
        process.exitCode = exitStatus.failure
      }
      if (copies.length > 0) warnOfCopies(copies)
      if (Object.values(receipt.erased).every(count => count === 0)) warn(nothingStored(options))
      if (options.json) printJson(receipt)
      else printReceipt(receipt)
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

/** What they hold is not an erasure's to change; a restore erases it again. */
function warnOfCopies(copies: readonly string[]): void {
  warn(
    `copies of the database made before, in its directory, may hold this person until you delete them: ${copies.join(', ')}`,
  )
}

function printReceipt({ organisation, person, askedAt, finishedAt, erased }: Receipt): void {
  printColumns([
    ['organisation', organisation],
    ['person', `${person} (a hash)`],
    ['asked', askedAt],
    ['finished', finishedAt ?? 'not yet'],
    ...Object.entries(erased).map(([kind, count]) => [kind, String(count)]),
  ])
  print('what this person reports from now on is not kept; "cairn person allow" takes it again')
}
