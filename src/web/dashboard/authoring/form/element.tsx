import { isMapping, valueAt } from '../../../../core/flow/plain.ts'
import { may } from '../../api/session.ts'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { PickOnPage } from '../pick/pick-on-page.tsx'
import { textOf, written } from './flow-json.ts'
import { useForm } from './form.ts'
import type { ControlProps } from './table.ts'

const maxAlternates = 5

/** An element of the page: picked there, or given by a selector. Only a step's target keeps other selectors too. */
export function ElementField({ frame, path, value, write, part, flow, problems }: ControlProps) {
  const { change, isLocked } = useForm()
  const selector = textOf(value)
  const alternatesPath = [...path.slice(0, -1), 'alternates']
  return (
    <Field label={frame.label} isGroup>
      {() => (
        <>
          <div class="row">
            {selector === '' ? (
              <span class="hint">No element chosen</span>
            ) : (
              <code>{selector}</code>
            )}
            {may('flows:write') && !isLocked && (
              <>
                <PickOnPage
                  flowKey={textOf(flow.key)}
                  stepKey={textOf(part.key)}
                  onPicked={({ selector, alternates = [] }) =>
                    change(now => {
                      const others = alternates.slice(0, maxAlternates)
                      const taken = written(now, path, selector)
                      if (path.at(-2) !== 'target') return taken
                      return written(taken, alternatesPath, others.length > 0 ? others : undefined)
                    })
                  }
                />
                {selector !== '' && <Button onClick={() => write('')}>Remove</Button>}
              </>
            )}
          </div>
          <details open={problems.length > 0}>
            <summary>CSS selector</summary>
            <TextField
              {...frame}
              label="CSS selector"
              isLabelUnseen
              isCode
              placeholder="#invite"
              value={selector}
              onChange={write}
            />
          </details>
        </>
      )}
    </Field>
  )
}

/** What the flow remembers of an element, as it is stored. */
export function SnapshotField({ frame, value, write }: ControlProps) {
  const { isLocked } = useForm()
  const text = isMapping(value) ? textOf(valueAt(value, ['text'])) : ''
  return (
    <Field
      {...frame}
      isGroup
      hint={`${text === '' ? 'Saved.' : `Saved: “${text}”.`} Pages use it when no selector matches.`}
    >
      {() => (
        <>
          <pre class="kept">
            <code>{JSON.stringify(value, null, 1)}</code>
          </pre>
          {!isLocked && (
            <div>
              <Button onClick={() => write(undefined)}>Remove snapshot</Button>
            </div>
          )}
        </>
      )}
    </Field>
  )
}
