import { machineText } from '../report/machine.ts'
import { begin } from '../report/progress.ts'
import { markdownOf } from '../report/table.ts'
import { type History, storeHistory } from './history.ts'
import type { Loaded } from './load.ts'
import { Missing } from './stores.ts'

/** One line of the table. */
export interface Figure {
  what: string
  unit: string
  /** One number a round. */
  cairn: readonly number[]
  /** From the same rounds: of the floor, unless `what` names another program. */
  beside?: readonly number[]
  /** `≤ 25` for the figure itself, `≤ 1.9 ×` for its ratio to what is beside it. */
  goal?: string | undefined
}

export interface Effort {
  rounds: number
  /** Length of a load. */
  seconds: number
  /** Runs of each large flow of the stored history. */
  storedRuns: number
}

/** A run of the bench: measures step by step, and collects the figures. */
export class Bench {
  private readonly rows: string[][] = []
  private readonly notes: string[] = []
  private stored: Promise<History> | undefined

  constructor(readonly effort: Effort) {}

  /** Takes a step. If it fails, the figures of the others are worth as much without it. */
  async measure(part: string, what: string, step: () => Promise<readonly Figure[]>): Promise<void> {
    begin(`${part}: ${what}`)
    try {
      for (const figure of await step()) this.rows.push([part, ...cellsOf(figure)])
    } catch (error) {
      this.notes.push(`${part}: ${what} was left out: ${(error as Error).message}`)
      begin(this.notes.at(-1)!)
      if (error instanceof Missing) return
      console.error(error)
      process.exitCode = 1
    }
  }

  /** Measures in turns, so that a machine that is busy for a while disturbs all alike. */
  async inTurns<Result>(...measures: (() => Promise<Result>)[]): Promise<Result[][]> {
    const results = measures.map(() => [] as Result[])
    for (let round = 0; round < this.effort.rounds; round++) {
      for (const [i, measure] of measures.entries()) results[i]!.push(await measure())
    }
    return results
  }

  /** The long history, which the first step that needs it stores. */
  history(): Promise<History> {
    this.stored ??= storeHistory(this.effort.storedRuns)
    return this.stored
  }

  /** All figures as a table in Markdown, for the record. */
  table(): string {
    const header = ['part', 'measure', 'Cairn', 'beside it', 'ratio', 'goal']
    return markdownOf({ title: machineText(), header, rows: this.rows, notes: this.notes }).join(
      '\n',
    )
  }
}

/** Rate and CPU of two programs under the same load; a request holds so many events, or none. */
export function compared(
  what: string,
  [cairn, beside]: readonly (readonly Loaded[] | undefined)[],
  events: number | null,
  goals: { rate?: string; cpu?: string } = {},
): Figure[] {
  const unit = events === null ? 'request' : 'event'
  const figure = (name: string, unit: string, of: (load: Loaded) => number, goal?: string) => {
    return { what: name, unit, cairn: cairn!.map(of), beside: beside!.map(of), goal }
  }
  return [
    figure(what, `${unit}s/s`, load => load.perSecond * (events ?? 1), goals.rate),
    figure(`${what}: CPU`, `µs/${unit}`, load => load.cpuMicros / (events ?? 1), goals.cpu),
  ]
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2
}

function cellsOf({ what, unit, cairn, beside, goal = '' }: Figure): string[] {
  const ratio = beside === undefined ? Number.NaN : median(cairn) / median(beside)
  const [sign, bound, times] = goal.replace(',', '').split(' ')
  const value = times === '×' ? ratio : median(cairn)
  const isMet = sign === '≤' ? value <= Number(bound) : value >= Number(bound)
  const verdict = goal === '' ? '' : `${goal}: ${isMet ? 'met' : 'missed'}`
  const besides = beside === undefined ? ['', ''] : [rounded(beside, unit), `${ratio.toFixed(2)} ×`]
  return [what, rounded(cairn, unit), ...besides, verdict]
}

/** The median, and how far apart the rounds are. */
function rounded(values: readonly number[], unit: string): string {
  const middle = median(values)
  const digits = middle >= 100 ? 0 : middle >= 10 ? 1 : 2
  const number = middle.toLocaleString('en-US', { maximumFractionDigits: digits })
  const spread = (Math.max(...values) - Math.min(...values)) / 2 / middle
  return `${number} ${unit}${spread > 0 ? ` ± ${Math.round(spread * 100)} %` : ''}`
}
