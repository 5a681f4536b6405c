import { resolve } from 'node:path'
import { shellWord } from '../core/text/wording.ts'
import { keepServersOut } from '../runtime/lock.ts'
import { noteMoved } from '../runtime/place.ts'
import { inspectDatabase } from '../storage/postgres/database/inspection.ts'
import { MoveIntoDirectory, movingDir } from '../storage/postgres/move/into-directory.ts'
import { MoveIntoPostgres } from '../storage/postgres/move/into-postgres.ts'
import type { Counts, MoveProgress } from '../storage/postgres/move/moves.ts'
import { type View, viewOfDatabase, viewOfDirectory } from '../storage/postgres/move/views.ts'
import type { Command, Flags } from './command.ts'
import { makeDirectory, requireData, requireUsableData } from './data.ts'
import { CommandFailure, UsageFailure } from './failure.ts'
import { differingFlow } from './move/same-analytics.ts'
import { counted, print, printJson, tell } from './output.ts'
import { progressLine } from './progress.ts'
import { addSettings, settingsOf } from './settings.ts'

type Options = Flags<never, 'back' | 'json'>

export function addMove(cairn: Command): void {
  addSettings(cairn.command('move'), ['data'])
    .description(
      'move the data directory of a stopped server into the database that CAIRN_DATABASE_URL names',
    )
    .option('--back', 'move the database into a data directory that has no database yet')
    .option('--json', 'print {from, to, seconds, resumed, rows} as JSON, with rows by table')
    .notes(`The database must be migrated ("cairn migrate") and hold no organisation, and no
server may run on either side. The source is kept. Afterwards the rows of each
table are counted on both sides, and the analytics of every flow are compared,
over its whole history.

After an interruption, the same command resumes. With --back it starts over.

Ids of people, runs and events stay, and so do session.key and older versions of
the snippet. Readers of the log of events can use the same cursors. With --back,
the same cursors return the whole log again.

Cairn forgets the ids of events that the retention has deleted. Do not raise it
right after a move: such events could then be accepted a second time.`)
    .examples(
      'CAIRN_DATABASE_URL_FILE=/etc/cairn/database cairn move --data /var/lib/cairn',
      'CAIRN_DATABASE_URL_FILE=/etc/cairn/database cairn move --back --data ./alone',
    )
    .action(async (options: Options, command: Command) => {
      const { data, databaseUrl: url } = settingsOf(command, 'data', 'databaseUrl')
      if (url === null) {
        throw new UsageFailure(
          'set CAIRN_DATABASE_URL to the database, such as postgres://user:password@db.example.com/cairn, or CAIRN_DATABASE_URL_FILE to a file with that',
        )
      }
      const { place } = await inspectDatabase(url, Date.now)
      const startedAt = performance.now()
      const move = options.back ? moveBack : moveThere
      const { counts, isResumed } = await move(data, url, place)
      const seconds = Math.round((performance.now() - startedAt) / 100) / 10
      const names = [resolve(data), place]
      const [from, to] = options.back ? names.toReversed() : names
      if (options.json) {
        const rows = Object.fromEntries(counts)
        return printJson({ from, to, seconds, resumed: isResumed, rows })
      }
      print(
        `moved ${from} into ${to} in ${seconds} s: ${told(counts)}`,
        'all tables have as many rows on both sides, and the analytics of every flow are the same',
        ...(options.back ? nextAlone(data, place) : nextShared(data)),
      )
    })
}

interface Moved {
  counts: Counts
  isResumed: boolean
}

async function moveThere(dataDir: string, url: string, place: string): Promise<Moved> {
  requireData(dataDir)
  const lock = keepServersOut(dataDir)
  try {
    requireUsableData(dataDir)
    const move = await MoveIntoPostgres.open({ dataDir, url, now: Date.now })
    try {
      const { isResumed } = move
      if (isResumed) tell('cairn: resuming an interrupted move')
      const counts = await shown(onProgress => move.run(onProgress))
      const difference = await differenceOf(move, viewOfDirectory(dataDir), url)
      await move.end(difference === null)
      if (difference !== null) {
        throw new CommandFailure(
          `the database at ${place} differs from the data that was moved (${difference}): no server starts on it. ${dataDir} is unchanged: serve from it, and report this`,
        )
      }
      noteMoved(dataDir, place)
      return { counts, isResumed }
    } finally {
      await move.close()
    }
  } finally {
    lock.release()
  }
}

async function moveBack(dataDir: string, url: string, place: string): Promise<Moved> {
  makeDirectory(dataDir)
  const lock = keepServersOut(dataDir)
  try {
    const move = await MoveIntoDirectory.open({ dataDir, url, now: Date.now })
    try {
      const counts = await shown(onProgress => move.run(onProgress))
      const made = movingDir(dataDir)
      const difference = await differenceOf(move, viewOfDirectory(made), url)
      if (difference !== null) {
        throw new CommandFailure(
          `${made} differs from the data that was moved (${difference}): no server starts on it. The database at ${place} is unchanged: serve from it, and report this`,
        )
      }
      await move.end()
      return { counts, isResumed: false }
    } finally {
      await move.close()
    }
  } finally {
    lock.release()
  }
}

/** What differs between both sides; null if nothing does. */
async function differenceOf(
  move: { differingCount(): Promise<string | null> },
  directory: View,
  url: string,
): Promise<string | null> {
  const line = progressLine()
  try {
    line.show('counting', () => 'counting the rows on both sides')
    const count = await move.differingCount()
    if (count !== null) return count
    const database = await viewOfDatabase(url, Date.now)
    try {
      return await differingFlow([directory, database], Date.now(), (done, of) =>
        line.show('comparing', () => `comparing analytics: ${done} of ${counted(of, 'flow')}`),
      )
    } finally {
      await database.close()
    }
  } finally {
    await directory.close()
    line.end()
  }
}

/** Shows on stderr the progress of a move, and its speed. */
async function shown<T>(work: (onProgress: (progress: MoveProgress) => void) => Promise<T>) {
  const line = progressLine()
  const startedAt = performance.now()
  let first: number | null = null
  const inGroups = (count: number) => Math.round(count).toLocaleString('en')
  try {
    return await work(({ table, done, total }) => {
      first ??= done
      const rate = ((done - first) * 1_000) / Math.max(1, performance.now() - startedAt)
      const share = total === 0 ? 100 : Math.floor((done / total) * 100)
      line.show(
        table,
        () =>
          `moving ${table}: ${share} % (${inGroups(done)} of ${inGroups(total)} rows, ${inGroups(rate)} a second)`,
      )
    })
  } finally {
    line.end()
  }
}

function told(counts: Counts): string {
  const count = (table: string, what: string) => counted(counts.get(table) ?? 0, what)
  return [
    count('organisations', 'organisation'),
    count('flows', 'flow'),
    count('runs', 'run'),
    count('events', 'event'),
  ].join(', ')
}

const nextShared = (data: string) => [
  'start servers with CAIRN_DATABASE_URL set: cairn serve',
  `keep ${resolve(data)} until they serve well and a backup of the database is made; no server starts on it without CAIRN_DATABASE_URL any more`,
]

const nextAlone = (data: string, place: string) => [
  `start the server without CAIRN_DATABASE_URL: cairn serve --data ${shellWord(resolve(data))}`,
  `keep the database at ${place} until the server runs well and a backup of its directory is made; start no server on that database any more, or the two would diverge`,
]
