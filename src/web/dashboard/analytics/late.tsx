import { useRead } from '../api/read.ts'
import { LinkButton } from '../parts/button.tsx'
import { Choice } from '../parts/choice.tsx'
import { Defined } from '../parts/defined.tsx'
import { useFilters } from '../shell/address.ts'
import { Reading } from '../shell/states.tsx'
import { segmentWords as words } from '../words/segments.ts'
import { GroupTable } from './group-table.tsx'
import { type Analytics, csvOf, everyMs, lateQuery, type Question } from './question.ts'

const defaultAfter = '24h'

function Cohorts({
  flowId,
  flowKey,
  question,
  late,
}: {
  flowId: string
  flowKey: string
  question: Question
  late: string
}) {
  const query = lateQuery(question, late)
  const read = useRead<Analytics>(`/flows/${flowId}/analytics?${query}`, everyMs * 4)
  return (
    <Reading of={read} lines={3}>
      {({ late: told, definitions }) =>
        told && (
          <>
            <GroupTable
              caption={words.lateCaption(told.title || told.key)}
              of={words.cohort}
              definitions={definitions}
              rows={told.cohorts}
              keyOf={({ cohort }) => cohort}
              nameOf={({ cohort }) => (
                <Defined means={definitions.late}>{words.cohorts[cohort]}</Defined>
              )}
            />
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

/** How runs end, depending on when they first saw a step. */
export function Late({ data, question }: { data: Analytics; question: Question }) {
  const { setFilters } = useFilters()
  const { flowId, flowKey, steps } = data
  if (steps.length === 0) return null
  const { late } = question
  const cut = late?.lastIndexOf(':') ?? -1
  const [step, after] = late ? [late.slice(0, cut), late.slice(cut + 1)] : ['', defaultAfter]
  const choose = (step: string, after: string) =>
    setFilters({ late: step === '' ? null : `${step}:${after}` })
  return (
    <section class={late ? 'part' : 'part off-paper'}>
      <div class="part-head">
        <h2>{words.lateTitle}</h2>
        <div class="controls-start">
          <Choice
            label={words.step}
            value={step}
            options={[
              ['', words.noStep],
              ...steps.map(({ key, title }) => [key, title || key] as const),
            ]}
            onChoose={chosen => choose(chosen, after)}
          />
          {late && (
            <Choice
              label={words.after}
              value={after}
              options={words.afters}
              onChoose={chosen => choose(step, chosen)}
            />
          )}
        </div>
      </div>
      {late ? (
        <Cohorts flowId={flowId} flowKey={flowKey} question={question} late={late} />
      ) : (
        <p class="footnote">{words.lateChoose}</p>
      )}
    </section>
  )
}
