import type { Choice, StepView } from '../parts.ts'
import { safely } from '../safely.ts'
import type { StageParts } from '../stage-parts.ts'
import { make } from './make.ts'
import type { Asking } from './question.ts'

/** Puts a step's question on its card as soon as it has loaded. Until then, the step goes on without it. */
export function askOn(view: StepView, inner: HTMLElement, page: Window) {
  const { question } = view.step
  const place = make(page, 'div', 'asked')
  inner.append(place)
  let asking: Asking | null = null
  if (question) {
    place.addEventListener('input', () => safely(() => asking && view.keepDraft(asking.answer())))
    const draw = (part: StageParts['question'] | null) => {
      if (part) asking = part.askQuestion(question, place, page, view.given)
    }
    view
      .part('question')
      .then(draw)
      .catch(() => {})
  }
  return {
    /** Passes the answer along with the choice, if the choice leads on. */
    choose(choice: Choice): void {
      const { type } = choice
      if (!asking || type === 'back' || type === 'dismiss' || type === 'skip') {
        view.choose(choice)
        return
      }
      const answer = asking.answer()
      if (answer !== null) view.choose({ ...choice, answer })
      else if (question?.required) asking.insist()
      // The question is optional and was not answered.
      else view.choose(type === 'next' ? { type: 'skip' } : choice)
    },
  }
}
