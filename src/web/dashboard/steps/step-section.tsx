import { may } from '../api/session.ts'
import type { Written } from '../flows/definition.ts'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import { Badge } from '../parts/badge.tsx'
import { LinkButton } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { Tip } from '../parts/tip.tsx'
import { addressOf } from '../shell/address.ts'
import { type Candidate, candidateOf } from './candidate.ts'
import { Element } from './element.tsx'
import {
  type CheckedStep,
  isWell,
  nameOfState,
  type StepCheck,
  type StepState,
  toneOfState,
} from './health.ts'
import { History } from './history.tsx'
import { type Acting, Pick, Pin, Repair, WithDraft } from './step-actions.tsx'
import { StepFacts, StepPages } from './step-facts.tsx'

const Known = ({ candidate }: { candidate: Candidate }) => (
  <>
    <p>
      <code>{candidate.selector}</code>
    </p>
    <ul class="stack gap-1 soft">
      <li class="line start">
        <Icon name="done" /> {candidate.known}
      </li>
      {candidate.fragile.length === 0 ? (
        <li class="line start">
          <Icon name="done" /> Looks stable across builds.
        </li>
      ) : (
        candidate.fragile.map(sentence => (
          <li key={sentence} class="line start">
            <Icon name="warning" /> {sentence}.
          </li>
        ))
      )}
    </ul>
  </>
)

const stateMeans: Record<StepState, string> = {
  healthy: 'Almost everybody sees the element.',
  drifting: 'The element is found, but often only by a fallback: its page has changed.',
  flaky: 'Some people do not see the element.',
  broken: 'Half of the people or more do not see the element.',
  unknown: 'Too few people have seen the step to tell.',
}

/** What to do about a step that is not well. */
function Remedy({ drafted, ...acting }: Acting & { drafted: Written['steps'][number] | null }) {
  const { flow, step } = acting
  const candidate = candidateOf(step)
  const isDrafted = candidate !== null && drafted?.target?.selector === candidate.selector
  const mayAct = may('flows:write')
  const canPin = mayAct && step.canBePinned && !step.isPinned && !drafted?.target?.fingerprint
  if (isWell(step.state) && !candidate) {
    return mayAct ? (
      <div class="actions">
        <Pick {...acting} />
        {canPin && <Pin {...acting} />}
      </div>
    ) : null
  }
  return (
    <div class="remedy">
      <h3>Suggested selector</h3>
      {candidate ? (
        <Known candidate={candidate} />
      ) : (
        <p>No suggestion yet. Pick the element on your page, or enter a selector.</p>
      )}
      {isDrafted && (
        <p>
          <WithDraft flowKey={flow.key}>The draft already has this selector.</WithDraft>
        </p>
      )}
      {mayAct && (
        <div class="actions">
          {candidate && !isDrafted && <Repair {...acting} candidate={candidate} />}
          <Pick {...acting} />
          {canPin && <Pin {...acting} />}
        </div>
      )}
    </div>
  )
}

/** What to do about a launcher whose pages lack the element that opens it. */
function OpenerRemedy({ flow, step }: { flow: AuthoredFlow; step: CheckedStep }) {
  if (isWell(step.state)) return null
  return (
    <div class="remedy">
      <p>
        People on these pages cannot open the resource centre. Change the element or the pages in
        the editor. Without an element, Cairn draws a button.
      </p>
      {may('flows:write') && (
        <div class="actions">
          <LinkButton look="primary" href={addressOf(['flows', flow.key, 'edit'])}>
            Edit flow
          </LinkButton>
        </div>
      )}
    </div>
  )
}

/** One step, or what opens a launcher: its state, what the state is based on, and what to do. */
export function StepSection({
  place,
  title,
  stepKey,
  step,
  drafted,
  flow,
  range,
}: {
  place: number
  title: string
  stepKey: string
  /** Null for a step that points at nothing. */
  step: CheckedStep | null
  drafted: Written['steps'][number] | null
  flow: AuthoredFlow
  /** The days of its history. */
  range: StepCheck['historyRange']
}) {
  const isBad = step !== null && !isWell(step.state)
  const isLauncher = flow.kind === 'launcher'
  return (
    <section class="step" id={`step-${stepKey}`} aria-label={title}>
      <header class="row gap-3">
        {!isLauncher && <span class="step-number soft">{place}</span>}
        <h2>{title}</h2>
        {step && (
          <span class="row gap-1">
            <Tip text={stateMeans[step.state]}>
              <Badge tone={toneOfState[step.state]}>{nameOfState[step.state]}</Badge>
            </Tip>
            {step.isPinned && <Badge>Snapshot saved</Badge>}
            {!step.required && <Badge>Optional</Badge>}
          </span>
        )}
      </header>
      {step === null ? (
        <p class="hint">No element to monitor.</p>
      ) : (
        <div class="stack gap-2">
          <StepFacts step={step} />
          {range && <History {...{ step, title, range }} />}
          {isLauncher ? (
            <>
              <p>
                <span class="hint">Selector</span> <code>{step.selector}</code>
              </p>
              <OpenerRemedy flow={flow} step={step} />
            </>
          ) : (
            <>
              <Remedy {...{ flow, step, title, drafted }} />
              <details open={isBad}>
                <summary>Element before and now</summary>
                <p>
                  <span class="hint">Selector</span> <code>{step.selector}</code>
                </p>
                <Element step={step} />
              </details>
            </>
          )}
          {(step.pages.length > 0 || step.messages.length > 0) && (
            <details open={isBad}>
              <summary>Pages</summary>
              <StepPages step={step} />
            </details>
          )}
        </div>
      )}
    </section>
  )
}
