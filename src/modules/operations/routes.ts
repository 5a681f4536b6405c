import { AppError } from '../../core/errors.ts'
import { type Clock, isoTime, isoTimeOrNull } from '../../core/time/clock.ts'
import { actorOf } from '../../http/principal.ts'
import { replyWithProgress } from '../../http/progress-reply.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { json } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import type {
  NodeSeen,
  NodesSeen,
  OperationsStore,
  ServerFigures,
  ServerWatch,
} from '../../storage/interfaces/operations.ts'
import {
  Compacted,
  DeadLetterList,
  DroppedLetters,
  NodeList,
  Rebuilt,
  RequestedLetters,
  RetriedLetters,
  Server,
} from './schema.ts'
import { Operations } from './service.ts'

const maxListed = 1_000

const operates = managing('operator')

/** The organisation that the operator names; null for all. In the dashboard it is always all. */
const namedBy = ({ organisation, principal }: RequestContext) =>
  principal?.kind === 'session' ? null : (organisation?.ref ?? null)

const serverTold = ({ startedAt, backups, retention, ...figures }: ServerFigures): Server => ({
  ...figures,
  startedAt: isoTime(startedAt),
  backups: {
    ...backups,
    nextAt: isoTimeOrNull(backups.nextAt),
    last: backups.last && { ...backups.last, at: isoTime(backups.last.at) },
  },
  retention: { ...retention, oldestEventAt: isoTimeOrNull(retention.oldestEventAt) },
})

/** For this long a silent node may still answer from what it knows, so it is worth an alarm. */
const silentForMs = 60_000

const stateOf = (
  { isLeased, silentMs, change }: NodeSeen,
  last: number,
): NodeList['nodes'][number]['state'] => {
  if (!isLeased) return silentMs <= silentForMs ? 'silent' : 'gone'
  return change < last ? 'behind' : 'running'
}

const nodesTold = (seen: NodesSeen | null): NodeList => ({
  isShared: seen !== null,
  change: seen?.change ?? 0,
  nodes: (seen?.nodes ?? []).map(node => ({
    name: node.name,
    release: node.release,
    startedAt: isoTime(node.startedAt),
    state: stateOf(node, seen!.change),
    silentSeconds: Math.round(node.silentMs / 100) / 10,
    change: node.change,
    jobs: [...node.jobs],
  })),
})

/**
 * Routes for what the operator does to the database. Dead letters are those of the organisation that the
 * operator names, or of all.
 */
export function operationsRoutes({
  operations: store,
  server,
  clock,
}: {
  operations: OperationsStore
  /** Null if no server runs. */
  server: ServerWatch | null
  clock: Clock
}): Route[] {
  const operations = new Operations(store, clock)
  return [
    route({
      ...operates,
      method: 'GET',
      path: '/manage/server',
      operation: 'getServer',
      summary: 'Get the requests, disk, backups and top senders of the server',
      description:
        'Rates and quantiles are of the time since somebody asked before; who asks first waits a second.',
      errors: ['not_found'],
      responses: { 200: { description: 'As of now.', schema: Server } },
      async handle() {
        if (server === null) throw new AppError('not_found', 'No server runs here')
        return json(200, serverTold(await server.look()))
      },
    }),
    route({
      ...operates,
      method: 'GET',
      path: '/manage/nodes',
      operation: 'listNodes',
      summary: 'The servers that share the database, and whether each knows of the last change',
      responses: { 200: { description: 'As of now.', schema: NodeList } },
      handle: async () => json(200, nodesTold(await store.nodes())),
    }),
    route({
      ...operates,
      method: 'GET',
      path: '/manage/dead-letters',
      operation: 'listDeadLetters',
      summary: 'Events that the database refused, the oldest first',
      responses: { 200: { description: `At most ${maxListed}.`, schema: DeadLetterList } },
      async handle(call) {
        const { letters, count } = await store.deadLetters(namedBy(call), maxListed)
        const listed = letters.map(letter => ({
          ...letter,
          receivedAt: isoTime(letter.receivedAt),
        }))
        return json(200, { letters: listed, count })
      },
    }),
    route({
      ...operates,
      method: 'POST',
      path: '/manage/dead-letters/retry',
      operation: 'retryDeadLetters',
      summary: 'Store events after all that the database refused',
      body: RequestedLetters,
      errors: ['dead_letter_not_found'],
      responses: { 200: { description: 'The outcome for each.', schema: RetriedLetters } },
      isLong: true,
      async handle(call) {
        const retried = await operations.retryLetters(namedBy(call), call.body, actorOf(call))
        return json(200, { letters: retried })
      },
    }),
    route({
      ...operates,
      method: 'POST',
      path: '/manage/dead-letters/drop',
      operation: 'dropDeadLetters',
      summary: 'Delete events for good that the database refused',
      body: RequestedLetters,
      errors: ['dead_letter_not_found'],
      responses: { 200: { description: 'How many.', schema: DroppedLetters } },
      isLong: true,
      async handle(call) {
        const dropped = await operations.dropLetters(namedBy(call), call.body, actorOf(call))
        return json(200, { dropped })
      },
    }),
    route({
      ...operates,
      method: 'POST',
      path: '/manage/rebuild',
      operation: 'rebuild',
      summary:
        'Compute analytics anew from the stored events, which changes nothing if all is well',
      description:
        'Who accepts `application/x-ndjson` is told how far it is, by lines `{"progress": …}` and at ' +
        'last `{"result": …}` or `{"failure": {error, code}}`.',
      errors: ['rewriting_under_way'],
      responses: { 200: { description: 'What was done.', schema: Rebuilt } },
      isLong: true,
      handle: call => replyWithProgress(call, tell => operations.rebuild(actorOf(call), tell)),
    }),
    route({
      ...operates,
      method: 'POST',
      path: '/manage/compact',
      operation: 'compact',
      summary: 'Write the database anew, as small as it can be; where no server runs',
      errors: ['server_running', 'no_room'],
      responses: { 200: { description: 'How large it was and is.', schema: Compacted } },
      isLong: true,
      handle: call => replyWithProgress(call, () => operations.compact(actorOf(call))),
    }),
  ]
}
