import { AppError } from '../../core/errors.ts'
import { type Clock, isoTime, isoTimeOrNull } from '../../core/time/clock.ts'
import { gathered, textStream, unreadStream } from '../../http/download.ts'
import { actorOf } from '../../http/principal.ts'
import { replyWithProgress } from '../../http/progress-reply.ts'
import { json, jsonType } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import type { AllFlows, Erased, MetStores, PeopleStore } from '../../storage/interfaces/people.ts'
import { historyOf } from './history.ts'
import {
  defaultEvents,
  Erasure,
  ErasureQuery,
  HistoryQuery,
  PersonBody,
  PersonData,
  PersonHistory,
  PersonQuery,
} from './schema.ts'
import { namedPerson, People } from './service.ts'

const told = ({ receipt, ...erased }: Erased) => ({
  ...receipt,
  askedAt: isoTime(receipt.askedAt),
  finishedAt: isoTimeOrNull(receipt.finishedAt),
  ...erased,
})

const reads = managing('people:read')
const erases = managing('people:erase')

/**
 * Routes for a person's data. The person is named in the query and not in the path, because an id may
 * contain anything, including a slash.
 */
export function peopleRoutes({
  people: store,
  flows,
  stores,
  clock,
}: {
  people: PeopleStore
  flows: AllFlows
  stores: MetStores
  clock: Clock
}): Route[] {
  const people = new People(store, clock)
  return [
    route({
      ...reads,
      method: 'GET',
      path: '/manage/people',
      operation: 'exportPerson',
      summary: 'Everything that is stored of a person, by one of the two ids',
      description:
        'Streamed, of any size, a row a line. What fails midway breaks the connection; it never ends ' +
        'as if whole.',
      query: PersonQuery,
      errors: ['person_not_found'],
      responses: {
        200: { description: 'All of it, as a file.', schema: PersonData, isFile: true },
      },
      isLong: true,
      async handle(call) {
        const headers = {
          'Content-Type': jsonType,
          'Content-Disposition': 'attachment; filename="person.json"',
        }
        if (call.request.method === 'HEAD') {
          namedPerson(call.org, call.query)
          return { status: 200, body: unreadStream(), headers }
        }
        const pieces = gathered(people.stored(call.org, call.query))
        // A refusal can have its own status as long as nothing is sent.
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
      summary: 'What a person has met, and their latest events',
      query: HistoryQuery,
      responses: {
        200: {
          description: 'Nothing of it where nothing is stored of them.',
          schema: PersonHistory,
        },
      },
      async handle({ org, query }) {
        const { before = null, limit = defaultEvents, ...ids } = query
        const requested = { ...ids, before, limit: Number(limit) }
        return json(200, await historyOf(org, requested, { stores, flows, people: store }))
      },
    }),
    route({
      ...erases,
      method: 'DELETE',
      path: '/manage/people',
      operation: 'erasePerson',
      summary: 'Erase a person, and take nothing more of them',
      description:
        'Totals stay as they are. It may take minutes: who accepts `application/x-ndjson` is told how ' +
        'far it is, by lines `{"progress": {at, done}}`, and at last `{"result": …}` or ' +
        '`{"failure": {error, code}}`. Once it has begun it goes on though you leave, and asking again ' +
        'does no harm.',
      query: ErasureQuery,
      errors: ['rewriting_under_way', 'unsupported_by_database'],
      responses: {
        200: { description: 'A receipt, in which nothing is personal.', schema: Erasure },
      },
      isLong: true,
      handle(call) {
        const { compact, ...ids } = call.query
        if (compact && call.principal?.kind !== 'operator') {
          throw new AppError('forbidden', 'To compact the database is for the operator')
        }
        const options = { compact: compact !== undefined }
        return replyWithProgress(call, async tell =>
          told(await people.erase(call.org, ids, options, actorOf(call), tell)),
        )
      },
    }),
    route({
      ...erases,
      method: 'POST',
      path: '/manage/people/allow',
      operation: 'allowPerson',
      summary: 'Take what a person reports again, who was erased and has come back',
      body: PersonBody,
      errors: ['person_not_found'],
      responses: { 204: { description: 'What they report is taken again.' } },
      async handle(call) {
        await people.allow(call.org, call.body, actorOf(call))
        return { status: 204 }
      },
    }),
  ]
}
