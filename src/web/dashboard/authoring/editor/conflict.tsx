import { flowDifference } from '../../../../core/flow/difference.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Difference } from '../difference.tsx'
import type { Editing } from './editing.ts'

/** Someone else saved first: shows what they have differently, and lets the author choose one of the two. */
export default function ConflictDialog({ editing }: { editing: Editing }) {
  const { who, theirs } = editing.conflict.value!
  const { definition } = editing.judged.value ?? {}
  const names = ['theirs', 'yours'] as const
  const baseline = { ...theirs, stepKeys: new Set<string>(), itemKeys: new Set<string>() }
  return (
    <Dialog title="Someone else saved first" class="wide">
      <p>{who} saved this flow after you opened it. Keep your draft, or take theirs.</p>
      {definition && (
        <Difference
          of={flowDifference(baseline, definition, names)}
          from={names[0]}
          to={names[1]}
        />
      )}
      <div class="dialog-end row end">
        <Button onClick={() => void editing.resolve('theirs')}>Take theirs</Button>
        <Button look="primary" onClick={() => void editing.resolve('mine')}>
          Keep mine
        </Button>
      </div>
    </Dialog>
  )
}
