import type { Bench, Found } from '../bench.ts'
import { Folder, startCairn } from '../programs.ts'
import type { Seeds } from '../seed.ts'

/** How long after its start a program counts as idle, milliseconds. */
export const settleMs = 1_500

const part = 'memory'

/** What a server takes that does nothing, MiB, and how long it took to start, milliseconds. */
async function idle(seeds: Seeds, organisations: number, flows: number) {
  using folder = new Folder()
  seeds.plant(folder, organisations, flows)
  await using program = await startCairn(folder)
  await Bun.sleep(settleMs)
  return { startMs: program.startMs, rssMiB: program.rssMiB() }
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
  const starts = (of: typeof few) => of.map(({ startMs }) => startMs)
  const resident = (of: typeof few) => of.map(({ rssMiB }) => rssMiB)
  const within = (most: number) => ({ goal: `at most ${most}`, most })
  return {
    figures: [
      { part, what: 'start to the first answer', unit: 'ms', cairn: starts(few), ...within(200) },
      { part, what: `the same, ${crowd}`, unit: 'ms', cairn: starts(many) },
      { part, what: 'idle, one HTTP thread', unit: 'MiB', cairn: resident(few), ...within(110) },
      { part, what: `the same, ${crowd}`, unit: 'MiB', cairn: resident(many), ...within(250) },
    ],
  }
}
