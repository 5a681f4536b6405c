import type { FlowDefinition } from '../../../core/flow/flow.ts'
import { pagesOverlap } from '../../../core/flow/page-overlap.ts'
import { shownAs } from '../../../core/flow/shown-as.ts'
import { useOnce } from '../api/once.ts'
import { never, useRead } from '../api/read.ts'
import { ask } from '../api/request.ts'
import { may } from '../api/session.ts'
import { Facts } from '../parts/facts.tsx'
import { formatCount } from '../parts/format.ts'
import { addressOf } from '../shell/address.ts'
import { meantFor } from './meant-for.ts'
import { PreviewOnPage } from './preview/on-page.tsx'

interface Listed {
  flows: readonly {
    key: string
    name: string
    status: string
    published?: FlowDefinition | null
  }[]
}

/** The response of `POST /manage/audience`. */
interface Audience {
  days: number
  people: number
  matching: number
  unknown: number
  traits: readonly { trait: string; isListed: boolean }[]
  pages: readonly { match: string; pattern: string; matching: number }[]
  anyPage: { matching: number }
}

/** Published flows that can be due on the same pages and in the same place. */
function useCompeting(flow: FlowDefinition) {
  const list = useRead<Listed>('/manage/flows?definitions=1', never)
  return list.data?.flows
    .flatMap(({ key, name, status, published }) =>
      published && status === 'published' && key !== flow.key ? [{ key, name, published }] : [],
    )
    .filter(
      ({ published }) =>
        shownAs(published) === shownAs(flow) &&
        pagesOverlap(published.targeting.urls, flow.targeting.urls),
    )
    .sort((a, b) => b.published.priority - a.published.priority)
}

function Competing({ flow }: { flow: FlowDefinition }) {
  const competing = useCompeting(flow)
  if (!competing) return <span class="hint">…</span>
  if (competing.length === 0) return 'No other published flow is for these pages'
  const order = (priority: number) => {
    if (priority === flow.priority) return 'same priority'
    return priority > flow.priority ? 'comes before it' : 'comes after it'
  }
  return (
    <ul class="stack gap-1">
      {competing.map(({ key, name, published }) => (
        <li key={key}>
          <a href={addressOf(['flows', key])}>{name}</a>
          <span class="row-note fine">{order(published.priority)}</span>
        </li>
      ))}
    </ul>
  )
}

/** How many people of the last days the flow is for, and on which pages they were. */
function Reach({ flow: { targeting } }: { flow: FlowDefinition }) {
  const { value, failure } = useOnce(JSON.stringify(targeting), async () => {
    const options = { method: 'POST', body: targeting } as const
    return (await ask<Audience>('/manage/audience', options)).value!
  })
  if (failure) return <span class="hint">Could not be counted</span>
  if (!value) return <span class="hint">…</span>
  const { days, people, matching, unknown, anyPage, pages } = value
  if (people === 0) return `Nobody was seen in the last ${days} days`
  const unlisted = value.traits.filter(({ isListed }) => !isListed).map(({ trait }) => trait)
  return (
    <>
      {formatCount(anyPage.matching)} of {formatCount(people)} people of the last {days} days
      {unknown > 0 &&
        `; unknown for ${formatCount(unknown)}, who have not reported ${value.traits.map(({ trait }) => trait).join(', ')}`}
      {pages.length > 0 && (
        <ul class="stack gap-1">
          {pages.map(page => (
            <li key={`${page.match} ${page.pattern}`}>
              <code>{page.pattern}</code>{' '}
              <span class="hint">{formatCount(page.matching)} people</span>
            </li>
          ))}
        </ul>
      )}
      {unlisted.length > 0 && (
        <p class="hint">
          Not reported by your pages: {unlisted.join(', ')}. An owner can list it in Settings.
        </p>
      )}
      {matching === 0 && unknown === 0 && (
        <p class="problem">Nobody matches. Check the audience.</p>
      )}
    </>
  )
}

/** What an author should know before visitors see a flow: who, where, when, and beside what. */
export function PublishReview({ flow, flowKey }: { flow: FlowDefinition; flowKey: string }) {
  return (
    <>
      <Facts
        of={[
          ...meantFor(flow),
          ...(may('analytics:read') ? [['Reach', <Reach key="reach" flow={flow} />] as const] : []),
          ['May compete with', <Competing key="competing" flow={flow} />],
        ]}
      />
      <div class="row">
        <PreviewOnPage flowKey={flowKey} isUnsaved={false} />
        <span class="hint">Show it to yourself first. Nothing is counted.</span>
      </div>
    </>
  )
}
