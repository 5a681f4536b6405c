import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Failure } from '../../api/failure.ts'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { pickWords } from '../../words/pick.ts'
import { shellWords } from '../../words/shell.ts'
import { rememberAddress, useAddress } from './address.ts'

/** What is wrong, in a sentence: the server's own if there is one. */
const problemOf = ({ status, message, told, isPassing }: Failure): string => {
  const [first] = told.details ?? []
  if (first) return first.message
  if (status === 0) return shellWords.states.away
  return isPassing ? shellWords.states.busy : message || shellWords.states.failedWhy
}

/** Opens the page in a new tab, which can neither see nor reach this one. */
export const openPage = (address: string): void => {
  window.open(address, '_blank', 'noopener,noreferrer')
}

/** Asks for the address of one of the customer's pages, and remembers it for the flow. */
export function PageAddressForm({
  flowKey,
  stepKey = '',
  words,
  verb,
  onAddress,
  children,
}: {
  flowKey: string
  stepKey?: string
  words: { why: string; address: string; addressHint: string }
  verb: string
  /** Does what the address is for. @returns the address as the server has it @throws Failure, shown here */
  onAddress(url: string): Promise<string>
  children?: ComponentChildren
}) {
  const suggested = useAddress(flowKey, stepKey)
  const typed = useSignal<string | null>(null)
  const problem = useSignal<string | undefined>(undefined)
  const isBusy = useSignal(false)
  const input = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => input.current?.focus(), [])
  const submit = async () => {
    const url = (typed.value ?? suggested).trim()
    problem.value = URL.canParse(url) ? undefined : pickWords.addressNeeded
    if (problem.value) return input.current?.focus()
    isBusy.value = true
    try {
      rememberAddress(flowKey, await onAddress(url))
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      problem.value = problemOf(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <form
      noValidate
      class="pick-form"
      onSubmit={event => {
        event.preventDefault()
        // This form may be inside another form.
        event.stopPropagation()
        submit()
      }}
    >
      <p>{words.why}</p>
      {children}
      <Field label={words.address} hint={words.addressHint} problem={problem.value}>
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
      <div class="dialog-end">
        <Button look="primary" type="submit" isBusy={isBusy.value}>
          {verb}
        </Button>
      </div>
    </form>
  )
}
