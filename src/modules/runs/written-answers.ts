import { flowNotFound } from '../../core/errors.ts'
import { idsOf } from '../../core/event/event.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { isoTime } from '../../core/time/clock.ts'
import type { RunStore } from '../../storage/interfaces/runs.ts'
import { type AnswerList, type AnswerQuery, defaultRuns } from './schema.ts'
import { requestedIn } from './service.ts'

/** Answers in people's own words, to be read one by one. */

/** @throws AppError `flow_not_found`, or `validation_failed` for a wrong date, zone, order or range */
export async function listWrittenAnswers(
  organisation: Organisation,
  flowKey: string,
  { step: stepKey, ...query }: AnswerQuery,
  now: number,
  store: Pick<RunStore, 'writtenAnswers'>,
): Promise<AnswerList> {
  const { after, version, started } = requestedIn(query, now)
  const most = Number(query.limit ?? defaultRuns)
  // One more than asked for, which tells whether more follow.
  const requested = { stepKey, after, version, started, most: most + 1 }
  const found = await store.writtenAnswers(organisation.ref, flowKey, requested)
  if (!found) throw flowNotFound(flowKey)
  const answers = found.answers.slice(0, most)
  return {
    ...{ flowId: found.flowId, flowKey, stepKey },
    answers: answers.map(({ key, person, version, at, text }) => ({
      runId: key.startsWith('r') ? key.slice(1) : null,
      ...idsOf(person),
      ...{ version, answeredAt: isoTime(at), text },
    })),
    next: found.answers.length > most ? answers.at(-1)!.cursor : null,
  }
}
