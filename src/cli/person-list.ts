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

const why = `Restoring the database to an earlier moment, with pg_restore or
pgBackRest, also brings back people who were erased since. Run "cairn person
list --out FILE" regularly, with FILE on a different machine from the database.
After a restore, run "cairn person reapply FILE" before any node starts. The
file holds hashes and the keys that they were made with: keep it as secret as a
backup.`

function addList(person: Command): void {
  addSettings(person.command('list'), ['data'])
    .description(
      'list the people erased from the database that CAIRN_DATABASE_URL names, as hashes, one per line, for "cairn person reapply"',
    )
    .option('--out <file>', 'write it to a file that only this user can read')
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
      'erase the people on such a list again, from a database that was restored to an earlier moment',
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
        warn(`not finished: ${unfinished}`)
        process.exitCode = exitStatus.failure
      }
      if (unknown > 0) {
        warn(`${counted(unknown, 'line')} skipped, of organisations that are not in the database`)
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
    `this command needs CAIRN_DATABASE_URL, which is not set: without it, the server keeps such a list itself, ${join(data, 'erasures.jsonl')}, and applies it at each start`,
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
      `${file} ends in the middle of a line: it was cut off, so use another; or end its last line, if it is complete`,
    )
  }
  return latestErasuresIn(file)
}
