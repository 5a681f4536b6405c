import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type FlowProblem, isUnder } from '../form/form.ts'
import type { Editing } from './editing.ts'

/**
 * The problems to show: those of fields that somebody has left, and those that were there before. Nobody
 * is told that a field is empty while they are on their way to it.
 */
export function useLeftFields({ judged, base }: Editing) {
  const left = useSignal<ReadonlySet<string>>(new Set())
  const isAll = useSignal(false)
  const isFirst = useRef(true)
  const all: readonly FlowProblem[] = judged.value?.problems ?? []
  useEffect(() => {
    if (!judged.value || !isFirst.current) return
    isFirst.current = false
    if (base.peek()) left.value = new Set(judged.value.problems.map(({ path }) => path))
  }, [judged.value])
  const leave = ({ target, relatedTarget }: FocusEvent) => {
    const field = (target as Element).closest<HTMLElement>('[data-path]')
    const place = field?.dataset.path
    const isStill = relatedTarget instanceof Node && field?.contains(relatedTarget)
    if (place && !isStill && !left.peek().has(place)) left.value = new Set([...left.peek(), place])
  }
  const isShown = ({ path }: FlowProblem) =>
    isAll.value || [...left.value].some(place => isUnder(path, place) || isUnder(place, path))
  return {
    problems: all.filter(isShown),
    leave,
    showAll: () => {
      isAll.value = true
    },
  }
}
