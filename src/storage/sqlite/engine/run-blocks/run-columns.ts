import type { Database } from 'bun:sqlite'
import { codeOfDuration, noDuration } from '../../../../core/number/statistics.ts'
import { stepOutcomes } from '../../../../core/run/outcome.ts'
import type { FlowPositions } from '../../../../core/run/positions.ts'
import { type RunStep, unpackTraits } from '../../../../core/run/run.ts'
import {
  type ColumnTrait,
  outcomeBits,
  outcomeCodes,
  type Planes,
  type RunColumns,
} from '../../../interfaces/analytics.ts'
import { stateIn } from '../../database/server-state.ts'
import { unpackSteps } from '../../runs/run-rows.ts'
import { WayBuilder } from './way-builder.ts'

/** Rows of runs, and the columns that are made of them: for a block, or directly for an answer. */

/** A run to be put into columns. */
export interface ColumnRun {
  startedAt: number
  lastAt: number
  person: bigint
  version: number
  completedAt: number | null
  dismissedAt: number | null
  /** Packed. */
  traits: string | null
  steps: readonly RunStep[]
  /** The items that the run's person ever ticked, by row. */
  items: readonly number[]
  hasCompletedChecklist: boolean
}

/**
 * Hashes people to 64 bits that nobody outside can foresee. In one of thirty-seven million flows with a
 * million people, two share theirs by chance and are then counted as one. Never 0, which stands for nobody.
 */
function personHash(database: Database): (person: string) => bigint {
  const half = (name: string) => BigInt.asUintN(32, BigInt(stateIn(database, name)))
  const seed = (half('people_seed_1') << 32n) | half('people_seed_2')
  return person => Bun.hash.xxHash64(person, seed) || 1n
}

/**
 * A run's row. If anybody ever ticked anything in the flow, it also has what the run's person did: the
 * items' rows, and 1 for the whole checklist.
 */
export interface ColumnRow {
  id: number
  person: string
  started_at: number
  last_at: number
  version: number
  completed_at: number | null
  dismissed_at: number | null
  steps: string
  traits: string | null
  items?: string | null
  checklist?: number
}

const columnRunOf = (row: ColumnRow, hash: (person: string) => bigint): ColumnRun => ({
  startedAt: row.started_at,
  lastAt: row.last_at,
  person: hash(row.person),
  version: row.version,
  completedAt: row.completed_at,
  dismissedAt: row.dismissed_at,
  traits: row.traits,
  steps: unpackSteps(row.steps),
  items: row.items ? row.items.split(',').map(Number) : [],
  hasCompletedChecklist: row.checklist === 1,
})

/** Rows that one statement reads: one or two milliseconds of work. */
const pageRows = 256

type Cursor = [orgRow: number, flowRow: number, start: number, id: number, to: number]

function statements(database: Database) {
  return {
    hasTicks: database.query<{ found: number }, [number, number]>(
      'select 1 as found from progress where org_id = ? and flow_id = ? limit 1',
    ),
    page: database.query<ColumnRow, Cursor>(
      `select id, person, started_at, last_at, version, completed_at, dismissed_at, steps, traits
      from runs
      where org_id = ?1 and flow_id = ?2 and (started_at, id) > (?3, ?4) and started_at < ?5
      order by started_at, id limit ${pageRows}`,
    ),
    pageWithTicks: database.query<ColumnRow, Cursor>(
      `select runs.id, runs.person, started_at, last_at, version, completed_at, dismissed_at, steps,
        traits, items, checklist_at is not null as checklist
      from runs left join progress
        on progress.org_id = ?1 and progress.flow_id = ?2 and progress.person = runs.person
      where runs.org_id = ?1 and runs.flow_id = ?2
        and (started_at, runs.id) > (?3, ?4) and started_at < ?5
      order by started_at, runs.id limit ${pageRows}`,
    ),
  }
}

/** The rows of runs as they go into columns. */
export class RunPages {
  private readonly sql: ReturnType<typeof statements>
  private readonly hash: (person: string) => bigint

  constructor(database: Database) {
    this.sql = statements(database)
    this.hash = personHash(database)
  }

