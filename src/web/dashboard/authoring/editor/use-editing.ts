import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { Failure } from '../../api/failure.ts'
import { startPending } from '../../api/pending.ts'
import { presence, session } from '../../api/session.ts'
import type { Editing } from './editing.ts'
import { forget, keep, leftOf, newEditor, type Unsaved, watchOthers } from './unsaved.ts'

const judgeMs = 350
const retryMs = 5_000
const keepMs = 300

/** Has the text judged when typing pauses for a moment. @returns whether that fails at the moment */
export function useJudging(editing: Editing): boolean {
  const isFailing = useSignal(false)
  const text = editing.text.value
  const isIn = presence.value === 'in'
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>
    let isOver = false
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
          if (!isOver) timer = setTimeout(judge, retryMs)
        },
      )
    }
    timer = setTimeout(judge, judgeMs)
    return () => {
      isOver = true
      clearTimeout(timer)
      endPause()
    }
  }, [editing, text, isIn])
  return isFailing.value
}

/** Keeps unsaved work in this browser. */
export function useKeeping(editing: Editing) {
  const organisation = session.value!.organisation.id
  const flowKey = editing.key ?? ''
  const editor = useMemo(newEditor, [])
  const isKept = useSignal(true)
  const left = useSignal<readonly Unsaved[]>([])
  const isElsewhere = useSignal(false)
  useEffect(() => {
    left.value = leftOf(organisation, flowKey)
    return watchOthers(organisation, flowKey, () => {
      isElsewhere.value = true
    })
  }, [organisation, flowKey])
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let at = 0
    const write = () => {
      clearTimeout(timer)
      const work = { editor, at, text: editing.text.peek(), base: editing.base.peek() }
      if (editing.isDirty.peek()) isKept.value = keep(organisation, flowKey, work)
    }
    const stop = editing.text.subscribe(() => {
      at = Date.now()
      clearTimeout(timer)
      timer = setTimeout(write, keepMs)
    })
    const stopForgetting = editing.isDirty.subscribe(isDirty => {
      if (!isDirty) forget(organisation, flowKey, editor)
    })
    addEventListener('pagehide', write)
    return () => {
      write()
      stop()
      stopForgetting()
      removeEventListener('pagehide', write)
    }
  }, [editing, organisation, flowKey])
  const drop = (work: Unsaved) => {
    forget(organisation, flowKey, work.editor)
    left.value = left.value.filter(one => one !== work)
  }
  return {
    isKept: isKept.value,
    left: left.value,
    isElsewhere: isElsewhere.value,
    discard: drop,
    goOn(work: Unsaved) {
      editing.goOn(work)
      // Kept under this editor's name before the old copy is dropped, so that there is always a copy.
      isKept.value = keep(organisation, flowKey, { ...work, editor })
      drop(work)
    },
  }
}
