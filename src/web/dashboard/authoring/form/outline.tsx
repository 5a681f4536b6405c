import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { useDragging } from './dragging.ts'
import { type Entry, entriesOf, type ListName, listPaths, maxEntries } from './entries.ts'
import { type FlowProblem, pointerOf, problemsUnder, useForm } from './form.ts'
import { Problems } from './problems.tsx'

/** A sign beside a part that has problems. */
function Wrong({ of }: { of: readonly FlowProblem[] }) {
  if (of.length === 0) return null
  const errors = of.filter(({ severity }) => severity === 'error').length
  const [count, one] = errors > 0 ? [errors, 'error'] : [of.length, 'warning']
  return (
    <span class={`wrong ${one}`}>
      <Icon name="warning" size={14} />
      <span class="unseen">{` ${count} ${one}${count === 1 ? '' : 's'}`}</span>
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
  children: ComponentChildren
}) => (
  <button
    type="button"
    class="outline-link line"
    aria-current={isChosen ? 'true' : undefined}
    onClick={onChoose}
  >
    {children}
    <Wrong of={problems} />
  </button>
)

const items = { name: 'Items', one: 'Item', add: 'Add item', empty: 'No items yet.' }

/** What each list is called. */
export const listNames = {
  steps: { name: 'Steps', one: 'Step', add: 'Add step', empty: 'No steps yet.' },
  items,
  offers: items,
} as const

/** Steps or items in order. A press chooses one; dragging, or the arrow keys, moves it. */
export function OutlineList({
  list,
  chosen,
  onChoose,
  onMove,
  onAdd,
}: {
  list: ListName
  chosen: number | null
  onChoose: (index: number) => void
  onMove: (entry: Entry, to: number) => void
  onAdd: () => void
}) {
  const { flow, problems, isLocked } = useForm()
  const box = useRef<HTMLOListElement>(null)
  const entries = entriesOf(flow, list)
  const dragging = useDragging(entries.length, (from, to) => onMove(entries[from]!, to))
  const say = listNames[list]
  const path = listPaths[list]
  const byKey = (entry: Entry, event: KeyboardEvent) => {
    const to = entry.index + ({ ArrowUp: -1, ArrowDown: 1 }[event.key] ?? 0)
    if (to === entry.index || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    if (!entries[to]) return
    onMove(entry, to)
    requestAnimationFrame(() => {
      box.current?.querySelectorAll<HTMLElement>('[draggable]')[to]?.focus()
    })
  }
  return (
    <section aria-label={say.name} class="outline-section stack gap-1">
      <h2>{say.name}</h2>
      <Problems of={problems.filter(problem => problem.path === pointerOf(path))} />
      {entries.length === 0 && <p class="hint">{say.empty}</p>}
      <ol ref={box} class="stack gap-1">
        {entries.map(entry => (
          <li
            key={entry.index}
            class={`outline-entry ${dragging.classOf(entry.index)}`}
            {...dragging.row(entry.index)}
          >
            {!isLocked && entries.length > 1 && (
              <button
                type="button"
                class="grip"
                aria-label={`Move “${entry.title}”: drag it, or press the up and down arrows`}
                {...dragging.grip(entry.index, entry.title)}
                onKeyDown={event => byKey(entry, event)}
              >
                <Icon name="grip" />
              </button>
            )}
            <OutlineLink
              isChosen={chosen === entry.index}
              problems={problemsUnder(problems, [...path, entry.index])}
              onChoose={() => onChoose(entry.index)}
            >
              <span class="step-number soft" aria-hidden="true">
                {entry.index + 1}
              </span>
              <bdi class="grow ellipsis">{entry.title}</bdi>
            </OutlineLink>
          </li>
        ))}
      </ol>
      {!isLocked && entries.length < maxEntries && (
        <Button class="wide" icon="add" onClick={onAdd} data-add={list}>
          {say.add}
        </Button>
      )}
    </section>
  )
}
