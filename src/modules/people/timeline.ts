import type { StaticDecode } from '@sinclair/typebox'
import { scaleOf } from '../../core/flow/answer.ts'
import type { Question } from '../../core/flow/question.ts'
import type { Catalogue } from '../../core/organisation/catalogue.ts'
import type { LoggedEvent } from '../../storage/interfaces/events.ts'
import type { PersonEvent } from './schema.ts'

/** An event with what it names as authors named it, and an answer as the person saw it. */
export function namedEvent(
  event: LoggedEvent,
  catalogue: Catalogue,
): StaticDecode<typeof PersonEvent> {
  const flow = event.flowId === null ? null : catalogue.flow(event.flowId)
  const ref = flow?.stepRefs.get(event.stepId ?? '')
  const items = flow?.latest?.checklist?.items ?? []
  const questions = (ref !== undefined && flow?.questions.get(ref)) || []
  return {
    ...event,
    flowName: flow?.name ?? null,
    stepTitle: (ref !== undefined && flow?.steps.get(ref)?.title) || null,
    itemTitle: items.find(({ id }) => id === event.itemId)?.title ?? null,
    answer: event.kind === 'question_answered' ? answerText(event.properties, questions) : null,
  }
}

/** "9 of 10", or the labels of what was chosen, in the newest words. What they wrote stands as it is. */
function answerText(
  properties: LoggedEvent['properties'],
  questions: readonly Question[],
): string | null {
  const given = properties?.answer
  const [newest] = questions
  if (typeof given === 'number') {
    return newest?.type === 'rating' ? `${given} of ${scaleOf(newest)[1]}` : `${given}`
  }
  const choices = questions.flatMap(({ choices = [] }) => choices)
  const labelOf = (key: string) => choices.find(choice => choice.key === key)?.label ?? key
  const texts = [given ?? []].flat().filter(one => typeof one === 'string')
  return texts.map(labelOf).join(', ') || null
}
