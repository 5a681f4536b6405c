import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Path } from '../../../../core/flow/plain.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { pointerOf, useForm } from './form.ts'
import { Problems } from './problems.tsx'
import type { ControlProps } from './table.ts'

/** A short list in a part: rows of fields, each of which can be removed, and a button to add one. */
export function ListField({
  field,
  path,
  value,
  write,
  children,
}: ControlProps & { children: (row: Path) => ComponentChildren }) {
  const { problems, isLocked } = useForm()
  const { one, add, empty, fresh, most } = field.rows!
  const box = useRef<HTMLDivElement>(null)
  /** What to focus as soon as it is drawn. Any later, it would catch what is typed elsewhere. */
  const next = useRef<string | null>(null)
  useLayoutEffect(() => {
    if (next.current === null) return
    box.current?.querySelector<HTMLElement>(next.current)?.focus()
    next.current = null
  })
  const list = Array.isArray(value) ? value : []
  const append = () => {
    next.current = `[data-row="${list.length}"] :is(input, select)`
    write([...list, fresh(list)])
  }
  const remove = (index: number) => {
    next.current = '.add-row'
    const rest = list.toSpliced(index, 1)
    write(rest.length > 0 ? rest : undefined)
  }
  return (
    <div class="stack gap-3" ref={box}>
      <Problems of={problems.filter(problem => problem.path === pointerOf(path))} />
      {list.length === 0 && <p class="hint">{empty}</p>}
      {list.map((_, index) => (
        <fieldset key={index} class="rule-row" data-row={index}>
          <legend class="unseen">{`${one} ${index + 1}`}</legend>
          <div>{children([...path, index])}</div>
          {!isLocked && (
            <IconButton
              icon="close"
              label={`Remove ${one.toLowerCase()} ${index + 1}`}
              onClick={() => remove(index)}
            />
          )}
        </fieldset>
      ))}
      {!isLocked && list.length < most && (
        <div>
          <Button class="add-row" icon="add" onClick={append}>
            {add}
          </Button>
        </div>
      )}
    </div>
  )
}
