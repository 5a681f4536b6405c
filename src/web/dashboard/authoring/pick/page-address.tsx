import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useAction } from '../../api/action.ts'
import { explained } from '../../api/explained.ts'
import { useRead } from '../../api/read.ts'
import { session } from '../../api/session.ts'
import { type DraftAnswer, flowPath } from '../../flows/definition.ts'
import { type FlowList, flowsPath } from '../../flows/flow-list.ts'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { stored, storeSetting } from '../../shell/settings.ts'
import { healthPath, type StepCheck } from '../../steps/health.ts'

interface Rule {
  match: string
  pattern: string
}

/** The fields of a flow that say where it is shown. */
interface Placed {
  targeting?: { urls?: readonly Rule[] }
  steps?: readonly { key: string; page?: Rule }[]
}

const nameOf = (flowKey: string) => `page:${session.value?.organisation.slug}/${flowKey}`

/** The page that was used last for a flow; null if none was. */
export const knownPage = (flowKey: string): string | null => stored(nameOf(flowKey))

/** The address that a rule names, if it names one. A path is relative to the known page. */
function addressIn({ match, pattern }: Rule, known: string | null): string | null {
  if (match === 'regex' || (match === 'glob' && pattern.includes('*'))) return null
  return URL.canParse(pattern) ? pattern : (known && URL.parse(pattern, known)?.href) || null
}

/**
 * The page that is most probably meant: the one of last time, else the one that the step's or the
 * flow's rule names, else one on which the step was seen. Empty if nothing is known.
 */
function useAddress(flowKey: string, stepKey: string): string {
  const remembered = knownPage(flowKey)
  const isKnown = remembered !== null
  const listed = useRead<FlowList>(isKnown ? null : flowsPath)
  // A flow that is not stored yet has no draft to ask for.
  const isStored = listed.data?.flows.some(({ key }) => key === flowKey) === true
  const draft = useRead<DraftAnswer>(isStored ? flowPath(flowKey, '/draft') : null)
  const health = useRead<StepCheck>(isKnown ? null : healthPath)
  if (isKnown) return remembered
  const steps = health.data?.steps ?? []
  const pages = [
    ...steps.filter(({ flow, step }) => flow === flowKey && step === stepKey),
    ...steps.filter(({ flow }) => flow === flowKey),
    ...steps,
  ].flatMap(({ pages: seen }) => seen.flatMap(({ page }) => page ?? []))
  const [seen = null] = pages
  const { targeting, steps: written } = (draft.data?.definition ?? {}) as Placed
  const ofStep = written?.find(({ key }) => key === stepKey)?.page
  const named = [...(ofStep ? [ofStep] : []), ...(targeting?.urls ?? [])]
    .map(rule => addressIn(rule, seen))
    .find(address => address !== null)
  return named ?? seen ?? ''
}

/** Opens the page in a new tab, which can neither see nor reach this one. */
export const openPage = (address: string): void => {
  window.open(address, '_blank', 'noopener,noreferrer')
}

/** Asks for the address of one of the customer's pages, and remembers it for the flow. */
export function PageAddressForm({
  flowKey,
  stepKey = '',
  why,
  verb,
  onAddress,
  children,
}: {
  flowKey: string
  stepKey?: string
  why: string
  verb: string
  /** Does what the address is for. @returns the address as the server has it @throws Failure, shown here */
  onAddress(url: string): Promise<string>
  children?: ComponentChildren
}) {
  const suggested = useAddress(flowKey, stepKey)
  const typed = useSignal<string | null>(null)
  const isNeeded = useSignal(false)
  const { isBusy, refused, run } = useAction()
  const input = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => input.current?.focus(), [])
  const submit = () => {
    const url = (typed.value ?? suggested).trim()
    isNeeded.value = !URL.canParse(url)
    if (isNeeded.value) return input.current?.focus()
    run(async () => storeSetting(nameOf(flowKey), await onAddress(url)))
  }
  const problem = isNeeded.value
    ? 'Enter the whole address, beginning with https:// or http://.'
    : refused.value && explained(refused.value)
  return (
    <form
      noValidate
      class="stack"
      onSubmit={event => {
        event.preventDefault()
        // This form may be inside another form.
        event.stopPropagation()
        submit()
      }}
    >
      <p>{why}</p>
      {children}
      <Field label="Page URL" hint="A page with the snippet on it." problem={problem ?? undefined}>
        {wiring => (
          <input
            {...wiring}
            ref={input}
            type="url"
            class="input"
            autocomplete="off"
            spellcheck={false}
            maxLength={2_048}
            value={typed.value ?? suggested}
            onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
          />
        )}
      </Field>
      <div class="dialog-end row end">
        <Button look="primary" type="submit" isBusy={isBusy.value}>
          {verb}
        </Button>
      </div>
    </form>
  )
}
