import { existsSync, realpathSync, statSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { isoTime } from '../core/time/clock.ts'
import { type Backup, backUp, dropBackup, makeFolder } from '../storage/sqlite/backup/backup.ts'
import { backupNameAt, backupsIn, keepNewest } from '../storage/sqlite/backup/folder.ts'
import { noteBackup } from '../storage/sqlite/backup/last-backup.ts'
import type { Command } from './command.ts'
import { directoryOf, requireData } from './data.ts'
import { CommandFailure, UsageFailure, warn } from './failure.ts'
import { interruptible } from './interrupt.ts'
import { print, printJson, printTable, sizeOf, tell } from './output.ts'
import { progressBar } from './progress.ts'
import { addSettings, settingsOf } from './settings.ts'

/** Other processes go first (nice(1)). */
const niceness = 10

export function addBackup(cairn: Command): void {
  const backup = addSettings(cairn.command('backup'), ['data'])
    .description(
      'back up the database to a file, also of a running server; checks the copy and writes its checksum',
    )
    .argument('<file|dir>', 'a new file, or a directory for a file named after the time')
    .option('--keep <count>', 'delete older backups in the directory, and keep this many')
    .option('--json', 'print {file, bytes, sha256, differences, removed} as JSON')
    .notes(`The file is an SQLite database with all data except session.key, which would let
a reader create session tokens. Restore it with "cairn restore".`)
    .examples(
      'cairn backup before-upgrade.db',
      'cairn backup /mnt/backups/ --data /var/lib/cairn --keep 14',
      'cairn backup list /mnt/backups',
    )
    .action(
      async (target: string, options: { keep?: string; json?: boolean }, command: Command) => {
        const data = directoryOf(settingsOf(command, 'data', 'databaseUrl'), ofPostgres)
        requireData(data)
        const result = await backUpTo(target, data, keepOf(options.keep))
        warnOfDifferences(result)
        if (options.json) return printJson(result)
        print(result.file)
        tell(`cairn: ${sizeOf(result.bytes)}, checked; sha256 ${result.sha256}`)
      },
    )
  backup
    .command('list')
    .description('list the backups in a directory, newest first')
    .argument('<dir>', 'the directory')
    .option('--json', 'print [{file, at, bytes}] as JSON')
    .examples('cairn backup list /mnt/backups')
    .action((folder: string, _options: unknown, command: Command) => {
      const { json } = command.optsWithGlobals<{ json?: boolean }>()
      return listBackups(folder, json === true)
    })
}

function warnOfDifferences({ file, differences: [first, ...more] }: Backup): void {
  if (first === undefined) return
  const rest = more.length === 0 ? '' : ` and ${more.length} more`
  warn(`${file} cannot be restored: ${first}${rest}. See "cairn doctor"`)
}

function keepOf(text: string | undefined): number | null {
  if (text === undefined) return null
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text)
  throw new UsageFailure(
    `--keep is "${text.slice(0, 60)}": set how many backups to keep, such as 7`,
  )
}

const ofPostgres =
  'back it up with pg_dump, or with pgBackRest, which can restore any moment; see "cairn help backup"'

/** Backs up to a file or into a directory, and removes backups that are older than those to be kept. */
async function backUpTo(
  target: string,
  data: string,
  keep: number | null,
): Promise<Backup & { removed: string[] }> {
  const isFolder = target.endsWith('/') || isDirectory(target)
  if (keep !== null && !isFolder) {
    throw new UsageFailure(`--keep needs a directory: name one, such as "${target}/"`)
  }
  const now = Date.now()
  const folder = target.replace(/(?<=.)\/+$/, '')
  // Names tell the second only, and there may be a backup of this one.
  let at = now
  while (isFolder && existsSync(join(folder, backupNameAt(at)))) at += 1_000
  const file = isFolder ? join(folder, backupNameAt(at)) : target
  requireApart(data, dirname(file))
  if (isFolder) makeFolder(folder)
  yieldToOthers()
  const bar = progressBar()
  const clearAway = () =>
    dropBackup(data, file) ? `${file} was already made` : 'made no backup, and changed nothing'
  const made = await interruptible(clearAway, () => backUp(data, file, bar.show)).finally(bar.end)
  noteBackup(data, file, now)
  const removed = keep === null ? [] : await keepNewest(folder, keep, at)
  return { ...made, removed: removed.map(({ file }) => file) }
}

function requireApart(data: string, folder: string): void {
  if (!`${realPath(folder)}/`.startsWith(`${realPath(data)}/`)) return
  throw new CommandFailure(
    `${folder} is in the data directory ${data} and would be lost with it: choose another directory, best on another disk`,
  )
}

/** Without links, as far as it exists. */
function realPath(path: string): string {
  const absolute = resolve(path)
  const parent = dirname(absolute)
  if (existsSync(absolute) || absolute === parent) return realpathSync(absolute)
  return join(realPath(parent), basename(absolute))
}

const isDirectory = (path: string) => existsSync(path) && statSync(path).isDirectory()

/** If the system forbids it, the backup only takes more of the machine. */
function yieldToOthers(): void {
  try {
    setPriority(niceness)
  } catch {}
}

async function listBackups(folder: string, asJson: boolean): Promise<void> {
  if (!isDirectory(folder)) {
    throw new CommandFailure(`${folder} is not a directory`)
  }
  const found = await backupsIn(folder)
  const backups = found.map(({ at, ...rest }) => ({ ...rest, at: isoTime(at) }))
  const rows = backups.map(({ at, bytes, file }) => [at, sizeOf(bytes), file])
  if (asJson) printJson(backups)
  else printTable(['at', 'size', 'file'], rows, `No backups in ${folder}.`)
}
