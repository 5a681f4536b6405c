import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { CreatedAuthorSession, SentAuthorSession } from '../../../../modules/tickets/schema.ts'
import { forgetReading, useRead } from '../../api/read.ts'
import { ask } from '../../api/request.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Code } from '../../parts/code.tsx'
import { pickWords as words } from '../../words/pick.ts'
import type { PickProps } from '../editor/parts.ts'
import { sessionsPath } from './address-form.tsx'
import { openPage } from './page-address-form.tsx'
import { type Chosen, Proposals } from './proposals.tsx'

/** How often to look for what the page has proposed, milliseconds. Somebody is waiting for it. */
const everyMs = 1_500

type State = SentAuthorSession['state']

const toneOf: Record<State, Tone> = { waiting: 'neutral', connected: 'good', ended: 'warn' }

/** The chosen selector. If it finds only the element, others that find only the element come with it. */
function takenOf({ proposal, selector }: Chosen, { proposals }: SentAuthorSession) {
  const { candidates } = proposals.find(({ number }) => number === proposal)!
  const alone = candidates.filter(({ matchCount }) => matchCount === 1)
  if (!alone.some(one => one.selector === selector)) return { selector }
  const alternates = alone
    .filter(one => one.selector !== selector && one.grade !== 'weak' && !one.mayNamePerson)
    .map(one => one.selector)
  return { selector, alternates }
}

const NotSeen = ({ typedCode }: { typedCode: string }) => (
  <details>
    <summary>{words.notSeen}</summary>
    <p>{words.notSeenSnippet}</p>
    <p>{words.notSeenWhy}</p>
    <Code name={words.console}>{words.typed(typedCode)}</Code>
  </details>
)

/** What the page reports, from its opening until a selector is taken. */
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
    const best = latest.isWrapper
      ? undefined
      : latest.candidates.find(({ matchCount }) => matchCount === 1)
    chosen.value = best ? { proposal: latest.number, selector: best.selector } : null
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
  const isThere = data !== null && data.proposals.length > 0
  const isKept = data?.proposals.some(({ number }) => number === chosen.value?.proposal) === true
  return (
    <div class="picking">
      <div class="pick-state">
        <p class="pick-code">
          <span class="unseen">{words.code}</span>
          <strong>{begun.code}</strong>
          <span class="hint">{words.codeWhy}</span>
        </p>
        <div role="status">
          <Badge tone={toneOf[state]}>{words.states[state]}</Badge>{' '}
          <span>{words.nextSteps[state]}</span>
        </div>
      </div>
      {state === 'waiting' && (
        <>
          <p>
            <Button onClick={() => openPage(begun.openAddress)}>{words.openAgain}</Button>
          </p>
          <NotSeen typedCode={begun.typedCode} />
        </>
      )}
      {isThere && <Proposals proposals={data.proposals} chosen={chosen} />}
      <div class="dialog-end">
        {state === 'ended' && <Button onClick={onAnew}>{words.anew}</Button>}
        <Button
          look="primary"
          disabled={!isKept}
          onClick={() => onPicked(takenOf(chosen.value!, data!))}
        >
          {words.use}
        </Button>
      </div>
    </div>
  )
}
