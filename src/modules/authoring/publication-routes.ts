import { isoTime } from '../../core/time/clock.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { json } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import { requireFew } from './definitions.ts'
import { byOf, expectedIn, keyOf, told } from './replies.ts'
import {
  ChangedFlows,
  Noted,
  PushedFlows,
  Restored,
  StatusBody,
  VersionAnswer,
  VersionList,
} from './schema.ts'
import type { Authoring, By } from './service.ts'

const reads = managing('flows:read')
const publishes = managing('flows:publish')

/** Routes for what pages are and were shown of flows: publishing, and published versions. */
export function publicationRoutes(authoring: Authoring): Route[] {
  /** Two routes for a verb: for one flow, which the path names, and for several at once. */
  const statusRoutes = (
    verb: 'publish' | 'unpublish' | 'archive',
    summary: string,
    change: (
      call: RequestContext,
      keys: readonly string[],
      by: By,
    ) => ReturnType<Authoring['publish']>,
  ): Route[] => {
    const common = {
      ...publishes,
      method: 'POST',
      summary,
      isConditional: verb === 'publish',
      errors: ['flow_not_found', 'too_many_flows'],
      responses: { 200: { description: 'The flows after it.', schema: ChangedFlows } },
    } as const
    const answer = async (
      call: RequestContext,
      keys: readonly string[],
      note: string | undefined,
    ) => {
      const changed = await change(call, keys, byOf(call, note))
      return json(200, {
        flows: changed.map(({ flow, ...rest }) => ({ ...told(flow), ...rest })),
      })
    }
    return [
      route({
        ...common,
        path: `/manage/flows/:key/${verb}`,
        operation: `${verb}Flow`,
        body: Noted,
        handle: call => answer(call, [keyOf(call)], call.body.note),
      }),
      route({
        ...common,
        path: `/manage/${verb}`,
        operation: `${verb}Flows`,
        body: StatusBody,
        handle(call) {
          const { keys, note } = call.body
          requireFew(call, '/keys', keys)
          return answer(call, keys, note)
        },
      }),
    ]
  }

  return [
    ...statusRoutes(
      'publish',
      'Show drafts as next versions: just what was read',
      (call, keys, by) => authoring.publish(call.org.ref, keys, by, expectedIn(call)),
    ),
    ...statusRoutes('unpublish', 'Take flows back to draft', (call, keys, by) =>
      authoring.withdraw(call.org.ref, keys, 'draft', by),
    ),
    ...statusRoutes('archive', 'Put flows into the archive', (call, keys, by) =>
      authoring.withdraw(call.org.ref, keys, 'archived', by),
    ),
    route({
      ...reads,
      method: 'GET',
      path: '/manage/flows/:key/versions',
      operation: 'listVersions',
      errors: ['flow_not_found'],
      summary: 'The versions of a flow, newest first, with who published them',
      responses: { 200: { description: 'The versions.', schema: VersionList } },
      async handle(call) {
        const versions = await authoring.versions(call.org.ref, keyOf(call))
        return json(200, {
          versions: versions.map(({ published, publishedAt, ...rest }) => ({
            ...rest,
            publishedAt: isoTime(publishedAt),
            publishedBy: published && { name: published.by, via: published.via },
            note: published?.note ?? null,
          })),
        })
      },
    }),
    route({
      ...reads,
      method: 'GET',
      path: '/manage/flows/:key/versions/:version',
      operation: 'getVersion',
      errors: ['flow_not_found', 'version_not_found'],
      summary: 'One version of a flow',
      responses: { 200: { description: 'The version.', schema: VersionAnswer } },
      async handle(call) {
        const version = await authoring.version(call.org.ref, keyOf(call), versionIn(call))
        return json(200, { ...version, publishedAt: isoTime(version.publishedAt) })
      },
    }),
    route({
      ...publishes,
      method: 'POST',
      path: '/manage/flows/:key/versions/:version/restore',
      operation: 'restoreVersion',
      errors: ['flow_not_found', 'version_not_found', 'too_many_flows'],
      summary: 'Roll back: an older version becomes the draft, and is published where asked for',
      description: 'Numbers only grow: a rollback is a new version with an old body.',
      body: Restored,
      isConditional: true,
      responses: { 200: { description: 'The flow after it.', schema: PushedFlows } },
      async handle(call) {
        const { publish = false, note } = call.body
        const { flow, ...rest } = await authoring.restore(
          call.org.ref,
          keyOf(call),
          versionIn(call),
          byOf(call, note),
          { publish, isExpected: expectedIn(call) },
        )
        return json(200, { dryRun: false, flows: [{ ...told(flow), ...rest }] })
      },
    }),
  ]
}

function versionIn({ params }: RequestContext): number {
  const given = params.version ?? ''
  return /^[1-9]\d{0,8}$/.test(given) ? Number(given) : 0
}
