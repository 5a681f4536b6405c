import { useSignal } from '@preact/signals'
import type { CreatedAuthorSession } from '../../../../modules/tickets/schema.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Opener } from '../../parts/opener.tsx'
import { pickWords as words } from '../../words/pick.ts'
import type { PickProps } from '../editor/parts.ts'
import { AddressForm } from './address-form.tsx'
import { Picking } from './picking.tsx'

function PickDialog({ flowKey, stepKey, onPicked, onClose }: PickProps & { onClose: () => void }) {
  const begun = useSignal<CreatedAuthorSession | null>(null)
  return (
    <Dialog title={words.title} onClose={onClose} class="pick">
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
        <AddressForm {...{ flowKey, stepKey }} onBegun={session => (begun.value = session)} />
      )}
    </Dialog>
  )
}

/** A button by which an author chooses the element on the real page. */
export const PickOnPage = (props: PickProps) => (
  <Opener label={words.pick}>{close => <PickDialog {...props} onClose={close} />}</Opener>
)
