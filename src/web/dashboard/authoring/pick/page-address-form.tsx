import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useAction } from '../../api/action.ts'
import type { Failure } from '../../api/failure.ts'
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
  const isNeeded = useSignal(false)
  const { isBusy, refused, run } = useAction()
  const problem = isNeeded.value
    ? pickWords.addressNeeded
    : refused.value && problemOf(refused.value)
  const input = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => input.current?.focus(), [])
  const submit = () => {
    const url = (typed.value ?? suggested).trim()
    isNeeded.value = !URL.canParse(url)
    if (isNeeded.value) return input.current?.focus()
    run(async () => rememberAddress(flowKey, await onAddress(url)))
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
      <Field label={words.address} hint={words.addressHint} problem={problem ?? undefined}>
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
