import { mayNamePerson } from '../../core/step/proposal.ts'
import { safely } from '../snippet/safely.ts'
import { fingerprintOf } from '../snippet/stage/fingerprint.ts'
import { candidatesFor, isWrapper } from './candidates.ts'
import { describe } from './describe.ts'
import { createPanel } from './panel.ts'
import { createPicking } from './picking.ts'
import { createOutline, createPlace } from './place.ts'
import { type AuthorSession, Ended, type Proof, type Visit } from './session.ts'
import { styles } from './styles.ts'
import { words } from './words.ts'

/** How often outlines follow moved elements, and the picker returns if the page removed it, milliseconds. */
const followMs = 100

/**
 * Lets an element be picked and proposes it to the dashboard. Nothing else of the page leaves it, and nothing
 * that is sent here changes a flow.
 *
 * @param left to be called when the author has closed the picker
 * @param build called in place of picking if that is what the page was opened for
 */
export function startPicking(
  session: AuthorSession,
  proof: Proof,
  { left, build }: { left(): void; build(visit: Visit): void },
): void {
  const place = createPlace('author', styles, 'closed')
  const pointed = createOutline(place, '')
  const picked = createOutline(place, 'picked')
  let isOver = false

  const close = () => {
    session.leave()
    stop()
    place.remove()
    left()
  }
  const use = () => {
    picking.switch(false)
    panel.mode(false)
    panel.say(words.using)
    panel.focus()
  }
  const pick = () => {
    if (isOver) return
    picking.switch(true)
    panel.mode(true)
    panel.say(words.picking)
    // From here on the keys move between the page's elements, so the panel gives up the focus.
    if (place.hasFocus()) (document.activeElement as HTMLElement).blur()
  }
  const failed = (error: unknown) => {
    if (error instanceof Ended) {
      isOver = true
      stop()
      panel.over(words.ended)
    } else
      panel.say(error instanceof TypeError ? words.unreachable(session.origin) : words.failed, true)
  }
  const propose = async (element: Element) => {
    const named = describe(element)
    const candidates = candidatesFor(element)
    const [best] = candidates
    picked.show(element)
    panel.result(candidates, false)
    if (!best) return panel.say(words.nothing, true)
    panel.say(words.sending(named))
    const print = fingerprintOf(element, best.selector, best.matchCount)
    try {
      await session.propose(named, candidates, print, isWrapper(element))
      const texts = [named, print.name, print.text, print.ariaLabel]
      const mayName = texts.some(text => text !== undefined && mayNamePerson(text))
      panel.result(candidates, mayName || candidates.some(one => one.mayNamePerson))
      panel.say(words.sent(named))
    } catch (error) {
      failed(error)
    }
  }

  const panel = createPanel(place, { pick, use, close })
  const picking = createPicking(place, {
    point: element => safely(() => pointed.show(element, element ? describe(element) : '')),
    pick: element => void propose(element),
    leave: use,
  })
  const follow = () =>
    safely(() => {
      place.attach()
      pointed.follow()
      picked.follow()
    })
  const timer = setInterval(follow, followMs)
  addEventListener('scroll', follow, { capture: true, passive: true })
  const stop = () => {
    picking.stop()
    clearInterval(timer)
    removeEventListener('scroll', follow, { capture: true })
    pointed.show(null)
    picked.show(null)
  }

  const entered = (visit: Visit) => {
    const { task, code, draft, step } = visit
    if (task === 'build') {
      stop()
      place.remove()
      return build(visit)
    }
    panel.entered(code, draft?.title || step)
    pick()
  }
  panel.say(words.connecting)
  session.enter(proof).then(entered).catch(failed)
}
