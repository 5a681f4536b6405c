import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { editorWords as words } from '../../words/editor.ts'
import type { Clash } from './editing.ts'
import type { Side, Unit } from './merge.ts'
import { unitText } from './merge-text.ts'

function Version({
  unit,
  side,
  text,
  name,
  chosen,
  onChoose,
}: {
  unit: Unit
  side: Side
  text: string
  name: string
  chosen: Side
  onChoose(side: Side): void
}) {
  const shown = unitText(unit, side, text)
  return (
    <label class="version-choice">
      <span class="version-name">
        <input type="radio" name={name} checked={chosen === side} onChange={() => onChoose(side)} />
        {words[side]}
      </span>
      {shown === null ? (
        <em>{words.gone}</em>
      ) : (
        <pre dir="ltr">
          <code>{shown}</code>
        </pre>
      )}
    </label>
  )
}

/** Shows what two people made of the same thing, side by side, and lets the author choose. */
export function MergeDialog({
  clash: { who, when, theirs, mine, merged },
  onResolve,
  onClose,
}: {
  clash: Clash
  onResolve(choices: Readonly<Record<string, Side>>): void
  onClose(): void
}) {
  const choices = useSignal<Readonly<Record<string, Side>>>({})
  const id = useId()
  const nameOf = ({ kind, name }: Unit) => words.unit[kind](name)
  return (
    <Dialog title={words.mergeTitle} class="wide" onClose={onClose}>
      <p>{words.mergeWhy(who, when)}</p>
      {merged.conflicts.map(unit => (
        <fieldset key={unit.id} class="clash">
          <legend>{nameOf(unit)}</legend>
          <div class="versions-beside">
            {(['mine', 'theirs'] as const).map(side => (
              <Version
                key={side}
                unit={unit}
                side={side}
                text={side === 'mine' ? mine.text : theirs.text}
                name={`${id}-${unit.id}`}
                chosen={choices.value[unit.id] ?? 'mine'}
                onChoose={chosen => {
                  choices.value = { ...choices.value, [unit.id]: chosen }
                }}
              />
            ))}
          </div>
        </fieldset>
      ))}
      {merged.taken.length > 0 && (
        <p class="hint">
          {words.taken}: {merged.taken.map(nameOf).join(', ')}
        </p>
      )}
      <div class="dialog-end">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" onClick={() => onResolve(choices.value)}>
          {words.saveMerged}
        </Button>
      </div>
    </Dialog>
  )
}
