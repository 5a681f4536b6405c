import { useSignal } from '@preact/signals'

/** Rows of a list that are dragged by a grip to another place. */
export function useDragging(count: number, onDrop: (from: number, to: number) => void) {
  const dragged = useSignal<number | null>(null)
  /** The row before which it would land. */
  const over = useSignal<number | null>(null)
  const end = () => (dragged.value = over.value = null)
  const drop = () => {
    const [from, before] = [dragged.value, over.value]
    end()
    if (from === null || before === null) return
    const to = before > from ? before - 1 : before
    if (to !== from) onDrop(from, to)
  }
  const isAtEnd = over.value === count
  return {
    classOf: (index: number) =>
      over.value === index ? 'drop-before' : isAtEnd && index === count - 1 ? 'drop-after' : '',
    /** The handlers of a row, at which others are dropped. */
    row: (index: number) => ({
      onDragOver: (event: DragEvent) => {
        if (dragged.value === null) return
        event.preventDefault()
        const { top, height } = (event.currentTarget as HTMLElement).getBoundingClientRect()
        over.value = event.clientY < top + height / 2 ? index : index + 1
      },
      onDrop: (event: DragEvent) => {
        event.preventDefault()
        drop()
      },
    }),
    /** The attributes of the grip of a row. */
    grip: (index: number, title: string) => ({
      draggable: true,
      title: 'Drag to move',
      onDragStart: ({ dataTransfer }: DragEvent) => {
        dragged.value = index
        dataTransfer!.effectAllowed = 'move'
        dataTransfer!.setData('text/plain', title)
      },
      onDragEnd: end,
    }),
  }
}
