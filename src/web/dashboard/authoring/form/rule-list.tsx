import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { isMapping, type Path, valueAt } from '../../../../core/flow/edit/source.ts'
import type { Plain } from '../../../../core/flow/minimal.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { flowFormWords as words } from '../../words/flow-form.ts'
import { KeptValue, Problems } from './field-frame.tsx'
import { useForm } from './form-context.ts'

/** A short list in a part: rows of fields, each of which can be removed, and a button to add one. */
export function RuleList({
  path,
  nameOf,
  add,
  fresh,
  empty,
  most,
  onEmpty,
  children,
}: {
  path: Path
  nameOf: (place: number) => string
  add: string
  fresh: Plain
  empty: string
  most: number
  /** Called in place of removing the last row, for a list that has to have one. */
  onEmpty?: () => void
  children: (path: Path, value: { [name: string]: Plain }) => ComponentChildren
}) {
  const { flow, apply, write, isLocked, problemsAt } = useForm()
  const box = useRef<HTMLDivElement>(null)
  /** The field to focus as soon as it is drawn. Any later, it would catch what is typed elsewhere. */
  const next = useRef<string | null>(null)
  useLayoutEffect(() => {
    if (next.current === null) return
    box.current?.querySelector<HTMLElement>(next.current)?.focus()
    next.current = null
  })
  const value = valueAt(flow, path) ?? []
  if (!Array.isArray(value)) {
    return (
      <>
        <Problems of={problemsAt(path)} />
        <KeptValue label={String(path.at(-1))} value={value} />
      </>
    )
  }
  const append = () => {
    const index = value.length
    const isDone =
      index === 0 ? write(path, [fresh]) : apply({ kind: 'insert', path, index, value: fresh })
    if (!isDone) return
    next.current = `[data-row="${index}"] :is(input, select)`
  }
  const remove = (index: number) => {
    if (onEmpty && value.length === 1) onEmpty()
    else apply({ kind: 'remove', path, index })
    next.current = '.add-row'
  }
  return (
    <div class="rule-list" ref={box}>
      <Problems of={problemsAt(path)} />
      {value.length === 0 && <p class="hint">{empty}</p>}
      {value.map((entry, index) => {
        const at = [...path, index]
        const name = nameOf(index + 1)
        return (
          <fieldset key={index} class="rule-row" data-row={index}>
            <legend class="unseen">{name}</legend>
            <div class="rule-fields">
              {isMapping(entry) ? children(at, entry) : <KeptValue label={name} value={entry} />}
            </div>
            {!isLocked && (
              <IconButton
                icon="close"
                label={words.removeOne(name)}
                onClick={() => remove(index)}
              />
            )}
            <Problems of={problemsAt(at)} />
          </fieldset>
        )
      })}
      {!isLocked && value.length < most && (
        <div>
          <Button class="add-row" icon="add" onClick={append}>
            {add}
          </Button>
        </div>
      )}
    </div>
  )
}
