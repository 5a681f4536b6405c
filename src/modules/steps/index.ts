import type { Clock } from '../../core/clock.ts'
import type { Stores } from '../../core/ports.ts'
import { json } from '../../http/reply.ts'
import { type Route, route } from '../../http/route.ts'
import { FingerprintBody, HealthBody } from './model.ts'
import { stepService } from './service.ts'

export { healthOf } from './service.ts'

/** What browsers report of a step's target: what it looks like, and whether it was found. */
export function stepRoutes(deps: { stores: Stores; clock: Clock }): Route[] {
  const service = stepService(deps)
  return [
    route({
      method: 'POST',
      path: '/steps/:step_id/fingerprint',
      summary: 'Reports what a step’s target looks like, and compares it with the baseline',
      caller: 'snippet key',
      bucket: 'fingerprint',
      subject: 'reported step',
      body: FingerprintBody,
      async handle(call) {
        const verdict = await service.reportFingerprint(call.subject, call.body, call.receivedAt)
        return json(200, { stepId: call.subject.id, ...verdict })
      },
    }),
    route({
      method: 'POST',
      path: '/steps/:step_id/health',
      summary: 'Reports whether a step’s target was found',
      caller: 'snippet key',
      bucket: 'health',
      subject: 'reported step',
      body: HealthBody,
      async handle(call) {
        const { state } = await service.reportHealth(call.subject, call.body, call.receivedAt)
        return json(202, { stepId: call.subject.id, recorded: true, state })
      },
    }),
  ]
}
