import type { Static } from '@sinclair/typebox'
import type { Erasure } from '../modules/people/model.ts'
import type { ErasureProgress } from '../modules/people/port.ts'
import type { Command, Flags } from './command.ts'
import { write, writeTo } from './download.ts'
import { CommandFailure, exitStatus, UsageFailure, warn } from './failure.ts'
import { refuseNoFile } from './files.ts'
import { addUrl, asked, managed, type Named } from './manage.ts'
import { print, printColumns, printJson, tell } from './output.ts'
import { liveLine } from './progress.ts'

export function addPerson(cairn: Command): void {
  const person = cairn
    .command('person')
    .description("export or erase a person's data")
    .examples(
      'cairn person export harbor ada --out ada.json',
      'cairn person erase harbor ada',
      'cairn person allow harbor ada',
    )
  addExport(person)
  addErase(person)
  addAllow(person)
}

/** The longest id that the API takes. */
const longestId = 128

/** The options of every command about a person. */
interface PersonOptions {
  anonymous?: boolean
}

/** The arguments and the option with which every command here names a person. */
const personCommand = (person: Command, name: string): Command =>
  addUrl(person.command(name))
    .argument('<org>', 'id or slug of the organisation')
    .argument('<person>', 'user id of the person')
    .option('--anonymous', 'the id is an anonymous id')

/** The person as the API names them. */
export function personNamed(
  id: string,
  { anonymous = false }: PersonOptions,
): Record<string, string> {
  if (id === '' || id.length > longestId) {
    throw new UsageFailure(`the id of a person must have 1 to ${longestId} characters`)
  }
  return anonymous ? { anonymousId: id } : { userId: id }
}

/** Asks to check the id, because a mistyped one is more likely than a person without data. */
const nothingStored = ({ anonymous = false }: PersonOptions) =>
  `nothing is stored of this person: see that the id is right, and whether it is ${anonymous ? "a user's" : 'an anonymous one (--anonymous)'}`

/** The organisation, which is always an argument. */
const ofOrganisation = (org: string): Named => ({ org, how: 'as the first argument' })

function addExport(person: Command): void {
  personCommand(person, 'export')
    .description(
      'everything that is stored of a person, as JSON; exit status 1, and no file, if that is nothing',
    )
    .option('--out <file>', 'write it to a file that only this user can read')
    .examples(
      'cairn person export harbor ada --out ada.json',
      'cairn person export harbor visitor-7 --anonymous | jq .events',
    )
    .action(
      async (org: string, id: string, options: PersonOptions & Flags<'out'>, command: Command) => {
        const query = new URLSearchParams(personNamed(id, options))
        const { out } = options
        if (out !== undefined) refuseNoFile(out)
        await managed(
          command,
          async ({ download }) => {
            const chunks = counting(await download(`GET /people?${query}`))
            if (out === undefined) await write(process.stdout, chunks)
            else await writeTo(out, chunks)
          },
          ofOrganisation(org),
        ).catch(error => {
          throw error.code === 'person_not_found'
            ? new CommandFailure(nothingStored(options))
            : error
        })
      },
    )
}

/** Passes an export on, and reports at its end how many rows each section has: a row is one line. */
async function* counting(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  const counts = new Map<string, number>()
  let section = ''
  let rest = ''
  for await (const chunk of chunks) {
    yield chunk
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    for (const line of lines) {
      if (line.startsWith('{')) counts.set(section, (counts.get(section) ?? 0) + 1)
      section = /^"(\w+)":\[$/.exec(line)?.[1] ?? section
    }
  }
  // The object itself begins before any section.
  counts.delete('')
  tell(`cairn: ${[...counts].map(([name, count]) => `${name} ${count}`).join(', ')}`)
}

/** Why an erasure is not finished, and what to do. */
const remedies = {
  unused_parts: `the data can no longer be read, but unused parts of the database may hold bytes of it until the database is compacted: at the next start, or by this command with --compact, while the server's writes wait. Of several machines, stop each in turn and run "cairn compact" there`,
  log: 'a long download still reads the old state of the database, so its log holds the erased data: run this again later, or restart the server',
} as const

function addErase(person: Command): void {
  personCommand(person, 'erase')
    .description(
      'erase a person: nothing of theirs is left in any file but copies made before, totals stay as they are, and nothing more is taken of them',
    )
    .option('--yes', 'do not ask')
    .option(
      '--compact',
      'rewrite a database of over 32 MB even while the server runs; its writes wait for that',
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
    .action(
      async (
        org: string,
        id: string,
        options: PersonOptions & Flags<never, 'yes' | 'compact' | 'json'>,
        command: Command,
      ) => {
        const query = new URLSearchParams(personNamed(id, options))
        if (options.compact) query.set('compact', 'true')
        if (!options.yes) await confirm(id)
        const line = liveLine()
        const onProgress = ({ at, done }: ErasureProgress) => line.show(`${at}: ${done}`)
        const erasure = await asked<typeof Erasure>(
          command,
          `DELETE /people?${query}`,
          { onProgress },
          ofOrganisation(org),
        ).finally(line.end)
        const { id: _, unfinished, copies, ...receipt } = erasure
        if (unfinished !== null) {
          warn(`not finished: ${remedies[unfinished]}`)
          process.exitCode = exitStatus.failure
        }
        if (copies.length > 0) warnOfCopies(copies)
        if (Object.values(receipt.erased).every(count => count === 0)) warn(nothingStored(options))
        if (options.json) printJson(receipt)
        else printReceipt(receipt)
      },
    )
}

async function confirm(id: string): Promise<void> {
  if (!process.stdin.isTTY) {
    throw new UsageFailure('erasing cannot be undone: use --yes if nobody can be asked')
  }
  process.stderr.write('This cannot be undone. Type the id again to go on: ')
  for await (const line of console) {
    if (line.trim() === id) return
    break
  }
  throw new UsageFailure('that is not the id: nothing was erased')
}

/** An erasure does not change what copies hold; a restore erases the person again. */
function warnOfCopies(copies: readonly string[]): void {
  warn(
    `copies of the database made before, in its directory, may hold this person until you delete them: ${copies.join(', ')}`,
  )
}

type Receipt = Omit<Static<typeof Erasure>, 'id' | 'unfinished' | 'copies'>

function printReceipt({ organisation, person, askedAt, finishedAt, erased }: Receipt): void {
  printColumns([
    ['organisation', organisation],
    ['person', `${person} (a hash)`],
    ['asked', askedAt],
    ['finished', finishedAt ?? 'not yet'],
    ...Object.entries(erased).map(([kind, count]) => [kind, String(count)]),
  ])
  print('what this person reports from now on is not kept; "cairn person allow" accepts it again')
}

function addAllow(person: Command): void {
  personCommand(person, 'allow')
    .description('take what a person reports again, who was erased and has come back')
    .examples('cairn person allow harbor ada', 'cairn person allow harbor visitor-7 --anonymous')
    .action(async (org: string, id: string, options: PersonOptions, command: Command) => {
      const body = personNamed(id, options)
      await asked(command, 'POST /people/allow', { body }, ofOrganisation(org))
      print('what this person reports is accepted again')
    })
}
