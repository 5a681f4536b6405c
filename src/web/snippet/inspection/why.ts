import { noHistory } from '../../../core/flow/decision.ts'
import { decide } from '../../../core/flow/explanation.ts'
import { newcomer } from '../../../core/flow/moment.ts'
import { shownAs } from '../../../core/flow/shown-as.ts'
import { candidateOf, inTheMiddleMs } from '../engine.ts'
import type { Flow, Why, WhyRule } from '../parts.ts'
import { isWithin } from '../recency.ts'
import { slots } from '../runs.ts'
import type { Inside } from './inside.ts'

type Verdict = Why & { isDue: boolean }

/**
 * Why each flow is on this page or is not: the rules that `cairn explain` tells, and what only this
 * browser knows.
 */
export function verdictsOn(inside: Inside): (Verdict & { flow: Flow })[] {
  const { engine, person, history, page } = inside
  const past = history.of(person.name)
  const { flows, moment } = engine.facts()
  const place = { url: new URL(page.location.href), traits: person.current.traits }
  // Without a rule on time or number, none of these values is used.
  const visit = { ...place, ...(moment ?? newcomer(Date.now())) }
  const active = engine.active()
  const candidates = flows.map(flow => candidateOf(flow, past[flow.id] ?? noHistory))
  return candidates.map(candidate => {
    const { flow } = candidate
    const others = candidates.filter(other => other !== candidate)
    const { shown: isDue, rules, winner } = decide(candidate, visit, others)
    const isActive = active.includes(flow.key)
    const here = isActive ? activeRules(isDue) : rulesHere(flow, inside)
    const all = [...rules, ...here]
    return { flow, flowKey: flow.key, isActive, isDue, rules: all, winner: isDue ? null : winner }
  })
}

const rule = (name: string, holds: boolean | null, why: string): WhyRule => ({
  rule: name,
  holds,
  why,
  parts: [],
})

const activeRules = (isDue: boolean): WhyRule[] =>
  isDue ? [] : [rule('run', true, 'it was started by start(), or its run continues here')]

/** The keys of the flows, except this one, that the person was in the middle of just now. */
function begunBeside(flow: Flow, { engine, person, runs }: Inside): string[] {
  const begun = slots.flatMap(slot => runs.open(person.name, slot))
  const ids = begun.filter(({ seenAt = 0 }) => isWithin(seenAt, inTheMiddleMs))
  return engine
    .facts()
    .flows.filter(({ id }) => id !== flow.id && ids.some(({ flowId }) => flowId === id))
    .map(({ key }) => key)
}

/** What keeps a flow off a page on which its own rules would show it. */
function rulesHere(flow: Flow, inside: Inside): WhyRule[] {
  const slot = shownAs(flow)
  const facts = inside.engine.facts()
  const begun = slot === 'steps' ? begunBeside(flow, inside) : []
  const rules: [isSo: boolean, rule: WhyRule][] = [
    [!facts.areKnown, rule('flows', false, 'the server has not sent the flows yet')],
    [
      facts.isWaiting,
      rule('person', false, 'waiting for the server to say what this person has done'),
    ],
    [
      facts.mustWait(flow),
      rule('identify', false, 'the page has not called identify() yet, and it waits for that'),
    ],
    [
      facts.doneHere.has(slot) && !flow.when?.trigger,
      rule('page', false, 'one has ended on this page: the next page may show another'),
    ],
    [
      facts.missedHere.has(flow.id),
      rule('elements', false, 'this page has none of the elements that its steps point at'),
    ],
    [
      begun.length > 0,
      rule('middle', false, `this person was in the middle of ${begun.join(', ')} just now`),
    ],
    [
      inside.page.document.visibilityState === 'hidden',
      rule('sight', false, 'the page is not in sight'),
    ],
    [
      facts.filling.has(slot),
      rule('turn', null, 'it waits for its turn among tabs, or for the file that draws it'),
    ],
  ]
  return rules.filter(([isSo]) => isSo).map(([, why]) => why)
}
