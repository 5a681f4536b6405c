import { useSignal } from '@preact/signals'
import { useAction } from '../api/action.ts'
import { explained } from '../api/explained.ts'
import { askSession, renew } from '../api/session.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { TextField } from '../parts/text-field.tsx'

/** Asks a person who came by a link without a name for it, once. */
export function YourName() {
  const name = useSignal('')
  const { isBusy, refused, run } = useAction()
  const failure = refused.value
  const given = name.value.trim()
  return (
    <Dialog title="What is your name?" class="narrow">
      <form
        class="stack"
        onSubmit={event => {
          event.preventDefault()
          run(async () => {
            await askSession('name', { name: given })
            await renew()
          })
        }}
      >
        <TextField
          label="Name"
          hint="Your colleagues see it beside your changes. To change it later, ask an owner for a new invitation."
          maxLength={100}
          autocomplete="name"
          problem={failure ? explained(failure) : undefined}
          isProblemOld={failure !== null}
          value={name.value}
          onChange={text => {
            name.value = text
            refused.value = null
          }}
        />
        <div class="dialog-end row end">
          <Button type="submit" look="primary" isBusy={isBusy.value} disabled={given === ''}>
            Save name
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
