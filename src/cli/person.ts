import type { Erasure } from '../modules/people/schema.ts'
import type { ErasureProgress } from '../storage/interfaces/people.ts'
import type { Command, Flags } from './command.ts'
import { write, writeTo } from './download.ts'
import { CommandFailure, exitStatus, UsageFailure, warn } from './failure.ts'
import { requireFile } from './files.ts'
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

export const personArgument = { '<id>': 'user ID of the person' }
export const anonymous = option('--anonymous', 'the ID is an anonymous ID')

export const personNamed = ({ id, anonymous = false }: Given): Record<string, string> =>
  anonymous ? { anonymousId: id } : { userId: id }

export const nothingStored = ({ anonymous = false }: Given) =>
  `no data for this person: check the ID, and whether it is ${anonymous ? 'a user ID' : 'an anonymous ID (--anonymous)'}`

const remedies = {
  unused_parts: `unused parts of the database may hold bytes of the data until the database is compacted: restart the server, or run this again with --compact, which blocks writes. With several machines, stop each in turn and run "cairn compact" there`,
  log: 'a running download still reads the old data: run this again later, or restart the server',
} as const

type Receipt = Omit<Erasure, 'id' | 'unfinished' | 'copies'>

const rows: Row[] = [
  row<Receipt>({
    name: 'erase',
    about:
      'erase a person from all files except older copies; totals stay, and new data from them is discarded',
    args: personArgument,
    options: [
      anonymous,
      option('--yes', 'do not ask for confirmation'),
      option(
        '--compact',
        'rewrite a database of over 32 MB while the server runs; this blocks writes',
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
          `older copies of the database may hold this person until you delete them: ${copies.join(', ')}`,
        )
      }
      if (Object.values(receipt.erased).every(count => count === 0)) warn(nothingStored(given))
      return receipt
    },
    progress: ({ at, done }: ErasureProgress) => `${at}: ${done}`,
    show(receipt) {
      print(...fieldLines(receipt))
      tell('New data from this person is discarded until "cairn person allow".')
    },
    examples: [
      'cairn person erase ada',
      'cairn person erase ada --yes --json > receipt.json',
      'cairn person erase visitor-7 --anonymous --yes --compact',
    ],
  }),
  {
    name: 'allow',
    about: 'lift an erasure, so that new data from the person is stored',
    args: personArgument,
    options: [anonymous],
    route: 'POST /people/allow',
    body: personNamed,
    show: (_, { id }) => print(`Lifted the erasure of ${id}.`),
    examples: ['cairn person allow ada', 'cairn person allow visitor-7 --anonymous'],
  },
]

/** Asks for the ID again. @throws UsageFailure if it differs, or there is no terminal */
async function confirm(id: string): Promise<void> {
  if (!process.stdin.isTTY) {
    throw new UsageFailure('erasing cannot be undone: confirm it with --yes')
  }
  process.stderr.write('This cannot be undone. Type the ID to confirm: ')
  for await (const line of console) {
    if (line.trim() === id) return
    break
  }
  throw new UsageFailure('erased nothing: the ID differs')
}

function addExport(person: Command): void {
  addTarget(
    person
      .command('export')
      .description('export all data of a person as JSON; exit status 1 if there is none')
      .argument('<id>', personArgument['<id>'])
      .addOption(anonymous)
      .option('--out <file>', 'write a file that only this user can read'),
  )
    .examples(
      'cairn person export ada --out ada.json',
      'cairn person export visitor-7 --anonymous | jq .events',
    )
    .action(async (id: string, options: Flags<'out', 'anonymous'>, command: Command) => {
      const query = new URLSearchParams(personNamed({ id, ...options }))
      const { out } = options
      if (out !== undefined) requireFile(out)
      await managed(command, async ({ download }) => {
        const chunks = counting(await download(`GET /people/export?${query}`))
        if (out === undefined) await write(process.stdout, chunks)
        else await writeTo(out, chunks)
      }).catch(error => {
        const isNothing = error.code === 'person_not_found'
        throw isNothing ? new CommandFailure(nothingStored(options)) : error
      })
    })
}

/** Passes an export on, then prints the number of rows of each section. A row is one line. */
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
  // Lines before the first section.
  counts.delete('')
  tell(`cairn: ${[...counts].map(([name, count]) => `${name} ${count}`).join(', ')}`)
}
