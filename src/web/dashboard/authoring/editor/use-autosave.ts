import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Failure } from '../../api/failure.ts'
import { startPending } from '../../api/pending.ts'
import { presence, session } from '../../api/session.ts'
import type { Editing } from './editing.ts'
import { forget, keep, kept } from './unsaved.ts'

const judgeMs = 350
const saveMs = 1_000
const retryMs = 5_000

/**
 * Has the work judged and saved when typing pauses. A new flow is saved by a button, which settles its key.
 *
 * @returns whether it cannot be judged at the moment
 */
export function useAutosave(editing: Editing, canWrite: boolean): boolean {
  const isFailing = useSignal(false)
  const work = editing.work.value
  const isIn = presence.value === 'in'
  useEffect(() => {
    const timers: ReturnType<typeof setTimeout>[] = []
    let endPause = startPending()
    const judge = () => {
      endPause()
      endPause = () => {}
      editing.judge().then(
        () => {
          isFailing.value = false
        },
        error => {
          if (!(error instanceof Failure)) throw error
          isFailing.value = true
          timers.push(setTimeout(judge, retryMs))
        },
      )
    }
    const save = async () => {
      await editing.save()
      if (editing.rejected.peek()?.isPassing) timers.push(setTimeout(save, retryMs))
    }
    timers.push(setTimeout(judge, judgeMs))
    const isToSave = canWrite && editing.base.peek() !== null && editing.isDirty.peek()
    if (isToSave) timers.push(setTimeout(save, saveMs))
    return () => {
      for (const timer of timers) clearTimeout(timer)
      endPause()
    }
  }, [editing, work, isIn, canWrite])
  return isFailing.value
}

/** Keeps what is not saved in this browser, and brings back what was kept. */
export function useKeeping(editing: Editing, flowKey: string) {
  const organisation = session.value!.organisation.id
  const isKept = useSignal(true)
  const isRestored = useSignal(false)
  useEffect(() => {
    const left = kept(organisation, flowKey)
    if (left) {
      isRestored.value = true
      editing.restore(left)
    }
    const stop = editing.work.subscribe(({ flow, text }) => {
      if (!editing.isDirty.peek()) return
      const etag = editing.base.peek()?.etag ?? null
      const { unanswered } = editing
      isKept.value = keep(organisation, flowKey, { flow, text, etag, unanswered })
    })
    const stopForgetting = editing.isDirty.subscribe(isDirty => {
      if (isDirty) return
      forget(organisation, flowKey)
      isRestored.value = false
    })
    const warn = (event: BeforeUnloadEvent) => {
      if (editing.isDirty.peek() && !isKept.peek()) event.preventDefault()
    }
    addEventListener('beforeunload', warn)
    return () => {
      // Whoever leaves for another page has it saved, or finds it again here.
      if (editing.base.peek() && editing.isDirty.peek()) void editing.save()
      stop()
      stopForgetting()
      removeEventListener('beforeunload', warn)
    }
  }, [editing, organisation, flowKey])
  return { isKept: isKept.value, isRestored: isRestored.value }
}
