import { manual } from '../api/base.ts'
import { session } from '../api/session.ts'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import { Code } from '../parts/code.tsx'
import { Part } from '../parts/part.tsx'
import { addressOf } from '../shell/address.ts'
import { firstTour, publishFirst, installationWords as words } from '../words/installation.ts'
import { addressFor, tagFor } from './code-for.ts'
import type { Installation } from './state.ts'
import { type Step, Steps } from './steps.tsx'

const { steps } = words

/** Whether an organisation is still on the way to its first tour. */
export const isOnTheWay = (flows: readonly AuthoredFlow[], { installed }: Installation): boolean =>
  !installed || flows.every(({ version }) => version === null)

function firstSteps(flows: readonly AuthoredFlow[], installation: Installation): Step[] {
  const { installed, snippetKey } = installation
  const address = addressFor(installation)
  const first = flows[0]
  return [
    {
      title: steps.install,
      isDone: installed,
      how: (
        <>
          <p class="hint">
            {steps.installHow} <a href={addressOf(['install'])}>{steps.installLink}</a>
          </p>
          {snippetKey && (
            <Code name={words.tag}>
              {tagFor(installation, snippetKey, { hasLogin: true, isPinned: false })}
            </Code>
          )}
        </>
      ),
    },
    {
      title: steps.push,
      isDone: first !== undefined,
      how: (
        <>
          <p class="hint">{steps.pushHow}</p>
          <Code name={steps.pushCode}>{firstTour(address)}</Code>
          <p class="hint">{steps.pushToken(session.value?.organisation.slug ?? '')}</p>
          <a href={manual('write-flows')}>{steps.manual}</a>
        </>
      ),
    },
    {
      title: steps.publish,
      isDone: flows.some(({ version }) => version !== null),
      how: (
        <>
          <p class="hint">{steps.publishHow}</p>
          <Code name={steps.publishCode}>{publishFirst(address, first?.key ?? 'welcome')}</Code>
        </>
      ),
    },
  ]
}

/** The steps that lead an organisation to its first tour. */
export const FirstTour = ({
  flows,
  installation,
}: {
  flows: readonly AuthoredFlow[]
  installation: Installation
}) => (
  <Part title={words.firstTour} beside={<span class="hint">{words.firstTourWhy}</span>}>
    <Steps steps={firstSteps(flows, installation)} />
  </Part>
)
