import { AppError } from '../../core/errors.ts'
import { auditOf, management } from '../../http/management.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Route } from '../../http/route.ts'
import {
  Compacted,
  NodeList,
  type OperationsStore,
  Rebuilt,
  ServerFigures,
} from '../../storage/interfaces/operations.ts'
import { DeadLetterList, DroppedLetters, RequestedLetters, RetriedLetters } from './schema.ts'
import { dropDeadLetters, retryDeadLetters } from './service.ts'

const maxListed = 1_000

const operator = management('operator')

/** The organisation that the operator names; null for all. In the dashboard it is always all. */
const namedBy = ({ organisation, principal }: RequestContext) =>
  principal?.kind === 'session' ? null : (organisation?.ref ?? null)

/**
 * Routes for what the operator does to the database. Dead letters are those of the organisation that the
 * operator names, or of all.
 */
export const operationsRoutes = ({
  operations: store,
  server,
}: {
  operations: OperationsStore
  /** Gives the figures of the running server; null if none runs. */
  server: (() => ServerFigures) | null
}): Route[] => [
  operator.get(
    '/manage/server',
    'getServer',
    'Get the readiness, disk and backups of the server',
    { returns: ServerFigures, errors: ['not_found'] },
    () => {
      if (server === null) throw new AppError('not_found', 'No server is running here')
      return server()
    },
  ),
  operator.get(
    '/manage/nodes',
    'listNodes',
    'List the servers that share the database, and whether each has the last change',
    { returns: NodeList },
    () => store.nodes(),
  ),
  operator.get(
    '/manage/dead-letters',
    'listDeadLetters',
    'List events that the database rejected, oldest first',
    { returns: DeadLetterList, response: `At most ${maxListed} dead letters.` },
    call => store.deadLetters(namedBy(call), maxListed),
  ),
  operator.post(
    '/manage/dead-letters/retry',
    'retryDeadLetters',
    'Retry events that the database rejected',
    {
      status: 200,
      body: RequestedLetters,
      returns: RetriedLetters,
      response: 'The outcome for each.',
      errors: ['dead_letter_not_found'],
      isLong: true,
    },
    async call => ({
      letters: await retryDeadLetters(store, namedBy(call), call.body, auditOf(call)),
    }),
  ),
  operator.post(
    '/manage/dead-letters/drop',
    'dropDeadLetters',
    'Delete events that the database rejected, permanently',
    {
      status: 200,
      body: RequestedLetters,
      returns: DroppedLetters,
      errors: ['dead_letter_not_found'],
      isLong: true,
    },
    async call => ({
      dropped: await dropDeadLetters(store, namedBy(call), call.body, auditOf(call)),
    }),
  ),
  operator.postWork(
    '/manage/rebuild',
    'rebuild',
    'Recompute analytics from the stored events',
    { returns: Rebuilt, errors: ['rewriting_under_way'] },
    (call, report) => store.rebuild(auditOf(call)('analytics.rebuild', 'all flows'), report),
  ),
  operator.postWork(
    '/manage/compact',
    'compact',
    'Rewrite the database to its smallest size, while no server runs',
    { returns: Compacted, errors: ['server_running', 'no_room'] },
    call => store.compact(auditOf(call)('database.compact', 'the database')),
  ),
]
