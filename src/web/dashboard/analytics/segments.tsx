import type { Me } from '../../../modules/access/schema.ts'
import { manual } from '../api/base.ts'
import { useRead } from '../api/read.ts'
import { may } from '../api/session.ts'
import { LinkButton } from '../parts/button.tsx'
import { Select } from '../parts/select.tsx'
import { Tip } from '../parts/tip.tsx'
import { addressOf, useFilters } from '../shell/address.ts'
import { Reading } from '../shell/states.tsx'
import { segmentWords as words } from '../words/segments.ts'
import { GroupTable } from './group-table.tsx'
import { type Analytics, csvOf, everyMs, type Question, segmentsQuery } from './question.ts'

type Segment = NonNullable<Analytics['segments']>[number]

/** Traits seldom change. A change made here reads everything again anyway. */
const seldomMs = 10 * 60_000

/** The traits that the organisation lists; null until they are known. */
export const useTraits = (): readonly string[] | null =>
  useRead<Me>('/manage/me', seldomMs).data?.traits ?? null

/** Chooses the trait by which runs are grouped. The address keeps the choice. */
function ByTrait({ question, traits }: { question: Question; traits: readonly string[] }) {
  const { setFilters } = useFilters()
  return (
    <Select
      isInline
      label={words.by}
      value={question.by ?? ''}
      options={[['', words.nothing], ...traits.map(trait => [trait, trait] as const)]}
      onChange={by => setFilters({ by, segment: null })}
    />
  )
}

/** Says which runs alone are counted, with a link back to all of them. */
export function Only({ question }: { question: Question }) {
  const { withFilters } = useFilters()
  if (question.only === null) return null
  const [trait = ''] = question.only.split(':', 1)
  const value = question.only.slice(trait.length + 1) || words.isNotSaid
  return (
    <p class="only" role="status">
      {words.only(trait)} <strong>{value}</strong>{' '}
      <LinkButton href={withFilters({ segment: null })}>{words.all}</LinkButton>
    </p>
  )
}

/** A link to the runs of one value. Rarer values are put together and cannot be asked for. */
function Value({ segment: { trait, kind, value, values } }: { segment: Segment }) {
  const { withFilters } = useFilters()
  if (kind === 'other') return <>{words.others(values)}</>
  const name = value ?? words.values.not_said
  return (
    <a href={withFilters({ segment: `${trait}:${value ?? ''}` })} title={words.show(name)}>
      {name}
    </a>
  )
}

function BySegment({ flowId, flowKey, question, trait }: Asked & { trait: string }) {
  const query = segmentsQuery(question, trait)
  const read = useRead<Analytics>(`/flows/${flowId}/analytics?${query}`, everyMs * 4)
  return (
    <Reading of={read} lines={4}>
      {({ segments = [], definitions }) =>
        segments.length === 0 ? (
          <p class="footnote">{words.none}</p>
        ) : (
          <>
            <GroupTable
              caption={words.caption(trait)}
              of={trait}
              definitions={definitions}
              rows={segments}
              keyOf={({ kind, value }) => `${kind}:${value}`}
              nameOf={segment => <Value segment={segment} />}
            />
            {segments.some(({ kind }) => kind === 'not_said') && (
              <p class="footnote">
                <Tip text={definitions.segments}>{words.notSaidWhy}</Tip>
              </p>
            )}
            <div class="row-actions">
              <LinkButton icon="download" href={csvOf(flowKey, query)} download>
                {words.csv}
              </LinkButton>
            </div>
          </>
        )
      }
    </Reading>
  )
}

interface Asked {
  flowId: string
  flowKey: string
  question: Question
}

/** How runs end, by the traits of their people. */
export function BySegments({ traits, ...asked }: Asked & { traits: readonly string[] }) {
  const { by } = asked.question
  return (
    <section class={by === null ? 'part off-paper' : 'part'}>
      <div class="part-head">
        <h2>{words.title}</h2>
        {traits.length > 0 && (
          <div class="controls-start">
            <ByTrait question={asked.question} traits={traits} />
          </div>
        )}
      </div>
      {by !== null ? (
        <BySegment {...asked} trait={by} />
      ) : traits.length > 0 ? (
        <p class="footnote">{words.choose}</p>
      ) : (
        <>
          <p class="footnote">
            {words.empty}. {words.emptyWhy}
          </p>
          <div class="row-actions">
            {may('settings:write') && (
              <LinkButton href={addressOf(['settings', 'traits'])}>{words.list}</LinkButton>
            )}
            <LinkButton href={manual('analytics')}>{words.manual}</LinkButton>
          </div>
        </>
      )}
    </section>
  )
}
