import type { FlowWork } from '../../core/flow/work.ts'
import { management } from '../../http/management.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Route } from '../../http/route.ts'
import type { FlowStore } from '../../storage/interfaces/authoring.ts'
import { authoringOf, expectedIn, keyOf, requireFew } from './requests.ts'
import { recordsOf } from './rules.ts'
import {
  ChangedFlows,
  Noted,
  PushedFlows,
  Restored,
  StatusBody,
  VersionAnswer,
  VersionList,
} from './schema.ts'
import { flowNamed, publishFlows, restoreVersion, versionOf, withdrawFlows } from './service.ts'

const reads = management('flows:read')
const publishes = management('flows:publish')

/** Routes for publishing flows, and for published versions. */
export function publicationRoutes(deps: { flows: FlowStore; flowWork: FlowWork }): Route[] {
  return [
    ...statusRoutes('publish', 'Publish drafts as the next versions', (call, keys, note) =>
      publishFlows(authoringOf(call, deps, note), keys, expectedIn(call)),
    ),
    ...statusRoutes('unpublish', 'Hide flows from pages', (call, keys, note) =>
      withdrawFlows(authoringOf(call, deps, note), keys, 'draft'),
    ),
    ...statusRoutes('archive', 'Archive flows', (call, keys, note) =>
      withdrawFlows(authoringOf(call, deps, note), keys, 'archived'),
    ),
    reads.get(
      '/manage/flows/:key/versions',
      'listVersions',
      'List the versions of a flow, newest first',
      { returns: VersionList, errors: ['flow_not_found'] },
      async call => {
        await flowNamed(authoringOf(call, deps), keyOf(call))
        return { versions: await deps.flows.versions(call.org.ref, keyOf(call)) }
      },
    ),
    reads.get(
      '/manage/flows/:key/versions/:version',
      'getVersion',
      'Get a version of a flow',
      { returns: VersionAnswer, errors: ['flow_not_found', 'version_not_found'] },
      call => versionOf(authoringOf(call, deps), keyOf(call), versionIn(call)),
    ),
    publishes.post(
      '/manage/flows/:key/versions/:version/restore',
      'restoreVersion',
      'Restore an older version as the draft, and publish it if you ask for that',
      {
        description: 'Numbers only grow: published again, an older version gets a new number.',
        body: Restored,
        returns: PushedFlows,
        status: 200,
        isConditional: true,
        errors: ['flow_not_found', 'version_not_found', 'too_many_flows'],
      },
      async call => {
        const { publish = false, note } = call.body
        const options = { publish, isExpected: expectedIn(call) }
        const authoring = authoringOf(call, deps, note)
        const restored = await restoreVersion(authoring, keyOf(call), versionIn(call), options)
        return { dryRun: false, flows: recordsOf(restored) }
      },
    ),
  ]
}

/** Two routes for a change of status: for the flow that the path names, and for several at once. */
function statusRoutes(
  verb: 'publish' | 'unpublish' | 'archive',
  summary: string,
  change: (
    call: RequestContext,
    keys: readonly string[],
    note: string | undefined,
  ) => ReturnType<typeof withdrawFlows>,
): Route[] {
  const declared = {
    returns: ChangedFlows,
    status: 200,
    isConditional: verb === 'publish',
    errors: ['flow_not_found', 'too_many_flows'],
  } as const
  const changed = async (...args: Parameters<typeof change>) => ({
    flows: recordsOf(await change(...args)),
  })
  return [
    publishes.post(
      `/manage/flows/:key/${verb}`,
      `${verb}Flow`,
      summary,
      { ...declared, body: Noted },
      call => changed(call, [keyOf(call)], call.body.note),
    ),
    publishes.post(
      `/manage/${verb}`,
      `${verb}Flows`,
      summary,
      { ...declared, body: StatusBody },
      call => {
        const { keys, note } = call.body
        requireFew(call, '/keys', keys)
        return changed(call, keys, note)
      },
    ),
  ]
}

function versionIn({ params }: RequestContext): number {
  const version = params.version ?? ''
  return /^[1-9]\d{0,8}$/.test(version) ? Number(version) : 0
}
