import type { Erasure } from '../modules/people/schema.ts'
import type { ErasureProgress } from '../storage/interfaces/people.ts'
import type { Command, Flags } from './command.ts'
import { write, writeTo } from './download.ts'
import { CommandFailure, exitStatus, UsageFailure, warn } from './failure.ts'
import { refuseNoFile } from './files.ts'
import { addTarget, managed } from './manage.ts'
import { fieldLines, print, tell } from './output.ts'
import { addGroup, type Given, option, type Row, row } from './table.ts'

export function addPerson(cairn: Command): void {
  const person = addGroup(
    cairn,
    {
      name: 'person',
      about: "export or erase a person's data",
      examples: ['cairn person export ada --out ada.json', 'cairn person erase ada'],
    },
    rows,
  )
  addExport(person)
}

const personArgument = { '<id>': 'user id of the person' }
const anonymous = option('--anonymous', 'the id is an anonymous id')

/** The person as the API names them. */
export const personNamed = ({ id, anonymous = false }: Given): Record<string, string> =>
  anonymous ? { anonymousId: id } : { userId: id }

/** Asks to check the id, because a mistyped one is more likely than a person without data. */
const nothingStored = ({ anonymous = false }: Given) =>
  `nothing is stored of this person: check the id, and whether it is ${anonymous ? "a user's" : 'an anonymous one (--anonymous)'}`

/** Why an erasure is not finished, and what to do. */
const remedies = {
  unused_parts: `the data can no longer be read, but unused parts of the database may hold bytes of it until the database is compacted: at the next start, or by this command with --compact, while the server's writes wait. Of several machines, stop each in turn and run "cairn compact" there`,
  log: 'a long download still reads the old state of the database, so its log holds the erased data: run this again later, or restart the server',
} as const

type Receipt = Omit<Erasure, 'id' | 'unfinished' | 'copies'>

const rows: Row[] = [
  row<Receipt>({
    name: 'erase',
    about:
      'erase a person: nothing of theirs stays in any file but copies made before, totals stay, and what they send from now on is not stored',
    args: personArgument,
    options: [
      anonymous,
      option('--yes', 'do not ask'),
      option(
        '--compact',
        'rewrite a database of over 32 MB even while the server runs; its writes wait for that',
      ),
    ],
    async run(manager, given, onProgress) {
      const query = new URLSearchParams(personNamed(given))
      if (given.compact) query.set('compact', 'true')
      if (!given.yes) await confirm(given.id)
      const {
        id: _,
        unfinished,
        copies,
        ...receipt
      } = await manager.ask<Erasure>(`DELETE /people?${query}`, onProgress && { onProgress })
      if (unfinished !== null) {
        warn(`not finished: ${remedies[unfinished]}`)
        process.exitCode = exitStatus.failure
      }
      if (copies.length > 0) {
        warn(
          `copies of the database made before, in its directory, may hold this person until you delete them: ${copies.join(', ')}`,
        )
      }
      if (Object.values(receipt.erased).every(count => count === 0)) warn(nothingStored(given))
      return receipt
    },
    progress: ({ at, done }: ErasureProgress) => `${at}: ${done}`,
    show(receipt) {
      print(...fieldLines(receipt))
      tell('What this person sends from now on is not stored, until "cairn person allow".')
    },
    examples: [
      'cairn person erase ada',
      'cairn person erase ada --yes --json > receipt.json',
      'cairn person erase visitor-7 --anonymous --yes --compact',
    ],
  }),
  {
    name: 'allow',
    about: 'accept again what a person sends who was erased and has come back',
    args: personArgument,
    options: [anonymous],
    route: 'POST /people/allow',
    body: personNamed,
    show: () => print('What this person sends is accepted again.'),
    examples: ['cairn person allow ada', 'cairn person allow visitor-7 --anonymous'],
  },
]

/** Asks for the id once more. @throws UsageFailure if it is another, or nobody can be asked */
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

function addExport(person: Command): void {
  addTarget(
    person
      .command('export')
      .description(
        'everything that is stored of a person, as JSON; exit status 1, and no file, if that is nothing',
      )
      .argument('<id>', personArgument['<id>'])
      .addOption(anonymous)
      .option('--out <file>', 'write it to a file that only this user can read'),
  )
    .examples(
      'cairn person export ada --out ada.json',
      'cairn person export visitor-7 --anonymous | jq .events',
    )
    .action(async (id: string, options: Flags<'out', 'anonymous'>, command: Command) => {
      const query = new URLSearchParams(personNamed({ id, ...options }))
      const { out } = options
      if (out !== undefined) refuseNoFile(out)
      await managed(command, async ({ download }) => {
        const chunks = counting(await download(`GET /people?${query}`))
        if (out === undefined) await write(process.stdout, chunks)
        else await writeTo(out, chunks)
      }).catch(error => {
        const isNothing = error.code === 'person_not_found'
        throw isNothing ? new CommandFailure(nothingStored(options)) : error
      })
    })
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
