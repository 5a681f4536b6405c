import { flowNotFound, invalid } from '../../core/errors.ts'
import type { FlowEntry } from '../../core/organisation/catalogue.ts'
import type { Clock } from '../../core/time/clock.ts'
import { csvStream, unreadStream } from '../../http/download.ts'
import { freshReply } from '../../http/encoded.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { json, type Reply } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import type { AnalyticsStores, KnownFlows } from '../../storage/interfaces/analytics.ts'
import type { GateStores } from '../../storage/interfaces/gate.ts'
import type { SegmentStore } from '../../storage/interfaces/segments.ts'
import { csvDescription, csvOf } from './csv.ts'
import { parseQuery, parseRange, type Query, savedIn, unknownParameters } from './query.ts'
import {
  eventColumnsOf,
  only,
  type RawColumns,
  rawDescription,
  runColumnsOf,
  versionOfEvent,
} from './raw-rows.ts'
import {
  Analytics,
  AnalyticsCsv,
  AnalyticsQuery,
  ExportQuery,
  Summary,
  SummaryQuery,
} from './schema.ts'
import { hasTraits } from './segments.ts'
import { analyticsService } from './service.ts'

/** The routes of analytics. The CSV is also downloaded from the dashboard. */
export function analyticsRoutes(deps: {
  stores: AnalyticsStores & Pick<GateStores, 'catalogue'>
  flows: KnownFlows
  segments: Pick<SegmentStore, 'list'>
  clock: Clock
}): { routes: Route[]; exportRoute: Route } {
  const { stores, flows, segments } = deps
  const service = analyticsService(deps)

  async function queryIn(flow: FlowEntry, query: AnalyticsQuery, now: number): Promise<Query> {
    const saved = await savedIn(segments, flow.organisation, query.segment)
    return parseQuery(flow, query, now, saved)
  }

  /** Raw rows, a page at a time. */
  function rawRows(
    { flow, range, version, filters }: Query,
    rows: 'runs' | 'events',
    { query, onBroken }: RequestContext<FlowEntry, null, ExportQuery>,
  ): Reply['body'] {
    const stream = <Row>(
      pages: AsyncIterable<readonly Row[]>,
      columns: RawColumns<Row>,
      versionOf: (row: Row) => number,
    ) =>
      csvStream(
        columns.map(([name]) => name),
        version === null ? pages : only(pages, row => versionOf(row) === version),
        row => columns.map(([, cell]) => cell(row, flow)),
        { bom: query.bom === '1', onBroken },
      )
    const { ref } = flow.organisation
    if (rows === 'runs') {
      const pages = stores.analytics.runs(ref, flow.ref, range)
      const kept = only(pages, ({ traits }) => hasTraits(traits, filters))
      return stream(kept, runColumnsOf(flow), run => run.version)
    }
    if (filters.length > 0) {
      const message = 'Events cannot be filtered by traits: use rows=runs'
      throw invalid({ path: '/segment', message })
    }
    const pages = stores.analytics.events(ref, flow.ref, range)
    return stream(pages, eventColumnsOf(flow), event => versionOfEvent(flow, event))
  }

  const exportRoute = route({
    method: 'GET',
    path: '/flows/:flow_id/analytics/export.csv',
    operation: 'exportAnalytics',
    tag: 'Analytics',
    summary: "Export a flow's analytics, runs or events as CSV",
    caller: 'session token',
    bucket: 'export',
    subject: 'any flow',
    query: ExportQuery,
    description: `Raw rows are streamed. If the export fails midway, the connection breaks. Misspelt parameters return 422; other unknown parameters are ignored.\n\n${csvDescription}\n\n${rawDescription}`,
    responses: {
      200: {
        description: 'The rows, as a file.',
        schema: AnalyticsCsv,
        type: 'text/csv',
        isFile: true,
      },
    },
    isLong: true,
    async handle(call) {
      const { subject, query, request, receivedAt } = call
      unknownParameters(request, Object.keys(ExportQuery.properties))
      const parsed = await queryIn(subject, query, receivedAt)
      const { from, to } = parsed.range
      const body = async () =>
        query.rows === undefined
          ? csvOf(await service.analytics(parsed, request.signal), { bom: query.bom === '1' })
          : rawRows(parsed, query.rows, call)
      return {
        status: 200,
        body: request.method === 'HEAD' ? unreadStream() : await body(),
        headers: {
          'Content-Type': 'text/csv; charset=utf-8',
          'Content-Disposition': `attachment; filename="cairn-${subject.key}-${from}_${to}.csv"`,
        },
      }
    },
  })

  const routes = [
    route({
      method: 'GET',
      path: '/flows/:flow_id/analytics',
      operation: 'getAnalytics',
      tag: 'Analytics',
      summary: "Get a flow's analytics",
      caller: 'session token',
      bucket: 'analytics',
      subject: 'any flow',
      query: AnalyticsQuery,
      description:
        'Covers the runs that started in the range. The order, batching and repetition of events do not change ' +
        'the numbers. `definitions` describes each number. Misspelt parameters return 422; other unknown ' +
        'parameters are listed in `ignored`.',
      responses: { 200: { description: 'The analytics.', schema: Analytics } },
      isLong: true,
      async handle({ subject, query, request, receivedAt }) {
        const ignored = unknownParameters(request, Object.keys(AnalyticsQuery.properties))
        const parsed = await queryIn(subject, query, receivedAt)
        return json(200, await service.analytics(parsed, request.signal, ignored))
      },
    }),
    route({
      ...managing('analytics:read'),
      method: 'GET',
      path: '/manage/flows/:key/analytics',
      operation: 'getResults',
      summary: "Get a flow's analytics, by its key",
      query: AnalyticsQuery,
      description: 'The numbers are those of `GET /flows/{flow_id}/analytics`.',
      responses: { 200: { description: 'The analytics.', schema: Analytics } },
      errors: ['flow_not_found'],
      isLong: true,
      async handle({ org, params, query, request, receivedAt }) {
        const known = (await flows.read(org.ref)).flows.find(({ key }) => key === params.key)
        const flow = known ? await stores.catalogue().flow(known.id) : null
        if (!flow) throw flowNotFound(params.key ?? '')
        const parsed = await queryIn(flow, query, receivedAt)
        return json(200, await service.analytics(parsed, request.signal))
      },
    }),
    route({
      ...managing('analytics:read'),
      method: 'GET',
      path: '/manage/summary',
      operation: 'getSummary',
      summary: 'Get the main numbers of every flow',
      query: SummaryQuery,
      description: 'The numbers are those of `GET /flows/{flow_id}/analytics`.',
      responses: { 200: { description: 'The summary.', schema: Summary, isShared: true } },
      isLong: true,
      async handle(call) {
        const { org, query, request, receivedAt } = call
        const range = parseRange(query, receivedAt)
        const known = await flows.read(org.ref)
        const entries = await Promise.all(known.flows.map(({ id }) => stores.catalogue().flow(id)))
        const found = entries.filter(entry => entry !== null)
        return freshReply(call, await service.summary(found, range, request.signal))
      },
    }),
    exportRoute,
  ]
  return { routes, exportRoute }
}
