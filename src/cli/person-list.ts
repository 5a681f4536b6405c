import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Postgres } from '../storage/postgres/database/connection.ts'
import { inspectDatabase } from '../storage/postgres/database/inspection.ts'
import { listErasures, reapplyErasures } from '../storage/postgres/people/erasure-list.ts'
import { latestErasuresIn } from '../storage/sqlite/erasure/erasure-list.ts'
import type { Command, Flags } from './command.ts'
import { writeTo } from './download.ts'
import { CommandFailure, exitStatus, warn } from './failure.ts'
import { refuseNoFile } from './files.ts'
import { counted, print, printJson, tell } from './output.ts'
import { liveLine } from './progress.ts'
import { addSettings, settingsOf } from './settings.ts'

/**
 * The list of erased people, for a database that nodes share, because PostgreSQL's own backups bring those
 * people back. A server alone keeps such a list itself.
 */
export function addErasureList(person: Command): void {
  addList(person)
  addReapply(person)
}

const why = `Whoever brings the database back to an earlier moment, by pg_restore or
pgBackRest, brings back people who were erased since. Have "cairn person list
--out FILE" run regularly, with FILE on another machine than the database, and
run "cairn person reapply FILE" after that, before any node starts. In the file
are hashes, and the keys that they were made with: keep it as secret as a
backup.`

function addList(person: Command): void {
  addSettings(person.command('list'), ['data'])
    .description(
      'who was erased from the database that CAIRN_DATABASE_URL names, as hashes, a line each, for "cairn person reapply"',
    )
    .option('--out <file>', 'write it to a file, for this user alone')
    .examples('cairn person list --out /mnt/elsewhere/cairn-erasures.jsonl')
    .notes(why)
    .action(async ({ out }: Flags<'out'>, command: Command) => {
      const url = databaseOf(command)
      if (out !== undefined) refuseNoFile(out)
      await inspectDatabase(url, Date.now)
      const postgres = Postgres.open(url, { most: 1 })
      const listed = await listErasures(postgres).finally(() => postgres.close())
      const lines = listed.map(one => JSON.stringify(one))
      if (out !== undefined)
        await writeTo(
          out,
          lines.map(line => `${line}\n`),
        )
      else if (lines.length > 0) print(...lines)
      tell(`cairn: ${counted(listed.length, 'erasure')}`)
    })
}

function addReapply(person: Command): void {
  addSettings(person.command('reapply'), ['data'])
    .description(
      'erase again who is on such a list, from a database that was brought back to an earlier moment',
    )
    .argument(
      '<file>',
      'as "cairn person list" wrote it; erasures.jsonl of a data directory will do',
    )
    .option('--json', 'print {people, unknown, unfinished} as JSON')
    .examples('cairn person reapply /mnt/elsewhere/cairn-erasures.jsonl')
    .notes(why)
    .action(async (file: string, { json }: { json?: boolean }, command: Command) => {
      const url = databaseOf(command)
      const listed = listIn(file)
      // Loaded here, so that no other command waits for the server's modules.
      const { inDatabase } = await import('../runtime/in-process.ts')
      const line = liveLine()
      const done = await inDatabase(url, ({ longWork }) =>
        reapplyErasures(longWork, listed, ({ at, done }) => line.show(`${at}: ${done}`)),
      ).finally(line.end)
      const { people, unknown, unfinished } = done
      if (unfinished !== null) {
        warn(`not finished: ${unfinished}; run this again after that`)
        process.exitCode = exitStatus.failure
      }
      if (unknown > 0) {
        warn(`${counted(unknown, 'line')} of organisations that are not in the database: left out`)
      }
      if (json) return printJson(done)
      print(`erased ${counted(people, 'person', 'people')} again, of ${listed.length} on the list`)
    })
}

/** @throws CommandFailure if there is none */
function databaseOf(command: Command): string {
  const { data, databaseUrl } = settingsOf(command, 'data', 'databaseUrl')
  if (databaseUrl !== null) return databaseUrl
  throw new CommandFailure(
    `this is about a database that CAIRN_DATABASE_URL names, and it is not set: a server alone keeps such a list itself, ${join(data, 'erasures.jsonl')}, and goes by it at each start`,
  )
}

/** @throws CommandFailure, ErasuresUnreadable */
function listIn(file: string) {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new CommandFailure(
      `${file} cannot be read (${(error as { code?: string }).code}): name the list`,
    )
  }
  if (text !== '' && !text.endsWith('\n')) {
    throw new CommandFailure(
      `${file} ends within a line: it was cut off, so take another; or end its last line, if that is whole`,
    )
  }
  return latestErasuresIn(file)
}
