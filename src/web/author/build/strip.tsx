import { useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'
import { type Acts, type State, titleOf } from './state.ts'
import { words } from './words.ts'

/** How much of the neighbours stays in sight, pixels. */
const neighbourPx = 24

/** Brings the chosen step into sight. The page itself does not scroll. */
function scrollTo(strip: Element, chip: Element): void {
  const [outer, inner] = [strip, chip].map(one => one.getBoundingClientRect())
  const before = inner!.left - outer!.left
  const after = inner!.right - outer!.right
  if (before < 0) strip.scrollLeft += before - neighbourPx
  else if (after > 0) strip.scrollLeft += after + neighbourPx
}

/** The steps in order. A press shows one; dragging moves it. */
export function Strip({ state, acts }: { state: State; acts: Acts }) {
  const { dragged } = state
  const steps = state.draft?.flow.steps ?? []
  const list = useRef<HTMLOListElement>(null)
  useLayoutEffect(() => {
    const strip = list.current
    const chip = strip?.querySelector('[aria-current]')
    if (strip && chip) scrollTo(strip, chip)
  }, [state.step, steps.length])
  const from = steps.findIndex(({ key }) => key === dragged?.key)
  const before = dragged?.before
  const isMoved = before !== undefined && before !== from && before !== from + 1
  const markOf = (place: number) => {
    if (!isMoved) return ''
    if (before === place) return 'drop-before'
    return before === place + 1 && before === steps.length ? 'drop-after' : ''
  }
  return (
    <ol class="strip" ref={list} aria-label={words.steps}>
      {steps.map((step, i) => (
        <li key={step.key} class={markOf(i)}>
          <button
            type="button"
            class={`chip ${step.key === dragged?.key ? 'lifted' : ''}`}
            data-step={step.key}
            aria-current={step.key === state.step ? 'step' : undefined}
            onClick={() => acts.choose(step.key)}
          >
            <span class="number">{i + 1}</span>
            <bdi>{titleOf(step, words.untitled)}</bdi>
          </button>
        </li>
      ))}
      <li>
        <button
          type="button"
          class="chip add"
          disabled={!state.draft || steps.length >= 100}
          onClick={() => acts.pick('add')}
        >
          <Icon name="add" />
          {words.add}
        </button>
      </li>
    </ol>
  )
}
