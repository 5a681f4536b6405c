import { Database } from 'bun:sqlite'
import { dayMs } from '../../../src/core/time/durations.ts'
import { databaseFile } from '../../../src/storage/sqlite/database/database.ts'
import { progress } from '../../report/progress.ts'
import {
  asForUsers,
  metricOf,
  type Organisation,
  type Server,
  Workplace,
  withUnlimitedTour,
} from '../../support/binary.ts'
import { until } from '../../support/until.ts'
import { atMost, type Entry, type Ledger, none, type Torture } from '../ledger.ts'
import { eventsOfBatch, Load } from '../soak/load.ts'
import { Site } from '../soak/site.ts'
import { UnderWay, works } from '../soak/works.ts'
import { mediansOf, trendOf } from '../trend.ts'
import { Watched } from '../watched.ts'

/** How long the server is at half load, seconds, and how much of that is for warming up. */
const shortSeconds = 8
const longSeconds = 1_800
const warmUpSeconds = 600

const organisationCount = { short: 2, long: 10 }

/** How long the clients send as much as they can, to find out what half of it is. */
const flatOutMs = { short: 1_000, long: 10_000 }

/** After this time idle connections are closed; an analyst's are the last, after four minutes. */
const mostRestMs = 260_000
const filesAtRest = 2

/** Promised bounds. The log grows while a backup is copied and while an answer is made from a snapshot. */
const mostWalMiB = 256
const mostBytesOfEvent = 650
const mostGrowthMiB = 16
const pieces = 20

const deletedByRetention = 'cairn_retention_deleted_events_total'

interface Sample {
  at: number
  rssMiB: number
  openFiles: number
  walMiB: number
}

const rounded = (value: number) => Math.round(value * 10) / 10

/** How memory has grown after the warm-up, and how many files were open. */
function trendEntries(samples: readonly Sample[]): Entry[] {
  const warm = samples.filter(({ at }) => at >= warmUpSeconds / 3_600)
  const grown = trendOf(
    mediansOf(
      warm.map(({ at, rssMiB }) => ({ at, value: rssMiB })),
      pieces,
    ),
  )
  const rss = warm.map(({ rssMiB }) => rssMiB)
  const files = warm.map(({ openFiles }) => openFiles)
  return [
    {
      what: `RSS after ${warmUpSeconds / 60} minutes, MiB an hour (95 %: line through the medians of ${pieces} pieces); growth that is sure at most ${mostGrowthMiB}`,
      value: `${rounded(grown.slope)} ± ${rounded(grown.plusMinus)}`,
      isGood: grown.slope - grown.plusMinus <= mostGrowthMiB,
    },
    {
      what: 'RSS meanwhile, MiB',
      value: `${Math.round(Math.min(...rss))} to ${Math.round(Math.max(...rss))}`,
    },
    { what: 'open files meanwhile', value: `${Math.min(...files)} to ${Math.max(...files)}` },
  ]
}

const openAll = (place: Workplace, server: Server, organisations: readonly Organisation[]) =>
  Promise.all(organisations.map(organisation => Site.open(place, server, organisation)))

/**
 * Makes everything that is stored almost a day old, so that batch after batch becomes due for a retention
 * of one day while the server runs. The server must be stopped for this.
 *
 * @param withinMs from now on, until the last batch is due
 */
function age(place: Workplace, withinMs: number): void {
  using database = new Database(databaseFile(place.dataDir))
  database.run(
    `update event_batches set received_at = ?1 - ${dayMs} + cast(?2 * rank as integer)
    from (select seq as of, cume_dist() over (order by seq) as rank from event_batches)
    where seq = of`,
    [Date.now(), withinMs],
  )
}

/** How many batches per second clients reach that send as much as they can. Their runs remain. */
async function flatOut(place: Workplace, organisations: readonly Organisation[], isLong: boolean) {
  const server = await place.serve([], asForUsers)
  const sites = await openAll(place, server, organisations)
  const load = new Load(sites, Number.POSITIVE_INFINITY)
  const ms = isLong ? flatOutMs.long : flatOutMs.short
  await Bun.sleep(ms)
  await load.stop()
  await server.end()
  return { perSecond: (load.batches * 1_000) / ms, load }
}

