import type { Effort } from '../effort.ts'
import type { Figure } from '../figures.ts'
import { Folder, startCairn } from '../programs.ts'
import { seed } from '../seed.ts'

/** How long after its start a program counts as idle, milliseconds. */
const settleMs = 1_500

/** From the start to the first answer, and what a server takes that does nothing. */
export async function memory({ rounds }: Effort): Promise<Figure[]> {
  const starts: number[] = []
  const resident: number[] = []
  for (let round = 0; round < rounds; round++) {
    using folder = new Folder()
    seed(folder, 1, 20)
    await using program = await startCairn(folder)
    starts.push(program.startMs)
    await Bun.sleep(settleMs)
    resident.push(program.rssMiB())
  }
  const part = 'memory'
  return [
    {
      part,
      what: 'start to the first answer',
      unit: 'ms',
      cairn: starts,
      goal: 'at most 200',
      most: 200,
    },
    {
      part,
      what: 'idle, one HTTP thread',
      unit: 'MiB',
      cairn: resident,
      goal: 'at most 110',
      most: 110,
    },
  ]
}
