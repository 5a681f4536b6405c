import { isoTime } from '../../core/time/clock.ts'
import { personIn, requireCleanText, timeIn } from '../../http/input.ts'
import { json } from '../../http/responder.ts'
import { type Route, route } from '../../http/route.ts'
import { CompleteBody, Completion, Progress, ProgressBody, ProgressQuery } from './schema.ts'
import { type ChecklistDeps, checklistService } from './service.ts'

/** Routes for a person's progress: completing a flow, and ticking the items of its checklist. */
export function checklistRoutes(deps: ChecklistDeps): Route[] {
  const service = checklistService(deps)
  return [
    route({
      method: 'POST',
      path: '/flows/:flow_id/complete',
      operation: 'completeFlow',
      tag: 'Checklists',
      summary: 'Reports that a person has completed a flow',
      caller: 'snippet key',
      bucket: 'flows',
      subject: 'reported flow',
      body: CompleteBody,
      description:
        'It can be repeated: the earliest time that was ever reported stands. Name the person by ' +
        '`userId` or `anonymousId`. A time in the future becomes now.',
      responses: {
        200: { description: 'The completion as it stands.', schema: Completion },
      },
      async handle(call) {
        const person = personIn(call.body)
        const runId = call.body.runId ?? null
        requireCleanText({ runId })
        const done = await service.complete(call.subject, person, {
          runId,
          completedAt: timeIn(call.body, 'completedAt'),
          receivedAt: call.receivedAt,
        })
        const completion: Completion = {
          flowId: call.subject.id,
          ...service.named(person),
          status: 'completed',
          completedAt: isoTime(done.completedAt),
          alreadyCompleted: done.alreadyCompleted,
        }
        return json(200, completion)
      },
    }),
    route({
      method: 'GET',
      path: '/flows/:flow_id/checklist-progress',
      operation: 'getProgress',
      tag: 'Checklists',
      summary: 'Which items of a checklist a person has ticked',
      caller: 'snippet key',
      bucket: 'flows',
      subject: 'published flow',
      query: ProgressQuery,
      description: 'Name the person by `userId` or `anonymousId`.',
      responses: { 200: { description: 'Every item of the newest version.', schema: Progress } },
      async handle(call) {
        return json(200, await service.progress(call.subject, personIn(call.query)))
      },
    }),
    route({
      method: 'POST',
      path: '/flows/:flow_id/checklist-progress',
      operation: 'tickItems',
      tag: 'Checklists',
      summary: 'Ticks items, or takes ticks back; other items are not touched',
      caller: 'snippet key',
      bucket: 'flows',
      subject: 'reported flow',
      body: ProgressBody,
      description:
        'Item by item, so that two tabs cannot undo each other; of several writes to one item the ' +
        'last counts. A POST is one step: only the state after it counts. The last tick completes the ' +
        "run that it names, else the person's latest, and it does so each time that the list becomes " +
        'whole. Ticks of everybody whom one run has named, such as a visitor who then signed in, count ' +
        'together. An unknown item is 422, and none is ticked.',
      responses: { 200: { description: 'Every item after it.', schema: Progress } },
      async handle(call) {
        const person = personIn(call.body)
        const { runId = null, sessionId = null } = call.body
        requireCleanText({ runId, sessionId })
        const written = await service.tick(call.subject, person, call.body, call.receivedAt)
        return json(200, await service.progress(call.subject, person, written))
      },
    }),
  ]
}
