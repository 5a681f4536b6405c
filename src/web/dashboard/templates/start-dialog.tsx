import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { FlowDefinition } from '../../../core/flow/flow.ts'
import { pageFlow } from '../../../core/flow/forms.ts'
import { useAction } from '../api/action.ts'
import { explained } from '../api/explained.ts'
import { useOnce } from '../api/once.ts'
import { FlowPreview } from '../authoring/preview/flow-preview.tsx'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { TextField } from '../parts/text-field.tsx'
import { addressOf } from '../shell/address.ts'
import { FailureNotice, Skeleton } from '../shell/states.tsx'
import { createDraft, definitionIn } from './new-draft.ts'
import type { Template } from './templates.ts'

function Preview({ definition }: { definition: FlowDefinition }) {
  const part = useSignal<string | null>(null)
  const flow = useMemo(() => pageFlow({ definition, version: 1, publishedAt: 0 }), [definition])
  return <FlowPreview flow={flow} part={part.value} onPart={key => (part.value = key)} />
}

/** Names a new flow, shows what it begins with, and creates its draft. */
export function StartDialog({ template, onClose }: { template: Template; onClose: () => void }) {
  const { route } = useLocation()
  const read = useOnce(template.id, () => definitionIn(template.text))
  const name = useSignal(template.goal)
  const { isBusy, refused, run } = useAction()
  const definition = read.value
  const create = () =>
    run(async () => {
      const key = await createDraft(definition!, name.value.trim())
      route(addressOf(['flows', key, 'edit']))
    })
  return (
    <Dialog title={template.goal} onClose={onClose} class="wide">
      <form
        class="stack"
        onSubmit={event => {
          event.preventDefault()
          if (name.value.trim() !== '' && definition) void create()
        }}
      >
        <TextField
          label="Name"
          hint="What your team calls it. Visitors do not see it."
          value={name.value}
          maxLength={200}
          isRequired
          onChange={text => (name.value = text)}
        />
        {read.failure ? (
          <FailureNotice failure={read.failure} again={read.again} />
        ) : definition ? (
          <Preview definition={definition} />
        ) : (
          <Skeleton />
        )}
        {template.todo && <p class="hint">{template.todo}</p>}
        {refused.value && (
          <p class="problem" role="alert">
            {refused.value.status === 412
              ? 'Somebody just created a flow with this name. Choose another one.'
              : explained(refused.value)}
          </p>
        )}
        <div class="dialog-end row end">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            look="primary"
            isBusy={isBusy.value}
            disabled={!definition || name.value.trim() === ''}
          >
            Create draft
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
