import type { CsvCell } from '../../core/text/csv.ts'
import { isoTime } from '../../core/time/clock.ts'
import { csvStream, unreadStream } from '../../http/download.ts'
import { management } from '../../http/management.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { managing, type Route, route } from '../../http/route.ts'
import type { SegmentStore } from '../../storage/interfaces/segments.ts'
import { segmentOf } from '../segments/service.ts'
import { Audience, AudienceBody, audienceOf } from './audience.ts'
import {
  conditionsOf,
  described,
  everyone,
  filterIn,
  isEveryone,
  type ListDeps,
  matching,
} from './list.ts'
import { pageOf, sortIn } from './page.ts'
import {
  CountQuery,
  defaultPeople,
  People,
  PeopleCount,
  PeopleFileQuery,
  PeopleQuery,
} from './schema.ts'

const columns = [
  ...['user_id', 'anonymous_id', 'first_seen_at', 'last_seen_at'],
  ...['flows_seen', 'flows_completed', 'flows_dismissed', 'flows_in_progress'],
]

const aboutOrder = 'Lists people of stored events. A `userId` and an `anonymousId` are two people.'

/** Routes for the list of people. */
export function listRoutes(deps: ListDeps & { segments: SegmentStore }): Route[] {
  const reads = management('people:read')
  const conditionsIn = async ({ org, query }: RequestContext<null, null, CountQuery>) => {
    const { search = null, filter, segment } = query
    const filters = filter === undefined ? [] : [filterIn(filter)]
    if (segment !== undefined) {
      filters.push((await segmentOf(deps.segments, org.ref, segment)).filter)
    }
    return conditionsOf(org, search, filters, deps)
  }
  return [
    reads.get(
      '/manage/people',
      'listPeople',
      'List people, last seen first',
      {
        description: aboutOrder,
        query: PeopleQuery,
        errors: ['segment_not_found'],
        returns: People,
        response: 'A page of people.',
        isLong: true,
      },
      async call => {
        const { after = null, limit = defaultPeople, ...query } = call.query
        const options = { sort: sortIn(call.org, query), after, limit: Number(limit) }
        return pageOf(call.org, await conditionsIn(call), options, deps, call.request.signal)
      },
    ),
    reads.get(
      '/manage/people/count',
      'countPeople',
      'Count people',
      { query: CountQuery, returns: PeopleCount, errors: ['segment_not_found'], isLong: true },
      async call => {
        const conditions = await conditionsIn(call)
        const { ref } = call.org
        const people = await deps.list.count(ref, conditions, call.request.signal)
        const all = isEveryone(conditions)
          ? people
          : await deps.list.count(ref, everyone, call.request.signal)
        return { people, all }
      },
    ),
    management('analytics:read').post(
      '/manage/audience',
      'countAudience',
      'Count the people of the last 7 days whom an audience and its pages have',
      {
        description: 'For a flow before it is published. Only counts, no IDs.',
        body: AudienceBody,
        returns: Audience,
        status: 200,
        isLong: true,
      },
      ({ org, body, receivedAt, request }) =>
        audienceOf(org, body, receivedAt, deps.list, request.signal),
    ),
    route({
      ...managing('people:read'),
      method: 'GET',
      path: '/manage/people/list.csv',
      operation: 'downloadPeople',
      summary: 'Download a list of people as CSV',
      description:
        `The columns are ${columns.map(name => `\`${name}\``).join(', ')}, and \`trait:plan\` for each listed trait. ` +
        'If the download fails midway, the connection breaks.',
      query: PeopleFileQuery,
      errors: ['segment_not_found'],
      responses: { 200: { description: 'CSV, one row per person.', isFile: true } },
      isLong: true,
      async handle(call) {
        const { org, query, request } = call
        const { by, isDescending } = sortIn(org, query)
        const order = { by: by as 'lastSeen', isDescending }
        const conditions = await conditionsIn(call)
        async function* rows() {
          for await (const page of matching(org, conditions, order, deps, request.signal)) {
            yield await described(org, page, deps)
          }
        }
        const header = [...columns, ...org.traits.map(name => `trait:${name}`)]
        const cellsOf = (person: Described): CsvCell[] => [
          ...[person.userId, person.anonymousId],
          ...[isoTime(person.firstSeenAt), isoTime(person.lastSeenAt)],
          ...[person.flows.seen, person.flows.completed],
          ...[person.flows.dismissed, person.flows.inProgress],
          ...org.traits.map(name => person.traits[name] ?? null),
        ]
        const options = { bom: query.bom === '1', onBroken: call.onBroken }
        return {
          status: 200,
          body:
            request.method === 'HEAD'
              ? unreadStream()
              : csvStream(header, rows(), cellsOf, options),
          headers: {
            'Content-Type': 'text/csv; charset=utf-8',
            'Content-Disposition': 'attachment; filename="cairn-people.csv"',
          },
        }
      },
    }),
  ]
}

type Described = Awaited<ReturnType<typeof described>>[number]
