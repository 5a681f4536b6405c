import type { TObject } from '@sinclair/typebox'
import { invalid } from '../../core/errors.ts'
import type { FlowEntry } from '../../core/organisation/catalogue.ts'
import type { Clock } from '../../core/time/clock.ts'
import { csvStream, unreadStream } from '../../http/download.ts'
import { freshReply } from '../../http/encoded.ts'
import type { GateStores } from '../../http/port.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { json, type Reply } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import { csvOf } from './csv.ts'
import { exampleCsv, exportWords } from './export-words.ts'
import {
  Analytics,
  AnalyticsCsv,
  AnalyticsQuery,
  ExportQuery,
  Summary,
  SummaryQuery,
} from './model.ts'
import type { AnalyticsStores, KnownFlows } from './port.ts'
import { eventRows, ofVersion, only, runRows, versionOfEvent } from './raw-rows.ts'
import { isInSegments } from './segments.ts'
import {
  analyticsService,
  ignoredParameters,
  type Question,
  questionOf,
  rangeOf,
} from './service.ts'

export type { AnalyticsStores } from './port.ts'
export { analyticsService } from './service.ts'

/** The operation that returns a flow's numbers as CSV, for callers that reach it in another way. */
export const exportOperation = 'exportAnalytics'

/** Routes for the numbers of a flow, as JSON and as CSV. */
export function analyticsRoutes(deps: {
  stores: AnalyticsStores & Pick<GateStores, 'catalogue'>
  flows: KnownFlows
  clock: Clock
}): Route[] {
  const { stores, flows } = deps
  const service = analyticsService(deps)

  const questionIn = (
    { subject, query, request, receivedAt }: RequestContext<FlowEntry, null, AnalyticsQuery>,
    shape: TObject,
  ) =>
    questionOf(
      subject,
      query,
      receivedAt,
      ignoredParameters(request, Object.keys(shape.properties)),
    )

  const bodyOf = async (
    question: Question,
    { query, request, onBroken }: RequestContext<FlowEntry, null, ExportQuery>,
  ): Promise<Reply['body']> => {
    const { flow, range, version, filters } = question
    const options = { bom: query.bom === '1', onBroken }
    const { ref } = flow.organisation
    if (query.rows === 'runs') {
      const { header, cellsOf } = runRows(flow)
      const pages = stores.analytics.runs(ref, flow.ref, range)
      const ofSegments = only(pages, ({ traits }) => isInSegments(traits, filters))
      const asked = ofVersion(ofSegments, version, run => run.version)
      return csvStream(header, asked, cellsOf, options)
    }
    if (query.rows === 'events') {
      if (filters.length > 0) {
        const message = 'Events are not told apart by traits: ask for rows=runs'
        throw invalid({ path: '/segment', message })
      }
      const { header, cellsOf } = eventRows(flow)
      const pages = stores.analytics.events(ref, flow.ref, range)
      return csvStream(header, ofVersion(pages, version, versionOfEvent(flow)), cellsOf, options)
    }
    return csvOf(await service.answer(question, request.signal), options)
  }

  return [
    route({
      method: 'GET',
      path: '/flows/:flow_id/analytics',
      operation: 'getAnalytics',
      tag: 'Analytics',
      summary: 'What became of the runs of a flow that started in a range of days',
      caller: 'session token',
      bucket: 'analytics',
      subject: 'any flow',
      query: AnalyticsQuery,
      description:
        'The numbers do not depend on the order, the batching or the repetition in which events ' +
        'arrived. `definitions` in the answer says what each means. A parameter that looks like one ' +
        'of these misspelt is 422; others are named in `ignored`.',
      answers: { 200: { description: 'The numbers of the range.', schema: Analytics } },
      isLong: true,
      async handle(call) {
        const question = questionIn(call, AnalyticsQuery)
        return json(200, await service.answer(question, call.request.signal))
      },
    }),
    route({
      ...managing('analytics:read'),
      method: 'GET',
      path: '/manage/summary',
      operation: 'getSummary',
      summary: 'What became of the runs of every flow, in short',
      query: SummaryQuery,
      description: 'The same numbers as those of each flow alone.',
      answers: { 200: { description: 'As of now.', schema: Summary, isShared: true } },
      isLong: true,
      async handle(call) {
        const { org, query, request, receivedAt } = call
        const range = rangeOf(query, receivedAt)
        const known = await flows.read(org.ref)
        const entries = await Promise.all(known.flows.map(({ id }) => stores.catalogue().flow(id)))
        const found = entries.filter(entry => entry !== null)
        return freshReply(call, await service.summary(found, range, request.signal))
      },
    }),
    route({
      method: 'GET',
      path: '/flows/:flow_id/analytics/export.csv',
      operation: exportOperation,
      tag: 'Analytics',
      summary: 'The same as CSV, or the raw runs or events',
      caller: 'session token',
      bucket: 'export',
      subject: 'any flow',
      query: ExportQuery,
      description:
        'Raw rows are streamed, of any number. A parameter that looks like one of these misspelt is ' +
        '422; others are ignored. An export that fails midway breaks the connection; ' +
        `it never ends as if whole.\n\n${exportWords}`,
      answers: {
        200: {
          description: 'The rows, as a file.',
          schema: AnalyticsCsv,
          example: exampleCsv,
          type: 'text/csv',
          isFile: true,
        },
      },
      isLong: true,
      async handle(call) {
        const question = questionIn(call, ExportQuery)
        const { from, to } = question.range
        const filename = `cairn-${call.subject.key}-${from}_${to}.csv`
        const isHead = call.request.method === 'HEAD'
        return {
          status: 200,
          body: isHead ? unreadStream() : await bodyOf(question, call),
          headers: {
            'Content-Type': 'text/csv; charset=utf-8',
            'Content-Disposition': `attachment; filename="${filename}"`,
          },
        }
      },
    }),
  ]
}
