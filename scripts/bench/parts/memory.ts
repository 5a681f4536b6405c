import type { Bench, Found } from '../bench.ts'
import type { Figure } from '../figures.ts'
import { asBrowser } from '../load.ts'
import { Folder, type Program, startCairn } from '../programs.ts'
import type { Seeds, Tenant } from '../seed.ts'

/** How long after its last work a program counts as idle, milliseconds. */
export const settleMs = 1_500

const part = 'memory'

/** How many pages ask at a time. */
const together = 50

/** Every organisation's flows, once, as its pages ask for them. */
async function askAll(program: Program, tenants: readonly Tenant[]): Promise<void> {
  for (let i = 0; i < tenants.length; i += together) {
    const asking = tenants.slice(i, i + together).map(async tenant => {
      const answer = await fetch(`${program.url}/api/v1/flows`, { headers: asBrowser(tenant) })
      if (!answer.ok) throw new Error(`GET /flows: ${answer.status}`)
      await answer.arrayBuffer()
    })
    await Promise.all(asking)
  }
}

/** What a server takes that does nothing, MiB, and how long it took to start, milliseconds. */
async function idle(seeds: Seeds, organisations: number, flows: number) {
  using folder = new Folder()
  const tenants = seeds.plant(folder, organisations, flows)
  await using program = await startCairn(folder)
  await Bun.sleep(settleMs)
  const rssMiB = program.rssMiB()
  // What is only loaded once it is asked for counts too.
  await askAll(program, tenants)
  await Bun.sleep(settleMs)
  return { startMs: program.startMs, rssMiB, askedMiB: program.rssMiB() }
}

/** From the start to the first answer, and what a server takes that does nothing. */
export async function memory({ effort, seeds }: Bench): Promise<Found> {
  const few: Awaited<ReturnType<typeof idle>>[] = []
  const many: typeof few = []
  for (let round = 0; round < effort.rounds; round++) {
    few.push(await idle(seeds, 1, 20))
    many.push(await idle(seeds, effort.mostOrganisations, 5))
  }
  const crowd = `${effort.mostOrganisations.toLocaleString('en-US')} organisations of 5 flows`
  const figure = (
    what: string,
    unit: string,
    of: typeof few,
    name: keyof (typeof few)[0],
    most: number,
  ): Figure => {
    return { part, what, unit, cairn: of.map(one => one[name]), goal: `at most ${most}`, most }
  }
  return {
    figures: [
      figure('start to the first answer', 'ms', few, 'startMs', 200),
      figure(`the same, ${crowd}`, 'ms', many, 'startMs', 200),
      figure('idle, one HTTP thread', 'MiB', few, 'rssMiB', 110),
      figure(`the same, ${crowd}`, 'MiB', many, 'rssMiB', 250),
      figure('the same, once all have asked for them', 'MiB', many, 'askedMiB', 250),
    ],
  }
}
