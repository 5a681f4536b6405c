import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { CreatedAuthorSession, SentAuthorSession } from '../../../../modules/tickets/schema.ts'
import { Failure } from '../../api/failure.ts'
import { ask } from '../../api/request.ts'
import type { Editing } from '../editor/editing.ts'
import { openPage } from '../pick/page-address.tsx'
import { sessionsPath } from '../pick/picking.tsx'
import { type History, undone, withChange } from './apply.ts'

/** How often the session is read, milliseconds. Somebody on another page waits for what they have typed. */
const everyMs = 1_000

/** A session in which the draft is built on a page. */
export interface BuildSession extends Pick<CreatedAuthorSession, 'id' | 'code' | 'origin'> {
  /** Known only where it was started, and until the page connects. */
  openAddress?: string
  typedCode?: string
  startedAt: number
}

export interface Building {
  session: Signal<BuildSession | null>
  state: Signal<SentAuthorSession['state']>
  history: Signal<History>
  start(url: string, step: string): Promise<string>
  undo(): void
  stop(): void
}

const nameOf = (flowKey: string) => `cairn-building:${flowKey}`

/** The session of this tab, which goes on after a reload. Another tab would apply its changes twice. */
function kept(flowKey: string): BuildSession | null {
  try {
    return JSON.parse(sessionStorage.getItem(nameOf(flowKey)) ?? 'null')
  } catch {
    return null
  }
}

function keep(flowKey: string, session: BuildSession | null): void {
  try {
    const { id, code, origin, startedAt } = session ?? {}
    if (session === null) sessionStorage.removeItem(nameOf(flowKey))
    else sessionStorage.setItem(nameOf(flowKey), JSON.stringify({ id, code, origin, startedAt }))
  } catch {
    // Then the session ends with this page.
  }
}

/** Why what is applied here is not saved, in words for the page. */
const problemOf = ({ conflict, rejected }: Editing) =>
  conflict.peek() ? 'conflict' : rejected.peek()?.isPassing ? 'unsaved' : 'invalid'

/**
 * Applies to the flow in the editor what a page proposes, for as long as the editor is open.
 *
 * @param onStep called with the key of each step that was changed
 */
export function useBuilding(
  editing: Editing,
  flowKey: string,
  onStep: (key: string) => void,
): Building {
  const session = useSignal<BuildSession | null>(kept(flowKey))
  const state = useSignal<SentAuthorSession['state']>('waiting')
  const history = useSignal<History>([])
  const id = session.value?.id

  useEffect(() => {
    if (id === undefined) return
    const path = `${sessionsPath}/${id}`
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    /** The last change that is in the form, and what was last reported to the page. */
    let appliedTo = 0
    let reported = ''

    const apply = (changes: SentAuthorSession['changes']) => {
      for (const { number, at, change } of changes) {
        if (number <= appliedTo) continue
        const { flow } = editing.work.peek()
        // While the YAML cannot be read, there is nothing to change.
        if (!flow) return
        const made = withChange(flow, history.peek(), { number, at: Date.parse(at), change })
        if (made.flow !== flow) editing.change(() => made.flow)
        history.value = made.history
        appliedTo = number
        const step = change.do === 'add' ? change.step.key : 'step' in change ? change.step : null
        if (step !== null && change.do !== 'delete') onStep(step)
      }
    }
    const settle = async (isSaved: boolean) => {
      const body = {
        number: isSaved ? appliedTo : 0,
        problem: isSaved ? null : problemOf(editing),
        undos: history.peek().length,
      }
      const text = JSON.stringify(body)
      if (text === reported) return
      await ask(`${path}/settled`, { method: 'PUT', body })
      reported = text
    }
    const read = async () => {
      const { value } = await ask<SentAuthorSession>(path)
      if (isOver || !value) return
      state.value = value.state
      if (value.state === 'ended') return
      // The page shows the saved draft, which may have been changed elsewhere, as by an uploaded image.
      if (value.changes.some(({ number }) => number > appliedTo)) await editing.refresh()
      if (isOver) return
      apply(value.changes)
      // What the author changes in the form is saved by itself.
      await settle(value.changes.length === 0 || (await editing.save()))
    }
    const turn = async () => {
      try {
        await read()
      } catch (error) {
        if (!(error instanceof Failure)) throw error
        if (error.status === 404) {
          keep(flowKey, null)
          state.value = 'ended'
          return
        }
      }
      // A timer that a response starts is not slowed down in a hidden tab, as those of `useRead` are.
      if (!isOver) timer = setTimeout(turn, everyMs)
    }
    void turn()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [id, editing, flowKey])

  return {
    session,
    state,
    history,
    async start(url, step) {
      const body = { flow: flowKey, step, url, task: 'build' }
      const { value } = await ask<CreatedAuthorSession>(sessionsPath, { method: 'POST', body })
      const { id, code, origin, openAddress, typedCode } = value!
      openPage(openAddress)
      history.value = []
      state.value = 'waiting'
      session.value = { id, code, origin, openAddress, typedCode, startedAt: Date.now() }
      keep(flowKey, session.value)
      return value!.url
    },
    undo() {
      const { flow } = editing.work.peek()
      if (!flow) return
      const made = undone(flow, history.peek())
      editing.change(() => made.flow)
      history.value = made.history
    },
    stop() {
      const { id } = session.peek() ?? {}
      session.value = null
      keep(flowKey, null)
      if (id) ask(`${sessionsPath}/${id}`, { method: 'DELETE' }).catch(() => {})
    },
  }
}
