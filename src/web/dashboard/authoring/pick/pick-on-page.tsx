import { useSignal } from '@preact/signals'
import type { CreatedAuthorSession } from '../../../../modules/tickets/schema.ts'
import { act } from '../../api/request.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Opener } from '../../parts/opener.tsx'
import { openPage, PageAddressForm } from './page-address.tsx'
import { Picking, type PickProps, sessionsPath } from './picking.tsx'

function PickDialog({ flowKey, stepKey, onPicked, onClose }: PickProps & { onClose: () => void }) {
  const begun = useSignal<CreatedAuthorSession | null>(null)
  return (
    <Dialog title="Pick the element on your page" onClose={onClose} class="pick">
      {begun.value ? (
        <Picking
          key={begun.value.id}
          begun={begun.value}
          onAnew={() => (begun.value = null)}
          onPicked={picked => {
            onClose()
            onPicked(picked)
          }}
        />
      ) : (
        <PageAddressForm
          flowKey={flowKey}
          stepKey={stepKey}
          why="Your page opens in a new tab. Click the element there. Nothing changes until you choose a selector here."
          verb="Open page"
          onAddress={async url => {
            const body = { flow: flowKey, step: stepKey, url }
            const session = await act<CreatedAuthorSession>(sessionsPath, { body })
            openPage(session.openAddress)
            begun.value = session
            return session.url
          }}
        />
      )}
    </Dialog>
  )
}

/** A button by which an author chooses the element on the real page. */
export const PickOnPage = (props: PickProps) => (
  <Opener label="Pick on page">{close => <PickDialog {...props} onClose={close} />}</Opener>
)
