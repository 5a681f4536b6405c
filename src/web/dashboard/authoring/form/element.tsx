import { isMapping, valueAt } from '../../../../core/flow/plain.ts'
import { may } from '../../api/session.ts'
import { Button } from '../../parts/button.tsx'
import { PickOnPage } from '../pick/pick-on-page.tsx'
import { textOf, written } from './flow-json.ts'
import { pointerOf, problemsUnder, useForm } from './form.ts'
import { Frame, GroupFrame, Problems } from './frame.tsx'
import type { ControlProps } from './table.ts'

/** The element that a step points at: picked on the page, or given by a selector. */
export function ElementField({ field, path, value, write, part, flow }: ControlProps) {
  const { change, problems, isLocked } = useForm()
  const own = problemsUnder(problems, path)
  const selector = textOf(value)
  const alternatesPath = [...path.slice(0, -1), 'alternates']
  return (
    <GroupFrame label={field.label} path={path} problems={[]}>
      <div class="actions">
        {selector === '' ? <span class="hint">No element chosen</span> : <code>{selector}</code>}
        {may('flows:write') && !isLocked && (
          <>
            <PickOnPage
              flowKey={textOf(flow.key)}
              stepKey={textOf(part.key)}
              onPicked={({ selector, alternates = [] }) =>
                change(now => {
                  const others = alternates.slice(0, 5)
                  const taken = written(now, path, selector)
                  return written(taken, alternatesPath, others.length > 0 ? others : undefined)
                })
              }
            />
            {selector !== '' && <Button onClick={() => write('')}>Remove</Button>}
          </>
        )}
      </div>
      <details open={own.length > 0}>
        <summary>CSS selector</summary>
        <Frame label="CSS selector" isLabelUnseen path={path} problems={own}>
          {wiring => (
            <input
              {...wiring}
              class="input code-input"
              dir="ltr"
              autocomplete="off"
              spellcheck={false}
              placeholder="#invite"
              value={selector}
              onInput={event => write(event.currentTarget.value)}
            />
          )}
        </Frame>
      </details>
    </GroupFrame>
  )
}

/** What the flow remembers of an element, as it is stored. */
export function SnapshotField({ field, path, value, write }: ControlProps) {
  const { problems, isLocked } = useForm()
  const text = isMapping(value) ? textOf(valueAt(value, ['text'])) : ''
  return (
    <div class="field" data-path={pointerOf(path)}>
      <p class="field-name">{field.label}</p>
      <p class="hint">
        {text === '' ? 'Saved.' : `Saved: “${text}”.`} Pages use it when no selector matches.
      </p>
      <Problems of={problemsUnder(problems, path)} />
      <pre class="kept">
        <code>{JSON.stringify(value, null, 1)}</code>
      </pre>
      {!isLocked && (
        <div>
          <Button onClick={() => write(undefined)}>Remove snapshot</Button>
        </div>
      )}
    </div>
  )
}