  /** Runs that started in [from, to), ascending by start; each page is a statement of its own. */
  *between(
    orgRow: number,
    flowRow: number,
    from: number,
    to: number,
  ): Generator<readonly ColumnRun[]> {
    const hasTicks = this.sql.hasTicks.get(orgRow, flowRow) !== null
    const statement = hasTicks ? this.sql.pageWithTicks : this.sql.page
    let last = { started_at: from, id: -1 }
    for (;;) {
      const rows = statement.all(orgRow, flowRow, last.started_at, last.id, to)
      if (rows.length > 0) {
        yield rows.map(row => columnRunOf(row, this.hash))
      }
      if (rows.length < pageRows) return
      last = rows.at(-1)!
    }
  }
}

/** Planes that grow as bits come in. */
class PlaneBuilder {
  readonly planes: Uint8Array[] = []

  constructor(private readonly capacity: number) {}

  set(run: number, bit: number): void {
    while (this.planes.length <= bit >> 3) this.planes.push(new Uint8Array(this.capacity))
    this.planes[bit >> 3]![run]! |= 1 << (bit & 7)
  }

  /** As many planes as some bits need. */
  finished(count: number, bits: number): Planes {
    return Array.from(
      { length: Math.ceil(bits / 8) },
      (_, i) => this.planes[i]?.subarray(0, count) ?? new Uint8Array(count),
    )
  }
}

/** Places of values in the order in which they first came. */
class Places {
  readonly values: number[] = []
  private readonly places = new Map<number, number>()

  of(value: number): number {
    const known = this.places.get(value)
    if (known !== undefined) return known
    this.places.set(value, this.values.length)
    return this.values.push(value) - 1
  }
}

/** The values of one trait, as runs say them. */
class TraitBuilder {
  private readonly places: Uint16Array
  private readonly known = new Map<string, number>()

  constructor(capacity: number) {
    this.places = new Uint16Array(capacity)
  }

  set(run: number, value: string): void {
    const place = this.known.get(value) ?? this.known.size + 1
    this.known.set(value, place)
    this.places[run] = place
  }

  finished(name: string, count: number): ColumnTrait {
    return { name, values: [...this.known.keys()], places: this.places.subarray(0, count) }
  }
}

/** The longest time between the first start and the last, milliseconds. */
const maxColumnsLength = 2 ** 32 - 1

/** Makes columns of runs, which must come in ascending order of start. */
export class RunColumnsBuilder {
  private count = 0
  private readonly starts: Uint32Array
  private readonly people: BigUint64Array
  private readonly states: Uint16Array
  private readonly ends: Uint16Array
  private readonly latelyPlaces: number[] = []
  private readonly latelyAt: number[] = []
  private readonly versions = new Places()
  private readonly stepPlaces = new Places()
  private readonly counts: number[][] = []
  private readonly marks: PlaneBuilder[]
  private readonly spent: number[][] = []
  private readonly items = new Places()
  private readonly ticks: PlaneBuilder
  private readonly traits = new Map<string, TraitBuilder>()
  private readonly ways: WayBuilder | null
  private dependsOnNewest = false

  /**
   * @param from no run starts before this; none starts `longestColumns` after it, or later
   * @param capacity the most runs that there can be
   * @param latelyFrom `lately` tells the runs of which something was heard since this time
   * @param withPaths whether to include `paths`; never for blocks
   */
  constructor(
    private readonly positions: FlowPositions<number>,
    private readonly from: number,
    private readonly capacity: number,
    private readonly latelyFrom: number,
    withPaths = false,
  ) {
    this.starts = new Uint32Array(capacity)
    this.people = new BigUint64Array(capacity)
    this.states = new Uint16Array(capacity)
    this.ends = new Uint16Array(capacity)
    this.marks = stepOutcomes.map(() => new PlaneBuilder(capacity))
    this.ticks = new PlaneBuilder(capacity)
    this.ways = withPaths ? new WayBuilder(capacity) : null
  }

