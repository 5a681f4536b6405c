import type { Candidate, firstDue, Place } from '../../core/flow/decision.ts'
import {
  changesInMs,
  interruptions,
  isForPerson,
  judgeOf,
  type Moment,
} from '../../core/flow/moment.ts'
import { regexMatches } from '../../core/flow/url-regex.ts'
import { createCaused, type ServerEvents } from './caused.ts'
import { createHeldOut } from './held-out.ts'
import { type History, isAskedFor } from './history.ts'
import { createReminder, sees } from './on-page.ts'
import type { BrowserStore, Flow, Outbox } from './parts.ts'
import { safely } from './safely.ts'
import { createTriggers } from './triggers.ts'

/**
 * Judges whether flows begin, by time, by number, by what has happened and by regular expressions. It is a
 * file of its own, which is loaded if a flow or the organisation asks for any of that.
 */

export interface TimingDeps {
  /** Comes from the page's own script, which every page has, so that it is not loaded twice. */
  firstDue: typeof firstDue
  store: BrowserStore
  outbox: Outbox
  history: History
  person: { readonly name: string }
  /** The published flows, any of which may be waited for. */
  flows(): readonly Flow[]
  throttle(): number | null
  /** By the server's clock. */
  now(): number
  /** How long the person has been on the page, milliseconds. */
  viewedMs(): number
  /** Checks again what is due. */
  consider(): void
  page: Window
}

/** An event that the page has tracked: who caused it, and its name, id and time by the server's clock. */
export type Noted = readonly [person: string, name: string, id: string, at: number]

/** Where the page's script keeps such events until this is loaded. */
const notedKey = 'noted'

type OfPage = Candidate & { flow: Flow }

export function createTiming(deps: TimingDeps) {
  const { store, history, person, page, firstDue } = deps
  const caused = createCaused(store)
  const holdBack = createHeldOut(store, deps.outbox)
  const reminder = createReminder(page, deps.consider)
  const startedAt = ({ id }: Flow) => history.of(person.name)[id]?.startedAt ?? null
  const triggers = createTriggers({ ...deps, startedAt })
  /** Whether a flow would be due, except that an element is not seen. */
  let isLacking = false

  function moment(): Moment {
    const past = history.of(person.name)
    const met = deps.flows().flatMap(flow => {
      const ofFlow = past[flow.id]
      return ofFlow ? [{ flow, history: ofFlow }] : []
    })
    const most = deps.throttle()
    const begun = () => interruptions(met.filter(({ history }) => !isAskedFor(history)))
    const completed = met.filter(({ history: { completedAt } }) => completedAt !== null)
    return {
      now: deps.now(),
      person: person.name,
      completed: new Set(completed.map(({ flow: { key } }) => key)),
      events: caused.of(person.name),
      throttle: most === null ? null : { most, begun: begun() },
      onPage: {
        viewedMs: deps.viewedMs(),
        sees: selector => sees(page.document, selector),
        isTriggered: flow => triggers.has(flow as Flow),
      },
    }
  }

  const note = (...[person, name, id, at]: Noted) => {
    caused.note(person, name, id, at)
    triggers.tracked(person, name, at)
  }
  // Events from before this was loaded, on this page or the last one.
  const noted = store.get<Noted[]>(notedKey)
  for (const one of Array.isArray(noted) ? noted : []) safely(() => note(...one))
  store.remove(notedKey)

  return {
    /** The facts that decide, for callers that ask why. */
    moment,
    /** The flow that comes first. Reports the flows from which the person is held back. */
    firstDue<Of extends OfPage>(candidates: readonly Of[], place: Place): Of | undefined {
      const now = moment()
      const asIfSeen = judgeOf({ ...now, onPage: { ...now.onPage!, sees: () => true } })
      isLacking ||= candidates.some(candidate => {
        const element = candidate.flow.when?.element
        if (element === undefined || now.onPage!.sees(element)) return false
        return firstDue([candidate], place, asIfSeen) !== undefined
      })
      return firstDue(candidates, place, judgeOf(now), ({ flow }) => holdBack(person.name, flow))
    },
    /** For the page's own script, which has no regular expressions. */
    regexMatches,
    isTriggered: triggers.has,
    isForPerson: (flow: Flow) => isForPerson(flow, moment()),
    /** A new check of what is due begins: whether an element is lacking is noted from here on. */
    forget() {
      isLacking = false
    },
    /** Checks again when time alone, or a change of the page, may let something begin. */
    remind() {
      const now = moment()
      reminder.in(Math.min(...deps.flows().map(flow => changesInMs(flow, now))))
      reminder.atChange(isLacking)
    },
    note,
    learn: (person: string, events: ServerEvents) => caused.learn(person, events),
    adopt(from: string, to: string) {
      caused.adopt(from, to)
      triggers.adopt(from, to)
    },
  }
}

export type Timing = ReturnType<typeof createTiming>
