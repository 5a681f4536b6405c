import { once } from 'node:events'
import { createWriteStream, renameSync, rmSync } from 'node:fs'
import type { Writable } from 'node:stream'
import type { Command } from 'commander'
import { isoTime } from '../../core/clock.ts'
import { namedPerson } from '../../storage/erasure/person-matcher.ts'
import { personData } from '../../storage/person-data.ts'
import { withData } from '../data.ts'
import { examples } from '../examples.ts'
import { addSettings, settingsOf } from '../settings.ts'
import { addPersonArguments, type PersonAsked, personAsked } from './named.ts'

interface Options {
  anonymous?: boolean
  out?: string
}

export function addExport(person: Command): void {
  addPersonArguments(addSettings(person.command('export'), ['data']))
    .description('everything that is stored of a person, as JSON')
    .option('--out <file>', 'write it to a file, for this user alone')
    .addHelpText(
      'after',
      examples(
        'cairn person export harbor ada --out ada.json',
        'cairn person export harbor visitor-7 --anonymous | jq .events',
      ),
    )
    .action(async (org: string, id: string, options: Options, command: Command) => {
      const { data } = settingsOf(command, 'data')
      await withData(data, async database => {
        const asked = personAsked(database, org, id, options)
        const chunks = exported(
          asked,
          personData(database, asked.orgRow, asked.person, namedPerson(asked.person)),
        )
        if (options.out === undefined) await write(process.stdout, chunks)
        else await writeFile(options.out, chunks)
      })
    })
}

/** One JSON object, a row a line, made as it is written: it may be of any size. */
function* exported(
  { organisation, id, person }: PersonAsked,
  sections: ReturnType<typeof personData>,
): Generator<string> {
  const { id: orgId, slug, name } = organisation
  const who = person.startsWith('u') ? { userId: id } : { anonymousId: id }
  yield `{"organisation":${JSON.stringify({ id: orgId, slug, name })},\n`
  yield `"person":${JSON.stringify(who)},\n"exportedAt":"${isoTime(Date.now())}"`
  const found: string[] = []
  for (const { section, rows } of sections) {
    yield `,\n"${section}":[`
    let count = 0
    for (const row of rows) yield `${count++ === 0 ? '' : ','}\n${JSON.stringify(row)}`
    yield ']'
    if (count > 0) found.push(`${count} ${section}`)
  }
  yield '}\n'
  process.stderr.write(`${found.join(', ') || 'nothing is stored of this person'}\n`)
}

/** Writes as fast as is read. */
async function write(to: Writable, chunks: Iterable<string>): Promise<void> {
  for (const chunk of chunks) if (!to.write(chunk)) await once(to, 'drain')
}

/** A file that is whole, or is not there. */
async function writeFile(path: string, chunks: Iterable<string>): Promise<void> {
  const draft = `${path}.${process.pid}`
  const file = createWriteStream(draft, { flags: 'wx', mode: 0o600 })
  try {
    await write(file, chunks)
    file.end()
    await once(file, 'finish')
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}
