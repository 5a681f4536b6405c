import type { Flow, FlowDefinition } from '../../../core/flow/flow.ts'
import type { Question } from '../../../core/flow/question.ts'
import type { FlowEntry, FlowVersion, Organisation } from './entries.ts'
import type { CatalogueFlowRow, CatalogueRows, VersionRow } from './rows.ts'

/** What only few requests need of a flow. */
interface FlowDetails {
  latest: Flow | null
  name: string
  steps: FlowEntry['steps']
  stepRefs: FlowEntry['stepRefs']
  itemRefs: FlowEntry['itemRefs']
}

/** Most flows have no items. */
const noRows: readonly number[] = []

const rowsIn = (text: string): readonly number[] => (text === '[]' ? noRows : JSON.parse(text))

const versionOf = (row: VersionRow): FlowVersion => ({
  version: row.version,
  publishedAt: row.published_at,
  stepRefs: rowsIn(row.step_rows),
  itemRefs: rowsIn(row.item_rows),
})

/**
 * A flow of the catalogue. What every event needs is in memory. The details are read when they are needed
 * for, and dropped when memory is needed for something else, because a parsed flow takes ten times the
 * memory of its text.
 */
export class CatalogueFlow implements FlowEntry {
  readonly ref: number
  readonly id: string
  readonly key: string
  readonly status: FlowEntry['status']
  readonly versions: readonly FlowVersion[]
  private known: WeakRef<FlowDetails> | null = null
  /** Kept, because there are few and every answer that arrives needs them. */
  private questionsOfSteps: FlowEntry['questions'] | null = null

  constructor(
    private readonly rows: CatalogueRows,
    readonly organisation: Organisation,
    flow: CatalogueFlowRow,
    versions: readonly VersionRow[],
  ) {
    this.ref = flow.ref
    this.id = flow.id
    this.key = flow.key
    this.status = flow.status
    this.versions = versions.map(versionOf)
  }

  get latest(): Flow | null {
    return this.details.latest
  }

  get definition(): FlowDefinition | null {
    const version = this.versions.at(-1)?.version
    const row = version === undefined ? null : this.rows.definition.get(this.ref, version)
    return row && JSON.parse(row.definition)
  }

  get name(): string {
    return this.details.name
  }

  get steps(): FlowEntry['steps'] {
    return this.details.steps
  }

  get stepRefs(): FlowEntry['stepRefs'] {
    return this.details.stepRefs
  }

  get itemRefs(): FlowEntry['itemRefs'] {
    return this.details.itemRefs
  }

  get questions(): FlowEntry['questions'] {
    if (this.questionsOfSteps) return this.questionsOfSteps
    const ofSteps = Map.groupBy(this.rows.questions.all(this.ref), ({ id }) => id)
    const questionsIn = (rows: readonly { question: string }[]) =>
      rows.map(({ question }) => JSON.parse(question) as Question)
    this.questionsOfSteps = new Map([...ofSteps].map(([id, rows]) => [id, questionsIn(rows)]))
    return this.questionsOfSteps
  }

  private get details(): FlowDetails {
    const known = this.known?.deref()
    if (known) return known
    const details = this.read()
    this.known = new WeakRef(details)
    return details
  }

  private read(): FlowDetails {
    const { ref: row, key, versions } = this
    const version = versions.at(-1)?.version
    // A version never changes, so its text is the same even if it is read later.
    const body = version === undefined ? null : this.rows.page.get(row, version)
    const latest = body && (JSON.parse(body.page) as Flow)
    const steps = this.rows.stepNames.all(row)
    const everPublished = new Set(versions.flatMap(({ stepRefs }) => stepRefs))
    return {
      latest,
      name: latest?.name ?? this.rows.draftName.get(row)?.name ?? key,
      steps: new Map(
        steps
          .filter(({ id }) => everPublished.has(id))
          .map(({ id, public_id, key, title }) => [id, { id: public_id, key, title: title ?? '' }]),
      ),
      stepRefs: new Map(steps.map(({ id, public_id }) => [public_id, id])),
      itemRefs: new Map(this.rows.itemsOfFlow.all(row).map(({ id, public_id }) => [public_id, id])),
    }
  }
}
