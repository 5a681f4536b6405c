import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { FlowDefinition } from '../../../../core/flow/flow.ts'
import { pageFlow } from '../../../../core/flow/forms.ts'
import type { DraftAnswer } from '../../../../modules/authoring/schema.ts'
import { useRead } from '../../api/read.ts'
import { flowPath } from '../../flows/definition.ts'
import { Button } from '../../parts/button.tsx'
import { Reading } from '../../shell/states.tsx'
import { FlowPreview } from './flow-preview.tsx'

function Preview({ definition }: { definition: FlowDefinition }) {
  const part = useSignal<string | null>(null)
  const flow = useMemo(() => pageFlow({ definition, version: 1, publishedAt: 0 }), [definition])
  return <FlowPreview flow={flow} part={part.value} onPart={key => (part.value = key)} />
}

/** What visitors would see of a waiting draft, shown on request. */
export function DraftPreview({ flowKey }: { flowKey: string }) {
  const isOpen = useSignal(false)
  const draft = useRead<DraftAnswer>(isOpen.value ? flowPath(flowKey, '/draft') : null)
  return (
    <div class="stack below-4">
      <div>
        <Button aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.value)}>
          {isOpen.value ? 'Hide preview' : 'Show preview'}
        </Button>
      </div>
      {isOpen.value && (
        <Reading of={draft}>
          {({ definition }) => <Preview definition={definition as FlowDefinition} />}
        </Reading>
      )}
    </div>
  )
}
