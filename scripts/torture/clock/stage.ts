import type { SeededRandom } from '../../../src/cli/demo/random.ts'
import type { apiOf, Workplace } from '../../support/binary.ts'
import type { FakeClock } from './fake-time.ts'

/** What the stages of this part share. */

export interface Stage {
  place: Workplace
  clock: FakeClock
  random: SeededRandom
  isLong: boolean
}

/** Collects everything that is not as it should be. */
export class Findings {
  readonly all: string[] = []

  expect(what: string, found: unknown, expected: unknown): void {
    if (Bun.deepEquals(found, expected)) return
    this.all.push(`${what}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`)
  }
}

export type Api = ReturnType<typeof apiOf>

/** Sends so many heartbeats, and counts those that the limit lets through. */
export async function letThrough(api: Api, count: number): Promise<number> {
  let admitted = 0
  for (let i = 0; i < count; i++) if ((await api('GET', '/heartbeat')).status === 200) admitted++
  return admitted
}

export type Row = Partial<Record<string, string>>

/** The rows of an export, by column; none of these texts is quoted. */
export async function rowsOf(answer: Response): Promise<Row[]> {
  const [head = [], ...rows] = (await answer.text())
    .trim()
    .split('\r\n')
    .map(line => line.split(','))
  return rows.map(row => Object.fromEntries(head.map((name, i) => [name, row[i]!])))
}

/** The runs that started on each day of an answer's range. */
export async function startsOn(answer: Response): Promise<number[]> {
  const { daily } = (await answer.json()) as { daily?: { starts: number }[] }
  return (daily ?? []).map(({ starts }) => starts)
}
