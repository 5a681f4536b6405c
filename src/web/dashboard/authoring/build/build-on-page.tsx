import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Opener } from '../../parts/opener.tsx'
import { openPage, PageAddressForm } from '../pick/page-address.tsx'
import { NotSeen } from '../pick/picking.tsx'
import type { Building } from './use-building.ts'

/** After this time without a page, the author reads what may be wrong, milliseconds. */
const patienceMs = 15_000

/** A button that opens the draft on the author's page, to be changed there. */
export const BuildOnPage = ({
  building,
  flowKey,
  stepKey,
}: {
  building: Building
  flowKey: string
  stepKey: string
}) => (
  <Opener label="Build on your page" icon="edit">
    {close => (
      <Dialog title="Build on your page" onClose={close} class="pick">
        <PageAddressForm
          flowKey={flowKey}
          stepKey={stepKey}
          why="Your page opens in a new tab with the steps of this draft on it. Change them there. Keep this tab open: it saves what you change. Visitors see nothing until you publish."
          verb="Open page"
          onAddress={async url => {
            const address = await building.start(url, stepKey)
            close()
            return address
          }}
        />
      </Dialog>
    )}
  </Opener>
)

const states: Record<Building['state']['value'], { tone: Tone; name: string }> = {
  waiting: { tone: 'neutral', name: 'Waiting for the page' },
  connected: { tone: 'good', name: 'Connected' },
  ended: { tone: 'warn', name: 'Ended' },
}

/** What a page builds, above the form that shows it. */
export function BuildNotice({ building }: { building: Building }) {
  const { session, state, history } = building
  const isLate = useSignal(false)
  const begun = session.value
  const isWaiting = state.value === 'waiting'
  useEffect(() => {
    isLate.value = false
    if (!begun || !isWaiting) return
    const left = begun.startedAt + patienceMs - Date.now()
    const timer = setTimeout(() => (isLate.value = true), Math.max(0, left))
    return () => clearTimeout(timer)
  }, [begun?.id, isWaiting])
  if (!begun) return null
  const { tone, name } = states[state.value]
  const last = history.value.slice(-3).toReversed()
  return (
    <section class="card stack gap-2" aria-label="Build on your page">
      <div class="row">
        <strong class="build-code">
          <span class="unseen">Code </span>
          {begun.code}
        </strong>
        <span role="status">
          <Badge tone={tone}>{name}</Badge> <bdi>{begun.origin}</bdi>
        </span>
        <div class="actions push">
          {isWaiting && begun.openAddress && (
            <Button onClick={() => openPage(begun.openAddress!)}>Open page again</Button>
          )}
          <Button onClick={building.stop}>
            {state.value === 'ended' ? 'Close' : 'Stop building'}
          </Button>
        </div>
      </div>
      {state.value === 'ended' && (
        <p class="hint">
          The page was closed or not used for a while. Choose Build on your page to go on.
        </p>
      )}
      {isWaiting && isLate.value && <NotSeen typedCode={begun.typedCode} isOpen />}
      {last.length > 0 && (
        <div class="row">
          <ul class="grow" aria-label="Changed on the page">
            {last.map(({ number, text }) => (
              <li key={number}>
                <bdi>{text}</bdi>
              </li>
            ))}
          </ul>
          <Button onClick={building.undo}>Undo last change</Button>
        </div>
      )}
    </section>
  )
}
