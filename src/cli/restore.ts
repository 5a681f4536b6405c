import { resolve } from 'node:path'
import { shellWord } from '../core/text/wording.ts'
import { isoTime } from '../core/time/clock.ts'
import { keepServersOut } from '../runtime/lock.ts'
import type { BackupContent } from '../storage/sqlite/backup/check-backup.ts'
import { dropStaged, restore, sizeOfBackup, tryBackup } from '../storage/sqlite/backup/restore.ts'
import type { Command, Flags } from './command.ts'
import { directoryOf, makeDirectory } from './data.ts'
import { warn } from './failure.ts'
import { interruptible } from './interrupt.ts'
import { print, printJson } from './output.ts'
import { progressBar } from './progress.ts'
import { addSettings, settingsOf } from './settings.ts'

type Options = Flags<never, 'check' | 'json'>

export function addRestore(cairn: Command): void {
  addSettings(cairn.command('restore'), ['data'])
    .description('replace the database of a stopped server with a backup; the old database is kept')
    .argument('<file>', 'a backup, or a database that a restore has replaced')
    .option('--check', 'only check whether the backup is intact and can be restored')
    .option('--json', 'print what was done as JSON')
    .notes(`The backup is first checked against its checksum, to its last page, and against
the schema that Cairn makes. All else in the data directory stays as it is:
session.key, and who was erased.`)
    .examples(
      'cairn restore /mnt/backups/cairn-2026-11-20T03-00-00Z.db --check',
      'cairn restore /mnt/backups/cairn-2026-11-20T03-00-00Z.db --data /var/lib/cairn',
    )
    .action(async (file: string, options: Options, command: Command) => {
      if (options.check) return check(file, options)
      return replace(
        directoryOf(settingsOf(command, 'data', 'databaseUrl'), ofPostgres),
        file,
        options,
      )
    })
}

const ofPostgres =
  'restore it with pg_restore, or with pgBackRest to any moment; to serve from this backup, unset CAIRN_DATABASE_URL'

async function check(file: string, { json }: Options): Promise<void> {
  const bar = progressBar()
  const { content, hasChecksum } = await tryBackup(file, bar.show).finally(bar.end)
  warnOfNoChecksum(file, hasChecksum)
  if (json) return printJson({ file, hasChecksum, ...shownContent(content) })
  print(`${file} is whole and can be restored: ${told(content)}`)
}

async function replace(data: string, file: string, { json }: Options): Promise<void> {
  // Looked at first, so that a wrong name leaves no directory behind.
  await sizeOfBackup(file)
  makeDirectory(data)
  const lock = keepServersOut(data)
  const bar = progressBar()
  const clearAway = () => {
    dropStaged(data)
    return 'nothing was restored, and the database is as it was'
  }
  const restored = await interruptible(clearAway, () =>
    restore(data, file, Date.now(), bar.show),
  ).finally(() => {
    bar.end()
    lock.release()
  })
  const { content, hasChecksum, erasuresTaken, aside } = restored
  warnOfNoChecksum(file, hasChecksum)
  if (json) return printJson({ file, hasChecksum, erasuresTaken, aside, ...shownContent(content) })
  print(`restored ${file} into ${data}: ${told(content)}`, ...next(data, content))
  if (aside === null) return
  print(
    `to take this back: cairn restore ${shellWord(aside)} --data ${shellPath(data)}`,
    `the old database is ${aside}: remove it once all is well`,
  )
}

const shellPath = (path: string) => shellWord(resolve(path))

function next(data: string, { schema, knownSchema }: BackupContent): string[] {
  const isOlder = schema < knownSchema
  const upgrade = isOlder ? ', which first brings it up to date' : ''
  const back = ['or, to go back to an older release, install that one before you start the server']
  return [
    `start the server${upgrade}: cairn serve --data ${shellPath(data)}`,
    ...(isOlder ? back : []),
  ]
}

function told({ schema, newestEventAt }: BackupContent): string {
  const newest = newestEventAt === null ? 'no event' : `newest event ${isoTime(newestEventAt)}`
  return `schema ${schema}, ${newest}`
}

const shownContent = ({ schema, newestEventAt }: BackupContent) => ({
  schema,
  newestEventAt: newestEventAt === null ? null : isoTime(newestEventAt),
})

function warnOfNoChecksum(file: string, hasChecksum: boolean): void {
  if (hasChecksum) return
  warn(
    `there is no ${file}.sha256 to check it against: its pages and its schema are intact, but a changed value in it would not be noticed`,
  )
}
