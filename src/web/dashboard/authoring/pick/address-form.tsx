import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { CreatedSession } from '../../../../modules/author/model.ts'
import { Failure } from '../../api/failure.ts'
import { act } from '../../api/request.ts'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { pickWords as words } from '../../words/pick.ts'
import { shellWords } from '../../words/shell.ts'
import { rememberAddress, useAddress } from './address.ts'

export const sessionsPath = '/manage/author-sessions'

/** What is wrong, in a sentence: the server's own where it has one. */
export const problemOf = ({ status, message, told, isPassing }: Failure): string => {
  const [first] = told.details ?? []
  if (first) return first.message
  if (status === 0) return shellWords.states.away
  return isPassing ? shellWords.states.busy : message || shellWords.states.failedWhy
}

/** Opens the page in a new tab, which neither knows nor reaches this one. */
export const openPage = (address: string): void => {
  window.open(address, '_blank', 'noopener,noreferrer')
}

/** Asks where the element is to be seen. */
export function AddressForm({
  flowKey,
  stepKey,
  onBegun,
}: {
  flowKey: string
  stepKey: string
  onBegun: (session: CreatedSession) => void
}) {
  const suggested = useAddress(flowKey, stepKey)
  const typed = useSignal<string | null>(null)
  const problem = useSignal<string | undefined>(undefined)
  const isBusy = useSignal(false)
  const input = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => input.current?.focus(), [])
  const begin = async () => {
    const url = (typed.value ?? suggested).trim()
    problem.value = URL.canParse(url) ? undefined : words.addressNeeded
    if (problem.value) return input.current?.focus()
    isBusy.value = true
    try {
      const body = { flow: flowKey, step: stepKey, url }
      const session = await act<CreatedSession>(sessionsPath, { body })
      rememberAddress(flowKey, session.url)
      openPage(session.openAddress)
      onBegun(session)
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
        // It may lie in a form of whoever offers it.
        event.stopPropagation()
        begin()
      }}
    >
      <p>{words.why}</p>
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
          {words.open}
        </Button>
      </div>
    </form>
  )
}
