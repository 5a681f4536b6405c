import type { Answer } from '../../core/flow/answer.ts'
import { shownAs } from '../../core/flow/shown-as.ts'
import type { BrowserStore, Flow } from './parts.ts'
import { uuid } from './uuid.ts'

/** Where a person stands in a flow, over page loads. */
export interface Run {
  runId: string
  flowId: string
  /** When it was begun, or joined, in this browser; epoch milliseconds. */
  startedAt: number
  /** When something of its steps was last on a page, to the minute. */
  seenAt?: number
  /** The version that it began with, by which it is counted. */
  flowVersion: number
  /** The step that is due; null where the flow has none, or all are done. */
  stepId: string | null
  /** Steps that were reported as viewed, and those whose element was reported as missing. */
  viewed: string[]
  missed: string[]
  /** Steps whose turn has come, in that order; absent in runs that an older snippet has begun. */
  way?: string[]
  /** The answers, by step: a number, a text, or the keys of the choices. */
  answers?: Record<string, Answer>
  /** The address that the visitor was last led to, and has not reached yet. */
  ledTo?: string
  /** Steps whose element was reported. */
  checked: string[]
  /** Whether a checklist's panel is open, and whether it ever was. */
  isOpen: boolean
  wasOpened: boolean
  /** Whether the server has it as open. */
  isKnown?: boolean
  /** Whether it began before the page called `identify()`. After that, it is judged whether it is for them. */
  isGuess?: boolean
  /** The visitor who began it. Its events name them beside the user that they turned out to be. */
  anonymousId?: string
  /** The page on which it was started, whatever the flow's rules say. */
  askedForOn?: string
  /** When items were ticked, by id, and when the server was asked for them; null for never. */
  ticked: Record<string, number>
  askedAt: number | null
  /** The version of their progress that was known at that request. */
  progressVersion?: string | null
}

/** Each slot shows one flow at a time. */
export const slots = ['steps', 'checklist', 'launcher'] as const
export type Slot = (typeof slots)[number]

/** How many open runs are kept for a person. Flows on other pages may each have one that waits. */
const maxOpen = 10

/** A run of which nothing was seen yet. */
export const newRun = (flow: Flow, runId: string, isOpen: boolean): Run => ({
  runId,
  flowId: flow.id,
  startedAt: Date.now(),
  flowVersion: flow.version,
  stepId: flow.steps[0]?.id ?? null,
  viewed: [],
  missed: [],
  checked: [],
  isOpen,
  wasOpened: false,
  ticked: {},
  askedAt: null,
})

/** The open runs of each person. What is kept of a run is changed by the tab that shows it. */
export function createRuns(store: BrowserStore) {
  const key = (person: string, slot: Slot) => `runs:${slot}:${person}`

  const open = (person: string, slot: Slot): Run[] => {
    const kept = store.get<Run[]>(key(person, slot))
    return Array.isArray(kept) ? kept : []
  }
  const others = (person: string, slot: Slot, { runId }: Run) =>
    open(person, slot).filter(other => other.runId !== runId)

  const write = (person: string, slot: Slot, runs: readonly Run[]) => {
    if (runs.length === 0) store.remove(key(person, slot))
    else store.set(key(person, slot), runs.slice(0, maxOpen))
  }
  const save = (person: string, slot: Slot, run: Run) =>
    write(person, slot, [run, ...others(person, slot, run)])

  return {
    /** The one that was shown last comes first. */
    open,
    /** @param about what is known of it: who began it, and whether a checklist's panel is open */
    begin(person: string, flow: Flow, about: Pick<Run, 'isOpen' | 'isGuess' | 'anonymousId'>): Run {
      const run = { ...newRun(flow, uuid(), about.isOpen), ...about }
      save(person, shownAs(flow), run)
      return run
    },
    /** Goes on with a run that another browser began and reported: from its first step, after all others. */
    join(person: string, flow: Flow, runId: string, isOpen: boolean) {
      const slot = shownAs(flow)
      const run: Run = { ...newRun(flow, runId, isOpen), wasOpened: true, isKnown: true }
      write(person, slot, [...open(person, slot), run])
    },
    /** Notes something about a run, and leaves it in its place. */
    note(person: string, slot: Slot, run: Run, what: Pick<Run, 'isKnown' | 'isGuess'>) {
      const noted = (other: Run) => (other.runId === run.runId ? { ...other, ...what } : other)
      write(person, slot, open(person, slot).map(noted))
    },
    save,
    end: (person: string, slot: Slot, run: Run) => write(person, slot, others(person, slot, run)),
    /**
     * A visitor has turned out to be a user, and goes on with what they have begun. If there are two runs of
     * a flow, the one that they were in just now goes on.
     */
    adopt(from: string, to: string) {
      for (const slot of slots) {
        const begun = open(from, slot)
        const own = open(to, slot).filter(
          ({ flowId }) => !begun.some(other => other.flowId === flowId),
        )
        write(to, slot, [...begun, ...own])
        store.remove(key(from, slot))
      }
    },
  }
}

export type Runs = ReturnType<typeof createRuns>
