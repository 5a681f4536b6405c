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
    .description('restore a backup while the server is stopped; the old database is kept')
    .argument('<file>', 'a backup, or a database that a restore replaced')
    .option('--check', 'only check the backup')
    .option('--json', 'print what was done as JSON')
    .notes(`Checks the backup first: its checksum, every page and its tables. Other files in
the data directory do not change. People who were erased stay erased.`)
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
  print(`Checked ${file}: it can be restored (${summaryOf(content)}).`)
}

async function replace(data: string, file: string, { json }: Options): Promise<void> {
  // First, so that a wrong name leaves no directory behind.
  await sizeOfBackup(file)
  makeDirectory(data)
  const lock = keepServersOut(data)
  const bar = progressBar()
  const clearAway = () => {
    dropStaged(data)
    return 'restored nothing, and changed nothing'
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
  print(`Restored ${file} into ${data} (${summaryOf(content)}).`, ...next(data, content))
  if (aside === null) return
  print(
    `To undo: cairn restore ${shellWord(aside)} --data ${shellPath(data)}`,
    `Remove the old database once you no longer need it: ${aside}`,
  )
}

const shellPath = (path: string) => shellWord(resolve(path))

function next(data: string, { schema, knownSchema }: BackupContent): string[] {
  const isOlder = schema < knownSchema
  const upgrade = isOlder ? ', which upgrades it' : ''
  const back = ['Or install the older release first, to go back to it.']
  return [
    `Next: start the server${upgrade}: cairn serve --data ${shellPath(data)}`,
    ...(isOlder ? back : []),
  ]
}

function summaryOf({ schema, newestEventAt }: BackupContent): string {
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
    `no checksum ${file}.sha256: pages and tables are intact, but a changed value would not be noticed`,
  )
}
