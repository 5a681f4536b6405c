import { once } from 'node:events'
import { createWriteStream, renameSync, rmSync } from 'node:fs'
import type { Writable } from 'node:stream'
import type { Command } from '../command.ts'
import { CommandFailure } from '../failure.ts'
import { draftOf, refuseNoFile } from '../files.ts'
import { addUrl, managed } from '../manage.ts'
import { tell } from '../output.ts'
import {
  addPersonArguments,
  nothingStored,
  ofOrganisation,
  type PersonOptions,
  personNamed,
} from './named.ts'

interface Options extends PersonOptions {
  out?: string
}

export function addExport(person: Command): void {
  addPersonArguments(addUrl(person.command('export')))
    .description(
      'everything that is stored of a person, as JSON; exit status 1, and no file, if that is nothing',
    )
    .option('--out <file>', 'write it to a file, for this user alone')
    .examples(
      'cairn person export harbor ada --out ada.json',
      'cairn person export harbor visitor-7 --anonymous | jq .events',
    )
    .action(async (org: string, id: string, options: Options, command: Command) => {
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
        throw error.code === 'person_not_found' ? new CommandFailure(nothingStored(options)) : error
      })
    })
}

/** Passes an export on, and tells at its end how much of what is in it: it has a row a line. */
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

/** Writes as fast as is read. */
async function write(to: Writable, chunks: AsyncIterable<string>): Promise<void> {
  for await (const chunk of chunks) if (!to.write(chunk)) await once(to, 'drain')
}

/** @throws CommandFailure that tells of this file, not of the data directory */
async function writeTo(path: string, chunks: AsyncIterable<string>): Promise<void> {
  try {
    await writeFile(path, chunks)
  } catch (error) {
    const { syscall, code } = error as { syscall?: string; code?: string }
    if (syscall === undefined) throw error
    throw new CommandFailure(`${path} cannot be written (${code}): name another file with --out`)
  }
}

/** A file that is whole, or is not there. */
async function writeFile(path: string, chunks: AsyncIterable<string>): Promise<void> {
  const draft = draftOf(path)
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
