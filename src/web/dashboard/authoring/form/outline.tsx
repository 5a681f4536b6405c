import { useRef } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { flowFormWords as words } from '../../words/flow-form.ts'
import type { FlowProblem } from '../editor/parts.ts'
import type { Entry } from './entries.ts'
import { type ListName, listPaths } from './entries.ts'
import { Problems } from './field-frame.tsx'
import { useForm } from './form-context.ts'
import { pointerOf, within } from './problems.ts'
import { useDragging } from './use-dragging.ts'

/** The number of problems in a part, beside its name. */
export function Wrong({ of }: { of: readonly FlowProblem[] }) {
  if (of.length === 0) return null
  const errors = of.filter(({ severity }) => severity === 'error').length
  const warnings = of.length - errors
  const said = [errors && words.errors(errors), warnings && words.warnings(warnings)]
  return (
    <span class={`wrong ${errors ? 'error' : 'warning'}`}>
      <Icon name="warning" size={14} />
      <span class="unseen">{said.filter(Boolean).join(', ')}</span>
    </span>
  )
}

/** A part of the flow that can be chosen. */
export const OutlineLink = ({
  isChosen,
  problems,
  onChoose,
  children,
}: {
  isChosen: boolean
  problems: readonly FlowProblem[]
  onChoose: () => void
  children: string
}) => (
  <button
    type="button"
    class="outline-link"
    aria-current={isChosen ? 'true' : undefined}
    onClick={onChoose}
  >
    <span class="outline-title">{children}</span>
    <Wrong of={problems} />
  </button>
)

/** Steps or items in order. A press chooses one; dragging or the arrow keys move it. */
export function OutlineList({
  list,
  entries,
  chosen,
  onChoose,
  onMove,
  onAdd,
}: {
  list: ListName
  entries: readonly Entry[]
  chosen: number | null
  onChoose: (index: number) => void
  onMove: (from: number, to: number) => boolean
  onAdd: () => void
}) {
  const { problems, problemsAt, isLocked } = useForm()
  const box = useRef<HTMLOListElement>(null)
  const { over, handle, row } = useDragging(box, entries.length, onMove)
  const path = listPaths[list]
  const say = words.lists[list]
  return (
    <section aria-label={say.name} class="outline-section">
      <h2>{say.name}</h2>
      <Problems of={problemsAt(path)} />
      {entries.length === 0 && <p class="hint">{say.empty}</p>}
      <ol ref={box} class="outline-list">
        {entries.map(({ index, title }) => {
          const name = title || words.untitled(index + 1)
          const isOver = over === index ? 'drop-before' : ''
          const isLast = over === entries.length && index === entries.length - 1 ? 'drop-after' : ''
          return (
            <li key={index} class={`outline-entry ${isOver} ${isLast}`} {...row(index)}>
              {!isLocked && entries.length > 1 && (
                <button
                  type="button"
                  class="grip"
                  aria-label={words.move(name)}
                  title={words.move(name)}
                  {...handle(index)}
                >
                  <Icon name="grip" />
                </button>
              )}
              <button
                type="button"
                class="outline-link"
                aria-current={chosen === index ? 'true' : undefined}
                onClick={() => onChoose(index)}
              >
                <span class="step-number" aria-hidden="true">
                  {index + 1}
                </span>
                <bdi class="outline-title">{name}</bdi>
                <Wrong of={within(problems, pointerOf([...path, index]))} />
              </button>
            </li>
          )
        })}
      </ol>
      {!isLocked && entries.length < 100 && (
        <Button class="wide" icon="add" onClick={onAdd} data-add={list}>
          {say.add}
        </Button>
      )}
    </section>
  )
}
