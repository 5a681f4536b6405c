import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { clearChoice, takenOf } from '../../../../core/step/candidate.ts'
import type { CreatedAuthorSession, SentAuthorSession } from '../../../../modules/tickets/schema.ts'
import { forgetReading, useRead } from '../../api/read.ts'
import { ask } from '../../api/request.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Code } from '../../parts/code.tsx'
import { openPage } from './page-address.tsx'
import { type Chosen, Proposals } from './proposals.tsx'

export interface PickProps {
  flowKey: string
  stepKey: string
  onPicked(picked: { selector: string; alternates?: readonly string[] }): void
}

export const sessionsPath = '/manage/author-sessions'

/** How often to look for what the page has proposed, milliseconds. Somebody is waiting for it. */
const everyMs = 1_500

type State = SentAuthorSession['state']

const states: Record<State, { tone: Tone; name: string; next: string }> = {
  waiting: {
    tone: 'neutral',
    name: 'Waiting for the page',
    next: 'The page opens in a new tab.',
  },
  connected: {
    tone: 'good',
    name: 'Connected',
    next: 'Click the element on the page. It appears here.',
  },
  ended: {
    tone: 'warn',
    name: 'Ended',
    next: 'The page did not connect or was closed. Start again.',
  },
}

/** What may be wrong if the page does not connect. */
export const NotSeen = ({
  typedCode,
  isOpen = false,
}: {
  typedCode: string | undefined
  isOpen?: boolean
}) => (
  <details open={isOpen}>
    <summary>The page shows no panel?</summary>
    <p>The page needs the snippet with a key of this organisation.</p>
    <p>
      If the page has a content security policy, its script-src and connect-src must allow this
      server.
    </p>
    <p>
      If a sign-in dropped the end of the address, sign in there and open the page again from here.
      {typedCode && (
        <> If that does not help, enter this in the console of the page’s developer tools:</>
      )}
    </p>
    {typedCode && <Code name="console command">{`cairn.author('${typedCode}')`}</Code>}
  </details>
)

/** What the page reports, from its opening until a selector is chosen. */
export function Picking({
  begun,
  onPicked,
  onAnew,
}: {
  begun: CreatedAuthorSession
  onPicked: PickProps['onPicked']
  onAnew: () => void
}) {
  const path = `${sessionsPath}/${begun.id}`
  const { data, failure } = useRead<SentAuthorSession>(path, everyMs)
  const chosen = useSignal<Chosen | null>(null)
  const latest = data?.proposals.at(-1)
  const known = useRef(0)
  // A new pick becomes the choice if it is clear which. Until then, a choice among what is there stays.
  if (latest && latest.number !== known.current) {
    known.current = latest.number
    const best = clearChoice(latest.candidates, latest.isWrapper)
    chosen.value = best === undefined ? null : { proposal: latest.number, selector: best }
  }
  // Ends the session, so that the page can report nothing more once nobody listens.
  useEffect(
    () => () => {
      forgetReading(path)
      ask(path, { method: 'DELETE' }).catch(() => {})
    },
    [path],
  )
  const state: State = failure?.status === 404 ? 'ended' : (data?.state ?? 'waiting')
  const { tone, name, next } = states[state]
  const from = data?.proposals.find(({ number }) => number === chosen.value?.proposal)
  return (
    <div class="stack">
      <div class="stack gap-3">
        <p class="pick-code row gap-3">
          <span class="unseen">Code</span>
          <strong>{begun.code}</strong>
          <span class="hint">Your page shows the same four letters.</span>
        </p>
        <div role="status">
          <Badge tone={tone}>{name}</Badge> <span>{next}</span>
        </div>
      </div>
      {state === 'waiting' && (
        <>
          <p>
            <Button onClick={() => openPage(begun.openAddress)}>Open page again</Button>
          </p>
          <NotSeen typedCode={begun.typedCode} />
        </>
      )}
      {data !== null && data.proposals.length > 0 && (
        <Proposals proposals={data.proposals} chosen={chosen} />
      )}
      <div class="dialog-end row end">
        {state === 'ended' && <Button onClick={onAnew}>Start again</Button>}
        <Button
          look="primary"
          disabled={!from}
          onClick={() => onPicked(takenOf(from!.candidates, chosen.value!.selector))}
        >
          Use selector
        </Button>
      </div>
    </div>
  )
}
