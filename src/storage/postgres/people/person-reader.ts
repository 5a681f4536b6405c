import { personOf } from '../../../core/event/event.ts'
import type { PersonIds } from '../../../core/event/stored-event.ts'
import { Readers } from '../../sqlite/readers.ts'
import type { Queries } from '../database/connection.ts'
import { Scratch } from '../projections/scratch.ts'
import { readCaused, readPeople, type State } from '../projections/state.ts'

/** What is kept of one person, as their browser asks for it: by the code of a server alone. */
export class PersonReader {
  private readonly scratch: Scratch
  private readonly readers: Readers

  constructor(private readonly queries: Queries) {
    this.scratch = new Scratch(() => ({ versions: [] }), {
      next() {
        throw new Error('Nothing is written here')
      },
    })
    this.readers = new Readers(this.scratch.database)
  }

  progress(orgRow: number, flowRow: number, ids: PersonIds) {
    return this.of(orgRow, [flowRow], ids, () => this.readers.progress(orgRow, flowRow, ids))
  }

  histories(orgRow: number, flowRows: readonly number[], ids: PersonIds) {
    return this.of(orgRow, flowRows, ids, () => this.readers.histories(orgRow, flowRows, ids))
  }

  async caused(orgRow: number, ids: PersonIds) {
    const person = personOf(ids.userId, ids.anonymousId)
    const rows = await readCaused(this.queries, [{ org_id: orgRow, person }])
    return this.read([new Map([['caused_events', rows]])], () => this.readers.caused(orgRow, ids))
  }

  /** See `ChecklistReader.version`. Who is known to be erased is told nothing by it that others are not. */
  async version(orgRow: number, { userId, anonymousId }: PersonIds): Promise<string> {
    const changed = await this.queries.get<{ seq: number }>(
      'select seq from person_changes where org_id = $1 and person = $2',
      orgRow,
      personOf(userId, anonymousId),
    )
    return (changed?.seq ?? 0).toString(36)
  }

  private async of<T>(
    orgRow: number,
    flowRows: readonly number[],
    ids: PersonIds,
    read: () => Promise<T>,
  ): Promise<T> {
    const person = personOf(ids.userId, ids.anonymousId)
    const whom = flowRows.map(flow_id => ({ org_id: orgRow, flow_id, person }))
    return this.read([await readPeople(this.queries, whom, [])], read)
  }

  /** The readers do all of their work in the turn in which they are asked. */
  private read<T>(states: readonly State[], read: () => Promise<T>): Promise<T> {
    let answer!: Promise<T>
    this.scratch.work(states, () => {
      answer = read()
    })
    return answer
  }
}