  add(run: ColumnRun): void {
    const i = this.count++
    const { completedAt, startedAt } = run
    this.starts[i] = startedAt - this.from
    this.people[i] = run.person
    this.addSteps(i, run)
    if (run.traits !== null) this.addTraits(i, run.traits)
    if (this.ways) {
      const path = this.positions.inTime(run.steps, run.version)
      this.ways.set(
        i,
        path.map(step => this.stepPlaces.of(step)),
      )
    }
    let outcome: number = outcomeCodes.inProgress
    if (completedAt !== null) {
      outcome = outcomeCodes.completed
      this.ends[i] = codeOfDuration(Math.max(0, completedAt - startedAt))
    } else {
      if (run.dismissedAt !== null) outcome = outcomeCodes.dismissed
      else if (run.lastAt >= this.latelyFrom) {
        this.latelyPlaces.push(i)
        this.latelyAt.push(run.lastAt)
      }
      const furthest = this.positions.furthest(run.steps, run.version)
      this.ends[i] = furthest === null ? 0 : this.stepPlaces.of(furthest) + 1
    }
    this.states[i] = (this.versions.of(run.version) << outcomeBits) | outcome
    if (run.hasCompletedChecklist) this.ticks.set(i, 0)
    for (const item of run.items) this.ticks.set(i, this.items.of(item) + 1)
  }

  private addTraits(run: number, packed: string): void {
    for (const [name, value] of Object.entries(unpackTraits(packed))) {
      const trait = this.traits.get(name) ?? new TraitBuilder(this.capacity)
      this.traits.set(name, trait)
      trait.set(run, value)
    }
  }

  private addSteps(run: number, { steps, version }: ColumnRun): void {
    for (const step of steps) {
      const place = this.stepPlaces.of(step.stepId)
      this.counts[place] ??= stepOutcomes.map(() => 0)
      if (step.viewedAt !== null) {
        this.mark(run, 0, place)
        const ms = this.positions.durationMs(step, steps, version)
        this.spent[place] ??= []
        this.spent[place].push(ms === null ? noDuration : codeOfDuration(ms))
        this.dependsOnNewest ||= !this.positions.inRun(step.stepId, version).isOwn
      }
      if (step.completedAt !== null) this.mark(run, 1, place)
      if (step.skippedAt !== null) this.mark(run, 2, place)
      if (step.missingAt !== null) this.mark(run, 3, place)
    }
  }

  private mark(run: number, outcome: number, place: number): void {
    this.marks[outcome]!.set(run, place)
    this.counts[place]![outcome]!++
  }

  finish(): RunColumns {
    const { count } = this
    const steps = this.stepPlaces.values.map((ref, place) => ({ ref, counts: this.counts[place]! }))
    const itemBits = this.items.values.length + 1
    const hasTicks = this.ticks.planes.length > 0
    return {
      count,
      from: this.from,
      starts: this.starts.subarray(0, count),
      people: new Uint32Array(this.people.buffer, 0, count * 2),
      states: this.states.subarray(0, count),
      ends: this.ends.subarray(0, count),
      lately: {
        places: new Uint32Array(this.latelyPlaces),
        at: new Float64Array(this.latelyAt),
      },
      versions: this.versions.values,
      steps,
      // Outcomes that nobody had, such as a missing target, take no room.
      marks: this.marks.map(marks =>
        marks.planes.length === 0 ? [] : marks.finished(count, steps.length),
      ),
      spent: steps.map((_, place) => new Uint16Array(this.spent[place] ?? [])),
      items: this.items.values,
      ticks: hasTicks ? this.ticks.finished(count, itemBits) : [],
      traits: [...this.traits].map(([name, trait]) => trait.finished(name, count)),
      paths: this.ways?.finished(count) ?? null,
      dependsOnNewest: this.dependsOnNewest,
    }
  }
}

/** Columns of some runs, ascending by start: mostly one, but none may span more than `longestColumns`. */
export function* columnsOfRuns(
  runs: readonly ColumnRun[],
  positions: FlowPositions<number>,
  withPaths = false,
): Generator<RunColumns> {
  const builderFrom = (at: number) =>
    new RunColumnsBuilder(positions, at, runs.length, Number.NEGATIVE_INFINITY, withPaths)
  let since = runs[0]!.startedAt
  let builder = builderFrom(since)
  for (const run of runs) {
    if (run.startedAt - since > maxColumnsLength) {
      yield builder.finish()
      since = run.startedAt
      builder = builderFrom(since)
    }
    builder.add(run)
  }
  yield builder.finish()
}
