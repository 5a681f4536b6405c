import type { Bench, Found } from '../bench.ts'
import type { Figure } from '../figures.ts'
import { type Loaded, postEvents } from '../load.ts'
import { Folder, type Program, startCairn, startHello } from '../programs.ts'
import { writeTenants } from '../seed.ts'
import { beside } from './answers.ts'

const connections = 64

/** Requests with one event each, as browsers send them, beside a bare Elysia that parses the same. */
export async function single(bench: Bench): Promise<Found> {
  return { figures: [...(await ofFlows(bench, 1)), ...(await ofFlows(bench, 20))] }
}

/** One organisation's events, of so many flows. */
async function ofFlows({ effort, seeds }: Bench, flows: number): Promise<Figure[]> {
  const { seconds, warmSeconds, rounds } = effort
  const ofCairn: Loaded[] = []
  const ofHello: Loaded[] = []
  for (let round = 0; round < rounds; round++) {
    using folder = new Folder()
    const tenants = await writeTenants(folder, seeds.plantFlows(folder, flows))
    const measure = async (program: Program, path: string) => {
      await using measured = program
      const load = { tenants, batch: 1, ids: 'v7', path, connections } as const
      await postEvents(measured, { ...load, seconds: warmSeconds })
      // Awaited here, otherwise the program would be ended while it is measured.
      return await postEvents(measured, { ...load, seconds })
    }
    ofHello.push(await measure(await startHello(folder, 80), '/'))
    ofCairn.push(await measure(await startCairn(folder), '/api/v1/events'))
  }
  const what = `POST /events with one event, ${flows === 1 ? 'one flow' : `${flows} flows`}`
  return beside('single', what, ofCairn, ofHello, 0.5)
}
