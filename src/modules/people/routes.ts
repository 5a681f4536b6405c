import { AppError } from '../../core/errors.ts'
import type { Clock } from '../../core/time/clock.ts'
import { gathered, textStream, unreadStream } from '../../http/download.ts'
import { auditOf, management } from '../../http/management.ts'
import { json, jsonType } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import {
  type AllFlows,
  Erasure,
  type MetStores,
  type PeopleList,
  type PeopleStore,
} from '../../storage/interfaces/people.ts'
import type { SegmentStore } from '../../storage/interfaces/segments.ts'
import { historyOf } from './history.ts'
import { listRoutes } from './list-routes.ts'
import {
  defaultEvents,
  ErasureQuery,
  HistoryQuery,
  PersonBody,
  PersonData,
  PersonHistory,
  PersonQuery,
} from './schema.ts'
import { exportOf, namedPerson } from './service.ts'

const reads = managing('people:read')
const eraser = management('people:erase')

/**
 * Routes for a person's data. The person is named in the query and not in the path, because an id may
 * contain anything, including a slash.
 */
export const peopleRoutes = ({
  people: store,
  peopleList: list,
  segments,
  flows,
  stores,
  clock,
}: {
  people: PeopleStore
  peopleList: PeopleList
  segments: SegmentStore
  flows: AllFlows
  stores: MetStores
  clock: Clock
}): Route[] => [
  ...listRoutes({ list, flows, segments, catalogue: stores.catalogue }),
  route({
    ...reads,
    method: 'GET',
    path: '/manage/people/export',
    operation: 'exportPerson',
    summary: "Export a person's data",
    description:
      'The response is streamed, one row per line. If the export fails midway, the connection breaks.',
    query: PersonQuery,
    errors: ['person_not_found'],
    responses: { 200: { description: 'The data, as a file.', schema: PersonData, isFile: true } },
    isLong: true,
    async handle(call) {
      const headers = {
        'Content-Type': jsonType,
        'Content-Disposition': 'attachment; filename="person.json"',
      }
      const person = namedPerson(call.org, call.query)
      if (call.request.method === 'HEAD') return { status: 200, body: unreadStream(), headers }
      const pieces = gathered(exportOf(store, call.org, person, clock.now()))
      // An error can have its own status as long as nothing is sent.
      const first = await pieces.next()
      async function* all() {
        if (!first.done) yield first.value
        yield* pieces
      }
      return { status: 200, body: textStream(all(), call.onBroken), headers }
    },
  }),
  route({
    ...reads,
    method: 'GET',
    path: '/manage/people/history',
    operation: 'readPersonHistory',
    summary: 'Get a person: traits, pages, flows seen and latest events',
    query: HistoryQuery,
    responses: {
      200: { description: 'Empty lists if nothing is stored.', schema: PersonHistory },
    },
    async handle({ org, query }) {
      const { before = null, limit = defaultEvents, ...ids } = query
      const historyQuery = { ...ids, before, limit: Number(limit) }
      return json(200, await historyOf(org, historyQuery, { stores, flows, list, people: store }))
    },
  }),
  eraser.removeWork(
    '/manage/people',
    'erasePerson',
    "Erase a person's data, and stop storing new data",
    {
      description:
        'Results do not change. An erasure can take minutes. It is safe to request it again.',
      query: ErasureQuery,
      returns: Erasure,
      response: 'A receipt without personal data.',
      errors: ['rewriting_under_way', 'unsupported_by_database'],
    },
    async (call, report) => {
      const { compact, ...ids } = call.query
      if (compact && call.principal?.kind !== 'operator') {
        throw new AppError('forbidden', 'Only the operator can compact the database')
      }
      const person = namedPerson(call.org, ids)
      const { subject: _, ...audit } = auditOf(call)('person.erase', '')
      return store.erase(person, { compact: compact !== undefined }, audit, report)
    },
  ),
  eraser.post(
    '/manage/people/allow',
    'allowPerson',
    'Lift the erasure of a person, so that new data is stored again',
    { body: PersonBody, errors: ['person_not_found'], response: 'New data is stored again.' },
    async call => {
      const { subject: _, ...audit } = auditOf(call)('person.allow', '')
      if (await store.allow(namedPerson(call.org, call.body), audit)) return
      const message = 'This person was not erased, so there is no erasure to lift'
      throw new AppError('person_not_found', message)
    },
  ),
]
