import { applied, type ProposedChange } from '../../../core/flow/edit/proposed.ts'
import { type Mapping, valueAt } from '../../../core/flow/plain.ts'
import type { Theme } from '../../../core/flow/theme.ts'
import type { Flow, Step } from '../../snippet/parts.ts'
import { quietly } from '../../snippet/safely.ts'
import { uuid } from '../../snippet/uuid.ts'
import { type AuthorSession, type Built, Ended, Rejected, type Startable } from '../session.ts'

/** How often the page asks for the draft, and how soon after it has proposed something, milliseconds. */
const pollMs = 1_000
const soonMs = 300
/** Until then, typing that goes on is one change, milliseconds. */
const pauseMs = 400

/** What a step that is not saved yet has until it is. */
const freshStep = {
  title: '',
  body: '',
  target: null,
  placement: { side: 'bottom', align: 'center' },
  advance: { on: 'button', event: null },
  buttons: [],
}

/** A flow as pages get it, with the changes that are not saved yet. */
function withChanges(flow: Flow, changes: readonly ProposedChange[]): Flow {
  const changed = changes.reduce(
    (now, change) => (change.do === 'undo' ? now : (applied(now, change)?.flow ?? now)),
    flow as unknown as Mapping,
  )
  const steps = (valueAt(changed, ['steps']) as unknown as Step[]).map((step, position) => {
    const kind = step.target ? 'tooltip' : 'modal'
    return { ...freshStep, kind, ...(step as object), id: step.key, position }
  })
  return { ...(changed as unknown as Flow), steps: steps as unknown as Step[] }
}

/** What the builder shows of the draft. */
export interface DraftState {
  flow: Flow
  theme: Theme | null
  startable: readonly Startable[]
  isAttended: boolean
  /** How many changes are not saved yet. */
  waiting: number
  problem: Built['problem'] | 'full' | 'rejected' | 'unreachable'
  canUndo: boolean
}

/**
 * The draft as it is saved, and what the author has changed of it since. A change is proposed; the author's
 * dashboard saves it, and the next answer has it.
 */
export function createDraft(
  session: AuthorSession,
  on: { change(state: DraftState): void; end(): void },
) {
  let known: Built | null = null
  let flow: Flow | null = null
  let theme: Theme | null = null
  let startable: readonly Startable[] = []
  let problem: DraftState['problem'] = null
  /** Those that are not saved yet, oldest first. */
  let pending: { id: string; change: ProposedChange; isSent: boolean }[] = []
  let isOver = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let isSending = false

  const tell = () => {
    if (!flow || !known) return
    on.change({
      flow: withChanges(
        flow,
        pending.map(({ change }) => change),
      ),
      theme,
      startable,
      isAttended: known.isAttended,
      waiting: pending.length,
      problem: problem ?? known.problem,
      canUndo: known.undos > 0 || pending.length > 0,
    })
  }

  const failed = (error: unknown) => {
    if (error instanceof Ended) {
      isOver = true
      on.end()
      return
    }
    problem =
      error instanceof Rejected ? (error.status === 409 ? 'full' : 'rejected') : 'unreachable'
    // What the server does not take would stop all that follows.
    if (problem === 'rejected')
      pending = pending.filter(({ isSent }, i) => isSent || i !== firstUnsent())
    tell()
  }
  const firstUnsent = () => pending.findIndex(({ isSent }) => !isSent)

  const send = async () => {
    if (isSending || isOver) return
    isSending = true
    try {
      for (let next = pending[firstUnsent()]; next; next = pending[firstUnsent()]) {
        await session.change(next.id, next.change)
        next.isSent = true
        problem = null
      }
    } catch (error) {
      failed(error)
    } finally {
      isSending = false
    }
    plan(soonMs)
  }

  const poll = async () => {
    try {
      if (document.visibilityState === 'visible' || !known) {
        // What is sent during this request is not in its response.
        const sent = new Set(pending.filter(({ isSent }) => isSent).map(({ id }) => id))
        const read = await session.draft(known?.tag)
        known = read
        if (read.flow) {
          flow = read.flow
          theme = read.theme ?? null
          startable = read.startable ?? []
        }
        pending = pending.filter(({ id }) => !sent.has(id) || read.waiting.includes(id))
        if (problem === 'unreachable') problem = null
        tell()
      }
      if (firstUnsent() >= 0) quietly(send)()
    } catch (error) {
      failed(error)
    }
    plan(pollMs)
  }
  const plan = (ms: number) => {
    clearTimeout(timer)
    if (!isOver) timer = setTimeout(quietly(poll), ms)
  }
  quietly(poll)()

  let pausing: ReturnType<typeof setTimeout> | undefined
  const proposed = (change: ProposedChange) => {
    const last = pending.at(-1)
    const goesOn =
      last &&
      !last.isSent &&
      !isSending &&
      last.change.do === 'set' &&
      change.do === 'set' &&
      last.change.step === change.step &&
      last.change.field === change.field
    if (goesOn) last.change = change
    else pending.push({ id: uuid(), change, isSent: false })
    tell()
  }

  return {
    propose(change: ProposedChange) {
      proposed(change)
      clearTimeout(pausing)
      quietly(send)()
    },
    /** The same for text that is being typed. */
    type(change: ProposedChange) {
      proposed(change)
      clearTimeout(pausing)
      pausing = setTimeout(quietly(send), pauseMs)
    },
    undo() {
      this.propose({ do: 'undo' })
    },
    stop() {
      isOver = true
      clearTimeout(timer)
      clearTimeout(pausing)
    },
  }
}

export type Draft = ReturnType<typeof createDraft>
