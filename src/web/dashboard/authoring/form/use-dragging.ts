import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'

/** Moves rows of a list by dragging their handles, or by the arrow keys on them. */
export function useDragging(
  box: RefObject<HTMLElement | null>,
  count: number,
  onMove: (from: number, to: number) => boolean,
) {
  const dragged = useSignal<number | null>(null)
  /** The row before which it would land. */
  const over = useSignal<number | null>(null)
  const end = () => {
    dragged.value = null
    over.value = null
  }
  const focusHandle = (index: number) =>
    requestAnimationFrame(() => {
      box.current?.querySelectorAll<HTMLElement>('[draggable]')[index]?.focus()
    })
  const handle = (index: number) => ({
    draggable: true,
    onDragStart: (event: DragEvent) => {
      dragged.value = index
      const element = (event.currentTarget as HTMLElement).closest('li')!
      event.dataTransfer!.effectAllowed = 'move'
      event.dataTransfer!.setData('text/plain', element.textContent ?? '')
      event.dataTransfer!.setDragImage(element, 12, 12)
    },
    onDragEnd: end,
    onKeyDown: (event: KeyboardEvent) => {
      const to = index + ({ ArrowUp: -1, ArrowDown: 1 }[event.key] ?? 0)
      if (to === index || event.altKey || event.ctrlKey || event.metaKey) return
      event.preventDefault()
      if (to >= 0 && to < count && onMove(index, to)) focusHandle(to)
    },
  })
  const row = (index: number) => ({
    onDragOver: (event: DragEvent) => {
      if (dragged.value === null) return
      event.preventDefault()
      const { top, height } = (event.currentTarget as HTMLElement).getBoundingClientRect()
      over.value = event.clientY < top + height / 2 ? index : index + 1
    },
    onDrop: (event: DragEvent) => {
      event.preventDefault()
      const from = dragged.value
      const before = over.value
      end()
      if (from === null || before === null) return
      const to = before > from ? before - 1 : before
      if (to !== from) onMove(from, to)
    },
  })
  return { over: over.value, handle, row }
}
