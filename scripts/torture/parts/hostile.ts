import { progress } from '../../report/progress.ts'
import {
  asForUsers,
  metricOf,
  type Organisation,
  Workplace,
  withUnlimitedTour,
} from '../../support/binary.ts'
import { Peak } from '../../support/process.ts'
import { until } from '../../support/until.ts'
import { type Courtesy, courtesyText, Polite } from '../hostile/polite.ts'
import { rushes, type Size } from '../hostile/rushes.ts'
import { siegesOf } from '../hostile/sieges.ts'
import { fill, marker, targetOf } from '../hostile/target.ts'
import { atMost, type Entry, type Ledger, none, type Torture } from '../ledger.ts'
import { Watched } from '../watched.ts'

const sizes: Record<'short' | 'long', Size & { smallEvents: number; largeEvents: number }> = {
  short: { connections: 100, keys: 5_000, addresses: 1_000, smallEvents: 250, largeEvents: 12_000 },
  long: {
    connections: 1_000,
    keys: 100_000,
    addresses: 100_000,
    smallEvents: 8_000,
    largeEvents: 40_000,
  },
}

/**
 * The most memory while all of it goes on, and how much more than before may be left when it is over; MiB. The
 * long form holds 2,000 headers of 60 KB and 450 downloads, which take up to 2 MB each until they are collected.
 */
const mostRssMiB = { short: 512, long: 1_280 }
const mostLeftMiB = 96
/** How long memory and files may take to be given back. */
const mostRestMs = 40_000

/** Clients that do what no client should, while a polite one is served. */
export async function hostile({ isLong }: Torture): Promise<Ledger> {
  const size = sizes[isLong ? 'long' : 'short']
  await using place = new Workplace()
  const [courteous, ...others] = (await Promise.all(
    ['Polite', 'Small', 'Large'].map(name => withUnlimitedTour(place, name)),
  )) as [Organisation]
  const server = await place.serve([], asForUsers)
  const watched = new Watched(server, place)
  const [small, large] = await Promise.all(others.map(each => targetOf(place, server, each)))
  await fill(server, small!, size.smallEvents)
  await fill(server, large!, size.largeEvents)
  const before = { rssMiB: watched.rssMiB, openFiles: watched.openFiles }
  const entries: Entry[] = []

  using polite = new Polite(server.url, courteous.snippetKey)
  using peak = new Peak(() => watched.rssMiB)
  const seen: Courtesy = { durations: [], failures: [] }
  /** What the polite client has seen since the last call. */
  const look = async () => {
    const { durations, failures } = await polite.seen()
    seen.durations.push(...durations)
    seen.failures.push(...failures)
    return courtesyText(durations)
  }
  const besieging = siegesOf(small!, large!, isLong).map(async ({ what, run }) => {
    const { told, isGood } = await run()
    return { what, value: told, isGood }
  })
  for (const { what, run } of rushes) {
    progress(what)
    await look()
    const { told, isGood } = await run(large!, size)
    entries.push({ what, value: `${told} (polite: ${await look()})`, isGood })
  }
  entries.push(...(await Promise.all(besieging)))
  await look()

  const isBack = () =>
    watched.openFiles <= before.openFiles && watched.rssMiB <= before.rssMiB + mostLeftMiB
  await until(isBack, Boolean, mostRestMs).catch(() => {})
  const { rssMiB, openFiles } = watched
  const restarts = await metricOf(server, 'cairn_http_thread_restarts_total')
  const status = await server.end()
  const lines = watched.readLog()
  const sent = [marker, large!.snippetKey, large!.token.split('.')[2]!]
  const leaks = lines.filter(line => sent.some(text => line.includes(text)))
  for (const line of [...seen.failures, ...watched.remarks, ...leaks].slice(0, 10)) progress(line)
  return {
    title: 'Hostile clients, all at once; what became of them',
    entries: [
      ...entries,
      { what: 'the polite client, all the while', value: courtesyText(seen.durations) },
      none('of these, wrong or missing', seen.failures.length),
      atMost(
        'most memory meanwhile',
        Math.round(peak.value),
        mostRssMiB[isLong ? 'long' : 'short'],
        ' MiB',
      ),
      atMost(
        `memory left over ${Math.round(before.rssMiB)} MiB`,
        Math.round(rssMiB - before.rssMiB),
        mostLeftMiB,
        ' MiB',
      ),
      atMost('open files left', Math.max(0, openFiles - before.openFiles), 0),
      none('HTTP threads that died', restarts),
      none('lines of the log at warn or above', watched.remarks.length),
      none(
        `of ${lines.length} lines of the log: with a key, a token or anything else that was sent`,
        leaks.length,
      ),
      none('exit status after a stop', status),
    ],
  }
}
