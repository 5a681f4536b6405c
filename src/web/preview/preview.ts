import '../../core/flow/url-regex.ts'
import { isOnPage } from '../../core/flow/decision.ts'
import { shownAs } from '../../core/flow/shown-as.ts'
import type { Theme } from '../../core/flow/theme.ts'
import { dropCounted, type Held } from '../author/held.ts'
import type { LoadStage } from '../snippet/engine.ts'
import { muted, standIns } from '../snippet/muted.ts'
import { onNavigation } from '../snippet/navigation.ts'
import type { Flow } from '../snippet/parts.ts'
import { createRuns } from '../snippet/runs.ts'
import { safely } from '../snippet/safely.ts'
import type { Stage } from '../snippet/stage.ts'
import { createBadge } from './badge.ts'
import { type Previewed, Refused, sessionAt } from './session.ts'
import { words } from './words.ts'

/**
 * Loaded only by pages on which somebody previews a draft. Shows it whatever its rules say, with the
 * snippet's own stage, from which nothing reaches a server.
 */

/** On a narrower page the checklist begins folded up, as it does for visitors; CSS pixels. */
const roomyPx = 600

/**
 * @param from where the snippet itself was loaded from, and the ticket if the address has one
 * @returns a promise that resolves when the page may go on as usual: at once if the link opens nothing
 */
export async function startPreview(
  { baseUrl, ticket, loadStage }: { baseUrl: string; ticket?: string; loadStage: LoadStage },
  held: Held,
): Promise<void> {
  await untilParsed()
  const session = sessionAt(baseUrl, ticket)
  const badge = createBadge()
  badge.say(words.loading)
  try {
    const [previewed, createStage] = await Promise.all([session.ask(), loadStage()])
    await untilOver(previewed, createStage)
  } catch (error) {
    if (error instanceof Refused) session.leave()
    badge.over(error instanceof Refused ? words.refused : words.away(session.origin))
  }
  dropCounted(held)

  function untilOver(
    { flow: draft, expiresAt, theme }: Previewed,
    createStage: Awaited<ReturnType<LoadStage>>,
  ): Promise<void> {
    const end = new Date(expiresAt)
    // Every step is shown, because nothing is known here about visitors for whom a rule would leave one out.
    const flow = { ...draft, steps: draft.steps.map(({ when: _, ...step }) => step) }
    return new Promise(resolve => {
      const shown = show(flow, theme ?? null, createStage)
      const over = (why: string | null) => {
        clearTimeout(timer)
        shown.leave()
        session.leave()
        if (why === null) badge.remove()
        else badge.over(why)
        resolve()
      }
      const timer = setTimeout(() => over(words.over), end.getTime() - Date.now())
      badge.shows(flow.name, end, { again: shown.again, end: () => over(null) })
    })
  }

  /** Shows the flow, from where it was on the previous page. */
  function show(flow: Flow, theme: Theme | null, createStage: Awaited<ReturnType<LoadStage>>) {
    const slot = shownAs(flow)
    const runs = createRuns(session.store)
    const nameOf = (key: string) => flow.steps.find(step => step.key === key)?.title || key
    let hasLeft = false
    let gaveWay = false

    const stage: Stage = createStage({
      ...muted,
      feed: { ...muted.feed, theme: () => theme, known: () => standIns(flow) },
      page: window,
      isHere: step => isOnPage(step, new URL(location.href)),
      save: (of, run) => runs.save('', of, run),
      tell(name, what) {
        if (what === null) return
        if (name === 'target_missing' && 'stepKey' in what) {
          badge.say(words.missing(nameOf(what.stepKey)))
        } else if (name === 'step_viewed' && 'stepKey' in what) {
          const place = flow.steps.findIndex(({ key }) => key === what.stepKey) + 1
          badge.say(words.step(place, flow.steps.length))
        }
      },
      end(of, outcome) {
        forget()
        badge.say(words.outcomes[outcome])
        if (of === 'checklist') stage.clear(of)
      },
      start: key => badge.say(words.starts(key)),
      giveWay() {
        gaveWay = true
        forget()
        badge.say(words.nothing)
      },
      inVain: is => is && badge.say(words.waiting),
    })

    const forget = () => {
      for (const run of runs.open('', slot)) runs.end('', slot, run)
    }
    const play = () => {
      if (hasLeft) return
      gaveWay = false
      const open = runs.open('', slot).find(({ flowId }) => flowId === flow.id)
      const run = open ?? runs.begin('', flow, { isOpen: innerWidth >= roomyPx })
      badge.say(words.shown[slot])
      stage.show(slot, flow, run)
    }
    onNavigation(window, () => (gaveWay ? play() : stage.moved()))
    held.track = name => void safely(() => stage.tracked(String(name)))
    play()
    return {
      again() {
        stage.clear(slot)
        forget()
        play()
      },
      leave() {
        hasLeft = true
        stage.clear(slot)
      },
    }
  }
}

/** A page that is still loading has nowhere to show anything. */
const untilParsed = (): Promise<unknown> =>
  document.readyState === 'loading'
    ? new Promise(resolve => document.addEventListener('DOMContentLoaded', resolve))
    : Promise.resolve()
