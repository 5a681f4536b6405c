import { once } from 'node:events'
import { createWriteStream, renameSync, rmSync } from 'node:fs'
import type { Writable } from 'node:stream'
import type { Command } from 'commander'
import { isoTime } from '../../core/clock.ts'
import { namedPerson } from '../../storage/erasure/person-matcher.ts'
import { personData } from '../../storage/person-data.ts'
import { withData } from '../data.ts'
import { examples } from '../examples.ts'
import { CommandFailure } from '../failure.ts'
import { addSettings, settingsOf } from '../settings.ts'
import { addPersonArguments, nothingStored, type PersonAsked, personAsked } from './named.ts'

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
        else await writeTo(options.out, chunks)
      })
    })
}

/** One JSON object, a row a line, made as it is written: it may be of any size. */
function* exported(asked: PersonAsked, sections: ReturnType<typeof personData>): Generator<string> {
  const { organisation, id, person } = asked
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
    if (count > 0) found.push(`${section} ${count}`)
  }
  yield '}\n'
  process.stderr.write(`cairn: ${found.join(', ') || nothingStored(asked)}\n`)
}

/** Writes as fast as is read. */
async function write(to: Writable, chunks: Iterable<string>): Promise<void> {
  for (const chunk of chunks) if (!to.write(chunk)) await once(to, 'drain')
}

/** @throws CommandFailure that tells of this file, not of the data directory */
async function writeTo(path: string, chunks: Iterable<string>): Promise<void> {
  try {
    await writeFile(path, chunks)
  } catch (error) {
    const { syscall, code } = error as { syscall?: string; code?: string }
    if (syscall === undefined) throw error
    throw new CommandFailure(`${path} cannot be written (${code}): name another file with --out`)
  }
}

/** A file that is whole, or is not there. */
async function writeFile(path: string, chunks: Iterable<string>): Promise<void> {
  const draft = `${path}.${process.pid}`
  const file = createWriteStream(draft, { flags: 'wx', mode: 0o600 })
  try {
    await once(file, 'open')
    await write(file, chunks)
    file.end()
    await once(file, 'finish')
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}
