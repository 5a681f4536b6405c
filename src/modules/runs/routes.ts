import { json } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import type { GateStores } from '../../storage/interfaces/gate.ts'
import type { RunStore } from '../../storage/interfaces/runs.ts'
import { AnswerList, AnswerQuery, RunList, RunQuery } from './schema.ts'
import { listRuns, requestedIn } from './service.ts'
import { listWrittenAnswers } from './written-answers.ts'

/** Routes for the single runs behind the numbers of analytics. */
export function runRoutes(deps: {
  stores: Pick<GateStores, 'catalogue'>
  runs: RunStore
}): Route[] {
  return [
    route({
      ...managing('analytics:read'),
      method: 'GET',
      path: '/manage/flows/:key/runs',
      operation: 'listRuns',
      summary:
        'Runs of a flow, the latest start first: who, how far, and how it ended; by outcome, version and days',
      query: RunQuery,
      errors: ['flow_not_found'],
      description:
        'A page at a time. What starts meanwhile comes before the first page, so that nothing is told ' +
        'twice on the way down, but for a run of which an earlier start is reported late.',
      responses: { 200: { description: 'A page of them.', schema: RunList } },
      async handle({ org, params, query, receivedAt }) {
        return json(
          200,
          await listRuns(org, params.key ?? '', requestedIn(query, receivedAt), deps),
        )
      },
    }),
    route({
      ...managing('people:read'),
      method: 'GET',
      path: '/manage/flows/:key/answers',
      operation: 'listAnswers',
      summary: "What people wrote in answer to a step's question, of the latest runs first",
      query: AnswerQuery,
      errors: ['flow_not_found'],
      description:
        'Of questions of type text, a page at a time; all others are counted in analytics. The words ' +
        'are kept as long as the events that have them.',
      responses: { 200: { description: 'A page of them.', schema: AnswerList } },
      async handle({ org, params, query, receivedAt }) {
        const key = params.key ?? ''
        return json(200, await listWrittenAnswers(org, key, query, receivedAt, deps.runs))
      },
    }),
  ]
}
