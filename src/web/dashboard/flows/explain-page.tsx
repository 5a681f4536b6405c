import { usePosted } from '../api/posted.ts'
import { useRead } from '../api/read.ts'
import { LinkButton } from '../parts/button.tsx'
import { addressOf, useFilters } from '../shell/address.ts'
import { PageHead } from '../shell/page-head.tsx'
import { Notice, Reading } from '../shell/states.tsx'
import { ExplainForm } from './explain-form.tsx'
import { bodyOf, filtersOf, isWhole, type Question, questionIn } from './explain-question.ts'
import { ExplainedTable } from './explained-table.tsx'
import { type Explanation, FlowExplanation } from './explanation.tsx'
import { type AuthoredFlow, type FlowList, flowsPath } from './flow-list.ts'

/** The number of flows that are explained together. Each is one request. */
const maxAtOnce = 30

function Answer({ question, flows }: { question: Question; flows: readonly AuthoredFlow[] }) {
  const published = flows.filter(({ status }) => status === 'published')
  const flowKeys = question.flow ? [question.flow] : published.map(({ key }) => key)
  const bodies = flowKeys.slice(0, maxAtOnce).map(flow => bodyOf(question, flow))
  const answer = usePosted<Explanation>('/manage/explain', bodies)
  const nameOf = (key: string) => flows.find(flow => flow.key === key)?.name ?? key
  if (flowKeys.length === 0) {
    return (
      <Notice
        icon="flows"
        title="No published flows"
        actions={<LinkButton href={addressOf(['flows'])}>Flows</LinkButton>}
      >
        Publish a flow first, or choose a draft above.
      </Notice>
    )
  }
  return (
    <Reading of={answer}>
      {explanations => {
        const [first] = explanations
        if (question.flow && first) return <FlowExplanation explanation={first} nameOf={nameOf} />
        return (
          <>
            <ExplainedTable explanations={explanations} nameOf={nameOf} />
            {flowKeys.length > maxAtOnce && (
              <p class="footnote fine">The first {maxAtOnce} published flows.</p>
            )}
          </>
        )
      }}
    </Reading>
  )
}

/** Whether somebody sees a flow on a page, and why. The question is kept in the address. */
export default function ExplainPage() {
  const { filters, setFilters } = useFilters()
  const question = questionIn(filters)
  const list = useRead<FlowList>(flowsPath)
  return (
    <>
      <PageHead title="Troubleshoot">
        <p class="hint">
          Check whether a person sees a flow on a page, and why. To share the check, copy this
          page’s URL.
        </p>
      </PageHead>
      <Reading of={list}>
        {({ flows }) => (
          <>
            <ExplainForm
              key={JSON.stringify(question)}
              question={question}
              flows={flows}
              onAsk={requested => setFilters(filtersOf(requested))}
            />
            <p class="on-paper">
              {[question.url, question.user || question.anonymous].filter(Boolean).join(', ')}
            </p>
            {isWhole(question) ? (
              <Answer question={question} flows={flows} />
            ) : (
              <Notice icon="explain" title="Enter a page URL">
                Add a person to check what they have done before, too.
              </Notice>
            )}
          </>
        )}
      </Reading>
    </>
  )
}
