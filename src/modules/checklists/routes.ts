import { personIn, requireCleanText, timeIn } from '../../http/input.ts'
import { toJson } from '../../http/management.ts'
import { json } from '../../http/responder.ts'
import { type Route, route } from '../../http/route.ts'
import { CompleteBody, Completion, Progress, ProgressBody, ProgressQuery } from './schema.ts'
import { type ChecklistDeps, complete, progress, tick } from './service.ts'

const shared = { tag: 'Checklists', caller: 'snippet key', bucket: 'flows' } as const

/** Routes for a person's progress: completing a flow, and ticking the items of its checklist. */
export const checklistRoutes = (deps: ChecklistDeps): Route[] => [
  route({
    ...shared,
    method: 'POST',
    path: '/flows/:flow_id/complete',
    operation: 'completeFlow',
    summary: 'Report that a person has completed a flow',
    subject: 'reported flow',
    body: CompleteBody,
    description:
      'You can send it again: the earliest reported time counts. Name the person by `userId` or ' +
      '`anonymousId`. A time in the future is replaced by the current time.',
    responses: { 200: { description: 'The stored completion.', schema: Completion } },
    async handle({ subject, body, receivedAt }) {
      const person = personIn(body)
      const runId = body.runId ?? null
      requireCleanText({ runId })
      const report = { runId, completedAt: timeIn(body, 'completedAt'), receivedAt }
      return json(200, toJson(Completion, await complete(deps, subject, person, report)))
    },
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/flows/:flow_id/checklist-progress',
    operation: 'getProgress',
    summary: "Get a person's progress in a checklist",
    subject: 'published flow',
    query: ProgressQuery,
    description: 'Name the person by `userId` or `anonymousId`.',
    responses: { 200: { description: 'Every item of the newest version.', schema: Progress } },
    async handle({ subject, query }) {
      return json(200, toJson(Progress, await progress(deps, subject, personIn(query))))
    },
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/flows/:flow_id/checklist-progress',
    operation: 'tickItems',
    summary: 'Tick or untick items of a checklist',
    subject: 'reported flow',
    body: ProgressBody,
    description:
      'Items that you do not name stay as they are, so two tabs cannot undo each other. The last write ' +
      'to an item counts. If one item is unknown, the response is 422 and nothing changes. The last tick ' +
      "completes the named run, else the person's latest one, each time the list becomes complete. Ticks " +
      'of all people whom one run names count together, such as a visitor who then signs in.',
    responses: { 200: { description: 'Every item after the change.', schema: Progress } },
    async handle({ subject, body, receivedAt }) {
      const person = personIn(body)
      const { runId = null, sessionId = null } = body
      requireCleanText({ runId, sessionId })
      const written = await tick(deps, subject, person, body, receivedAt)
      return json(200, toJson(Progress, await progress(deps, subject, person, written)))
    },
  }),
]
