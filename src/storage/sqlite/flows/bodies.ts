import type { Flow } from '../../../core/flow/flow.ts'
import { shownAs } from '../../../core/flow/shown-as.ts'
import type { PreparedBody } from '../../../core/organisation/catalogue.ts'
import type { Organisation, PublishedFlows } from '../catalogue/entries.ts'
import type { CatalogueRows } from '../catalogue/rows.ts'

/** One version of a flow. */
interface Publication {
  flow_id: number
  version: number
}

/** Each of them costs a request one index look-up. */
const maxRemembered = 200

const hashOf = (text: string) => Bun.hash.xxHash64(text).toString(36)

/** A version is never edited or removed, so its text can be read whenever it is wanted. */
function textOf(rows: CatalogueRows, { flow_id, version }: Publication): string {
  const row = rows.page.get(flow_id, version)
  if (!row) throw new Error(`Version ${version} of the flow in row ${flow_id} is missing`)
  return row.page
}

/**
 * One published flow as callers get it. Its text is read on demand and not kept here, because
 * callers want it in some encoding, and whoever encodes it keeps the result.
 */
export class FlowBody implements PreparedBody {
  readonly hash: string
  constructor(
    private readonly rows: CatalogueRows,
    private readonly publication: Publication,
  ) {
    this.hash = hashOf(this.text)
  }

  get text(): string {
    return textOf(this.rows, this.publication)
  }
}

/**
 * All published flows of an organisation as callers get them, and the settings that its pages heed. Like
 * that of `FlowBody`, its text is read on demand and not kept here.
 */
export class FlowListBody implements PublishedFlows {
  /** Hash of the whole. */
  readonly version: string
  private readonly publications: readonly Publication[]
  /** Fields after the flows: none by default, so that the list stays as it always was. */
  private readonly more: string
  /** Whether everything that interrupts a person counts. */
  private readonly isThrottled: boolean
  private knownRemembered: PublishedFlows['remembered'] | null = null

  constructor(
    private readonly rows: CatalogueRows,
    { ref, honoursDoNotTrack, traits, theme, throttle }: Organisation,
    readonly asksForEvents: boolean,
  ) {
    const published = rows.published.all(ref)
    const flows = arrayOf(published.map(({ page }) => page))
    this.more =
      (honoursDoNotTrack ? ',"honoursDoNotTrack":true' : '') +
      (traits.length > 0 ? `,"traits":${JSON.stringify(traits)}` : '') +
      (theme ? `,"theme":${JSON.stringify(theme)}` : '') +
      (throttle === null ? '' : `,"throttle":${throttle}`)
    this.isThrottled = throttle !== null
    this.version = hashOf(flows + this.more)
    this.publications = published.map(({ flow_id, version }) => ({ flow_id, version }))
  }

  get hash(): string {
    return this.version
  }

  get count(): number {
    return this.publications.length
  }

  get remembered(): PublishedFlows['remembered'] {
    this.knownRemembered ??= this.readRemembered()
    return this.knownRemembered
  }

  private readRemembered(): PublishedFlows['remembered'] {
    const published = this.publications.map(publication => ({
      ref: publication.flow_id,
      flow: JSON.parse(textOf(this.rows, publication)) as Flow,
    }))
    const listsAnnouncements = published.some(({ flow }) =>
      flow.launcher?.items.some(({ announcements }) => announcements),
    )
    const awaited = new Set(published.map(({ flow }) => flow.when?.after))
    return published
      .filter(
        ({ flow }) =>
          shownAs(flow) === 'checklist' ||
          flow.frequency !== 'always' ||
          (listsAnnouncements && flow.kind === 'announcement') ||
          this.isThrottled ||
          awaited.has(flow.key),
      )
      .slice(0, maxRemembered)
      .map(({ ref, flow }) => ({ ref, id: flow.id }))
  }

  get text(): string {
    const flows = arrayOf(this.publications.map(publication => textOf(this.rows, publication)))
    return `{"flows":${flows},"version":"${this.version}"${this.more}}`
  }
}

const arrayOf = (texts: readonly string[]) => `[${texts.join(',')}]`
