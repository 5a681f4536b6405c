import { management } from '../../http/management.ts'
import { requireScope } from '../../http/principal.ts'
import type { Route } from '../../http/route.ts'
import type { GateStores } from '../../storage/interfaces/gate.ts'
import type { RunStore } from '../../storage/interfaces/runs.ts'
import type { SegmentStore } from '../../storage/interfaces/segments.ts'
import { AnswerList, AnswerQuery, RunList, RunQuery } from './schema.ts'
import { listAnswers, listRuns } from './service.ts'

/** Routes for the single runs behind the numbers of analytics. */
export const runRoutes = (deps: {
  stores: Pick<GateStores, 'catalogue'>
  runs: RunStore
  segments: Pick<SegmentStore, 'list'>
}): Route[] => [
  management('analytics:read').get(
    '/manage/flows/:key/runs',
    'listRuns',
    'List runs of a flow, latest start first',
    {
      description:
        'Runs that start while you page come before the first page, so no run is listed twice, unless an ' +
        'earlier start of it is reported late.',
      query: RunQuery,
      errors: ['flow_not_found'],
      returns: RunList,
      response: 'A page of runs.',
    },
    ({ org, params, query, receivedAt, principal }) => {
      if (query.answer !== undefined) requireScope(principal!, 'people:read')
      return listRuns(org, params.key ?? '', query, receivedAt, deps)
    },
  ),
  management('people:read').get(
    '/manage/flows/:key/answers',
    'listAnswers',
    'List answers to a question, latest run first',
    {
      description: 'Who answered what, and what they wrote. A text is deleted with its event.',
      query: AnswerQuery,
      errors: ['flow_not_found'],
      returns: AnswerList,
      response: 'A page of answers.',
    },
    ({ org, params, query, receivedAt }) =>
      listAnswers(org, params.key ?? '', query, receivedAt, deps),
  ),
]
