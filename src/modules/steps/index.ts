import type { Clock } from '../../core/clock.ts'
import type { Stores } from '../../core/ports.ts'
import { json } from '../../http/reply.ts'
import { type Route, route } from '../../http/route.ts'
import { FingerprintBody, FingerprintVerdict, HealthBody, HealthReceipt } from './model.ts'
import { stepService } from './service.ts'

export { StepStateShape } from './model.ts'
export { healthOf } from './service.ts'

/** What browsers report of a step's target: what it looks like, and whether it was found. */
export function stepRoutes(deps: { stores: Stores; clock: Clock }): Route[] {
  const service = stepService(deps)
  return [
    route({
      method: 'POST',
      path: '/steps/:step_id/fingerprint',
      operation: 'reportFingerprint',
      tag: 'Steps',
      summary: "Reports what a step's target looks like, and compares it with the baseline",
      caller: 'snippet key',
      bucket: 'fingerprint',
      subject: 'reported step',
      body: FingerprintBody,
      description:
        'The baseline is the first fingerprint with `matchCount` 1 of the published version; it is ' +
        "taken anew only when the step's target changes, other than in its alternates and fingerprint.",
      answers: {
        200: { description: 'How like its baseline it is.', schema: FingerprintVerdict },
      },
      async handle(call) {
        const verdict = await service.reportFingerprint(call.subject, call.body, call.receivedAt)
        const answer: FingerprintVerdict = { stepId: call.subject.id, ...verdict }
        return json(200, answer)
      },
    }),
    route({
      method: 'POST',
      path: '/steps/:step_id/health',
      operation: 'reportHealth',
      tag: 'Steps',
      summary: "Reports whether a step's target was found",
      caller: 'snippet key',
      bucket: 'health',
      subject: 'reported step',
      body: HealthBody,
      description:
        "Each person's latest report counts once; one without a person is kept and not counted.",
      answers: { 202: { description: 'It is stored.', schema: HealthReceipt } },
      async handle(call) {
        const { state } = await service.reportHealth(call.subject, call.body, call.receivedAt)
        const receipt: HealthReceipt = { stepId: call.subject.id, recorded: true, state }
        return json(202, receipt)
      },
    }),
  ]
}
