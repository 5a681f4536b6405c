import { isoTime } from '../../core/clock.ts'
import { json } from '../../http/reply.ts'
import { type Route, route } from '../../http/route.ts'
import { personIn, requireCleanText, timeIn } from '../../http/shapes.ts'
import { CompleteBody, ProgressBody, ProgressQuery } from './model.ts'
import { type ChecklistDeps, checklistService } from './service.ts'

/** A person's progress: completing a flow, ticking the items of its checklist. */
export function checklistRoutes(deps: ChecklistDeps): Route[] {
  const service = checklistService(deps)
  return [
    route({
      method: 'POST',
      path: '/flows/:flow_id/complete',
      summary: 'Reports that a person has completed a flow',
      caller: 'snippet key',
      bucket: 'flows',
      subject: 'reported flow',
      body: CompleteBody,
      async handle(call) {
        const person = personIn(call.body)
        const runId = call.body.runId ?? null
        requireCleanText({ runId })
        const done = await service.complete(call.subject, person, {
          runId,
          completedAt: timeIn(call.body, 'completedAt'),
          receivedAt: call.receivedAt,
        })
        return json(200, {
          flowId: call.subject.id,
          ...service.named(person),
          status: 'completed',
          completedAt: isoTime(done.completedAt),
          alreadyCompleted: done.alreadyCompleted,
        })
      },
    }),
    route({
      method: 'GET',
      path: '/flows/:flow_id/checklist-progress',
      summary: 'Which items of a checklist a person has ticked',
      caller: 'snippet key',
      bucket: 'flows',
      subject: 'published flow',
      query: ProgressQuery,
      async handle(call) {
        return json(200, await service.progress(call.subject, personIn(call.query)))
      },
    }),
    route({
      method: 'POST',
      path: '/flows/:flow_id/checklist-progress',
      summary: 'Ticks items, or takes ticks back; other items are not touched',
      caller: 'snippet key',
      bucket: 'flows',
      subject: 'reported flow',
      body: ProgressBody,
      async handle(call) {
        const person = personIn(call.body)
        await service.tick(call.subject, person, call.body.items, call.receivedAt)
        return json(200, await service.progress(call.subject, person))
      },
    }),
  ]
}
