import type { Organisation } from '../../core/organisation/catalogue.ts'
import type { Clock } from '../../core/time/clock.ts'
import { unreadStream } from '../../http/download.ts'
import { freshReply } from '../../http/encoded.ts'
import { json } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import type { StepEvidenceStore, StepStores } from '../../storage/interfaces/steps.ts'
import { checkSteps } from './check.ts'
import { exampleHistoryCsv, historyCsv, PastDays } from './history.ts'
import {
  CheckQuery,
  FingerprintBody,
  FingerprintVerdict,
  HealthBody,
  HealthReceipt,
  HistoryCsv,
  HistoryQuery,
  StepCheck,
} from './schema.ts'
import { stepService } from './service.ts'

/** The operation that returns the history of a flow's steps as CSV, for callers that reach it in another way. */
export const historyOperation = 'exportHealthHistory'

/**
 * Routes for what browsers report about a step's target: what it looks like, and whether it was found.
 *
 * @param deps contains settings that may change while the server runs
 */
export function stepRoutes(
  deps: { stores: StepStores; clock: Clock; retentionDays: number },
  evidence: StepEvidenceStore,
): Route[] {
  const service = stepService(deps)
  const past = new PastDays(evidence)
  const check = (org: Organisation, query: CheckQuery, now: number) => {
    const kept = { past, retentionDays: deps.retentionDays }
    return checkSteps(org, query, now, { stores: deps.stores, evidence, kept })
  }
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
      responses: {
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
      responses: { 202: { description: 'It is stored.', schema: HealthReceipt } },
      async handle(call) {
        const { state } = await service.reportHealth(call.subject, call.body, call.receivedAt)
        const receipt: HealthReceipt = { stepId: call.subject.id, recorded: true, state }
        return json(202, receipt)
      },
    }),
    route({
      ...managing('flows:read'),
      method: 'GET',
      path: '/manage/health',
      operation: 'checkSteps',
      summary: 'Which published steps have lost their element, and what that is known by',
      query: CheckQuery,
      errors: ['flow_not_found'],
      description: 'Steps that point at an element, from what pages reported in the last 24 hours.',
      responses: { 200: { description: 'As of now.', schema: StepCheck, isShared: true } },
      isLong: true,
      async handle(call) {
        const { org, query, receivedAt } = call
        return freshReply(call, await check(org, query, receivedAt))
      },
    }),
    route({
      ...managing('flows:read'),
      method: 'GET',
      path: '/manage/flows/:key/health.csv',
      operation: historyOperation,
      summary: "The last 30 days of a flow's published steps as CSV, a row a step and day",
      query: HistoryQuery,
      errors: ['flow_not_found'],
      description:
        '`finds` are the people who found the element, `makeshift` those of them who found it by another way, `misses` those who did not; then people by outcome. Days on which nobody reported are left out.',
      responses: {
        200: {
          description: 'The rows, as a file.',
          schema: HistoryCsv,
          example: exampleHistoryCsv,
          type: 'text/csv',
          isFile: true,
        },
      },
      isLong: true,
      async handle(call) {
        const { org, params, query, receivedAt, request } = call
        const isHead = request.method === 'HEAD'
        const flow = params.key ?? ''
        const requested = { ...query, flow, history: '1' } as const
        const { steps, historyRange } = await check(org, requested, receivedAt)
        const { from, to } = historyRange!
        return {
          status: 200,
          body: isHead ? unreadStream() : historyCsv(steps, { bom: query.bom === '1' }),
          headers: {
            'Content-Type': 'text/csv; charset=utf-8',
            'Content-Disposition': `attachment; filename="cairn-${flow}-health-${from}_${to}.csv"`,
          },
        }
      },
    }),
  ]
}