/** Samples what the server uses once per second, for so many seconds, and reports it every minute. */
async function sampled(watched: Watched, load: Load, seconds: number): Promise<Sample[]> {
  const samples: Sample[] = []
  const startedAt = performance.now()
  for (let second = 1; second <= seconds; second++) {
    await Bun.sleep(Math.max(0, startedAt + second * 1_000 - performance.now()))
    watched.readLog()
    const { rssMiB, openFiles, walMiB, databaseMiB } = watched
    samples.push({ at: second / 3_600, rssMiB, openFiles, walMiB })
    if (second % 60 === 0) {
      progress(
        `${second / 60} min: ${load.events} events, RSS ${Math.round(rssMiB)} MiB, ${openFiles} files, WAL ${rounded(walMiB)} MiB, database ${Math.round(databaseMiB)} MiB`,
      )
    }
  }
  return samples
}

/** What is left of the load once all connections are closed. */
async function restEntries(watched: Watched, filesBefore: number): Promise<Entry[]> {
  const isAtRest = () => watched.openFiles <= filesBefore + filesAtRest
  await until(isAtRest, Boolean, mostRestMs).catch(() => {})
  return [
    atMost('open files more than before, at rest', watched.openFiles - filesBefore, filesAtRest),
    { what: 'RSS at rest', value: `${Math.round(watched.rssMiB)} MiB` },
  ]
}

/** Everything that Cairn does, all at once, at half of its capacity, for half an hour. */
export async function soak({ isLong }: Torture): Promise<Ledger> {
  const seconds = isLong ? longSeconds : shortSeconds
  await using place = new Workplace()
  const count = isLong ? organisationCount.long : organisationCount.short
  const organisations = await Promise.all(
    Array.from({ length: count }, (_, i) => withUnlimitedTour(place, `Soaked ${i}`)),
  )
  const before = await flatOut(place, organisations, isLong)
  age(place, seconds * 1_000)
  const server = await place.serve(['--retention-days', '1'], asForUsers)
  const watched = new Watched(server, place)
  const sites = await openAll(place, server, organisations)
  const filesBefore = watched.openFiles

  const load = new Load(sites, before.perSecond / 2)
  const beside = new UnderWay(sites, works)
  const samples = await sampled(watched, load, seconds)
  await Promise.all([load.stop(), beside.stop()])

  const events = before.load.events + load.events
  const counts = await Promise.all(sites.map(site => site.completions()))
  const completions = counts.reduce((sum, count) => sum + count, 0)
  const astray = Math.abs(before.load.runs + load.runs - completions)
  const deleted = await metricOf(server, deletedByRetention)
  const resting = isLong ? await restEntries(watched, filesBefore) : []
  const { databaseMiB } = watched
  const status = await server.end()
  watched.readLog()
  const failures = [...before.load.failures, ...load.failures, ...beside.failures]
  for (const line of [...failures, ...watched.remarks].slice(0, 10)) progress(line)
  return {
    title: `Half load for ${seconds} seconds`,
    entries: [
      {
        what: 'events a second, acknowledged; half of what the same clients reach flat out',
        value: `${Math.round(load.events / seconds)}; ${Math.round((before.perSecond / 2) * eventsOfBatch)}`,
      },
      { what: 'the slowest batch', value: `${Math.round(load.slowestMs)} ms` },
      { what: 'beside them', value: beside.done },
      { what: 'events that the retention deleted meanwhile', value: deleted },
      none('requests and commands that failed', failures.length),
      none('lines of the log at warn or above', watched.remarks.length),
      none('exit status after a stop', status),
      none('completed runs acknowledged and not counted, or the other way round', astray),
      atMost('largest WAL', rounded(Math.max(...samples.map(s => s.walMiB))), mostWalMiB, ' MiB'),
      atMost(
        `database ${Math.round(databaseMiB)} MiB: an event of ${events}`,
        Math.round((databaseMiB * 2 ** 20) / events),
        mostBytesOfEvent,
        ' bytes',
      ),
      ...(isLong ? trendEntries(samples) : []),
      ...resting,
    ],
  }
}
