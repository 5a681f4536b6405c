import type { Bench, Found } from '../bench.ts'
import type { Figure } from '../figures.ts'
import { allAnswered, type Loaded, postEvents, repeat } from '../load.ts'
import { asked, flows } from '../pages.ts'
import { Folder, startCairn } from '../programs.ts'
import { writeTenants } from '../seed.ts'
import { batch, connections } from './ingest.ts'

const part = 'threads'

const counts = [1, 2, 4] as const

/** One round is enough to show the growth. The other parts show that one thread is no loss. */
const mostRounds = 2

/** Ingest and reads, by how many threads answer. */
export async function threads({ effort, seeds }: Bench): Promise<Found> {
  const { seconds, warmSeconds, rounds } = effort
  const ingest = counts.map(() => [] as Loaded[])
  const reads = counts.map(() => [] as Loaded[])
  for (let round = 0; round < Math.min(rounds, mostRounds); round++) {
    for (const [i, threads] of counts.entries()) {
      using folder = new Folder()
      const [writing, reading] = seeds.plant(folder, 40, 20)
      const tenants = await writeTenants(folder, [writing!])
      await using cairn = await startCairn(folder, { threads })
      const load = { tenants, batch, ids: 'v7', connections } as const
      await postEvents(cairn, { ...load, seconds: warmSeconds })
      ingest[i]?.push(await postEvents(cairn, { ...load, seconds }))
      const request = await asked(cairn, reading!, flows)
      reads[i]?.push(await repeat(cairn, request, { seconds, connections }))
    }
  }
  allAnswered(part, [...ingest, ...reads].flat())
  return {
    figures: [
      ...figuresOf('ingest', 'events/s', ingest, batch),
      ...figuresOf('GET /flows', 'req/s', reads, 1),
    ],
  }
}

function figuresOf(what: string, unit: string, loads: Loaded[][], each: number): Figure[] {
  const [one = [], ...more] = loads.map(of => of.map(({ perSecond }) => perSecond * each))
  return [
    { part, what: `${what}, 1 HTTP thread`, unit, cairn: one },
    ...more.map((rates, i) => {
      const name = `${what}, ${counts[i + 1]} HTTP threads; beside 1`
      return { part, what: name, unit, cairn: rates, beside: one }
    }),
  ]
}
