import type { ComponentChildren } from 'preact'
import { manual } from '../api/base.ts'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import type { Installation } from '../installation/state.ts'
import { Icon } from '../parts/icon.tsx'
import { overviewWords } from '../words/overview.ts'

const words = overviewWords.steps

interface FirstStep {
  title: string
  isDone: boolean
  how: ComponentChildren
  link: [string, string]
}

/** How far an organisation has come on the way to its first tour. */
export function firstSteps(
  flows: readonly AuthoredFlow[],
  { installed, stages }: Installation,
): FirstStep[] {
  const arrived = stages.find(({ stage }) => stage === 'events_flowing')
  return [
    {
      title: words.publish,
      isDone: flows.some(({ version }) => version !== null),
      how: (
        <>
          {words.publishHow} <code>{words.publishCommand}</code>
        </>
      ),
      link: [manual('write-flows'), words.publishManual],
    },
    {
      title: words.install,
      isDone: installed,
      how: (
        <>
          {words.installHow} <code>{words.installCommand}</code>
        </>
      ),
      link: [manual('install-the-snippet'), words.installManual],
    },
    {
      title: words.run,
      isDone: arrived?.firstAt != null,
      how: words.runHow,
      link: [manual('troubleshoot'), words.runManual],
    },
  ]
}

/** The way to a first tour; each step ticks itself. */
export const FirstSteps = ({ steps }: { steps: readonly FirstStep[] }) => (
  <section class="part">
    <div class="part-head">
      <h2>{overviewWords.first}</h2>
      <span class="hint">{overviewWords.firstWhy}</span>
    </div>
    <ol class="first-steps">
      {steps.map(({ title, isDone, how, link: [address, name] }, i) => (
        <li key={title} class={isDone ? 'done' : undefined}>
          <span class="step-number">{isDone ? <Icon name="done" size={14} /> : i + 1}</span>
          <div>
            <h3>
              {title} <span class="unseen">({isDone ? words.done : words.open})</span>
            </h3>
            {!isDone && (
              <>
                <p class="hint">{how}</p>
                <a href={address}>{name}</a>
              </>
            )}
          </div>
        </li>
      ))}
    </ol>
  </section>
)
