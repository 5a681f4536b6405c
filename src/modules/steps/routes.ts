import type { Organisation } from '../../core/organisation/catalogue.ts'
import type { Clock } from '../../core/time/clock.ts'
import { unreadStream } from '../../http/download.ts'
import { freshReply } from '../../http/encoded.ts'
import { toJson } from '../../http/management.ts'
import { json } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import { TimeSlices } from '../../scheduling/cooperative.ts'
import type { StepEvidenceStore, StepStores } from '../../storage/interfaces/steps.ts'
import { checkSteps } from './check.ts'
import { exampleHistoryCsv, historyCsv, PastDays } from './history.ts'
import {
  CheckedStep,
  CheckQuery,
  FingerprintBody,
  FingerprintResult,
  HealthBody,
  HealthReceipt,
  HistoryCsv,
  HistoryQuery,
  StepCheck,
} from './schema.ts'
import { stepService } from './service.ts'

/** In slices, because an organisation may have fifty thousand steps, and each takes 15 µs. */
async function encoded(steps: readonly CheckedStep[]) {
  const slices = new TimeSlices()
  const sent = []
  for (const step of steps) {
    await slices.rest()
    sent.push(toJson(CheckedStep, step))
  }
  return sent
}

/**
 * Routes for what browsers report about a step's element: what it is like, and whether it was found.
 *
 * @param deps contains settings that may change while the server runs
 */
export function stepRoutes(
  deps: { stores: StepStores; clock: Clock; retentionDays: number },
  evidence: StepEvidenceStore,
): { routes: Route[]; historyRoute: Route } {
  const service = stepService(deps)
  const past = new PastDays(evidence)
  const check = (org: Organisation, query: CheckQuery, now: number) => {
    const kept = { past, retentionDays: deps.retentionDays }
    return checkSteps(org, query, now, { stores: deps.stores, evidence, kept })
  }
  const historyRoute = route({
    ...managing('flows:read'),
    method: 'GET',
    path: '/manage/flows/:key/health.csv',
    operation: 'exportHealthHistory',
    summary: "Export the last 30 days of a flow's published steps as CSV",
    query: HistoryQuery,
    errors: ['flow_not_found'],
    description:
      'One row per step and day. `finds` counts people who found the element, `fallback` those of them ' +
      'who found it by something other than its selector, `misses` those who did not. The other columns ' +
      'count people by outcome. Days without reports are left out.',
    responses: {
      200: {
        description: 'The CSV file.',
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
      const healthQuery = { ...query, flow, history: '1' } as const
      const { steps, historyRange } = await check(org, healthQuery, receivedAt)
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
  })

  const routes = [
    route({
      method: 'POST',
      path: '/steps/:step_id/fingerprint',
      operation: 'reportFingerprint',
      tag: 'Steps',
      summary: "Report what a step's element is like, and compare it with the baseline",
      caller: 'snippet key',
      bucket: 'fingerprint',
      subject: 'reported step',
      body: FingerprintBody,
      description:
        'The baseline is the first fingerprint of the published version whose `matchCount` is 1. It is ' +
        "replaced when the step's target changes, except for changes to `alternates` and `fingerprint`.",
      responses: {
        200: { description: 'How similar it is to the baseline.', schema: FingerprintResult },
      },
      async handle(call) {
        const verdict = await service.reportFingerprint(call.subject, call.body, call.receivedAt)
        return json(200, toJson(FingerprintResult, { stepId: call.subject.id, ...verdict }))
      },
    }),
    route({
      method: 'POST',
      path: '/steps/:step_id/health',
      operation: 'reportHealth',
      tag: 'Steps',
      summary: "Report whether a step's element was found",
      caller: 'snippet key',
      bucket: 'health',
      subject: 'reported step',
      body: HealthBody,
      description:
        "Each person's latest report counts once. Reports without a person are stored, but not counted.",
      responses: { 202: { description: 'Stored.', schema: HealthReceipt } },
      async handle(call) {
        const { state } = await service.reportHealth(call.subject, call.body, call.receivedAt)
        return json(202, { stepId: call.subject.id, recorded: true, state })
      },
    }),
    route({
      ...managing('flows:read'),
      method: 'GET',
      path: '/manage/health',
      operation: 'checkSteps',
      summary: 'Check whether published steps find their element',
      query: CheckQuery,
      errors: ['flow_not_found'],
      description:
        'Steps that point at an element, as pages reported on them in the last 24 hours.',
      responses: { 200: { description: 'Success.', schema: StepCheck, isShared: true } },
      isLong: true,
      async handle(call) {
        const { steps, ...rest } = await check(call.org, call.query, call.receivedAt)
        return freshReply(call, { ...rest, steps: await encoded(steps) })
      },
    }),
    historyRoute,
  ]
  return { routes, historyRoute }
}
