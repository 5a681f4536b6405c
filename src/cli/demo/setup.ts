import type { Database } from 'bun:sqlite'
import { readFlowFile } from '../../core/flow/file.ts'
import { Authoring } from '../../modules/authoring/service.ts'
import { Organisations } from '../../modules/organisations/service.ts'
import { flowStoreOver, organisationStoreOver } from '../../storage/connect-management.ts'
import {
  findOrganisation,
  type OrganisationRecord,
} from '../../storage/organisations/organisations.ts'
import gettingStarted from './flows/getting-started.yaml' with { type: 'text' }
import springRelease from './flows/spring-release.yaml' with { type: 'text' }
import welcomeTour from './flows/welcome-tour.yaml' with { type: 'text' }
import { dayMs } from './history.ts'
import { historyDays } from './send.ts'

/** The demo's flows as their author wrote them. */
const flowFiles: readonly string[] = [welcomeTour, gettingStarted, springRelease]

/** The demo's organisation and flows, made where they are missing; what is there is left alone. */
export async function setUpDemo(
  database: Database,
  now: number,
): Promise<{ organisation: OrganisationRecord; snippetKey: string }> {
  const actor = { via: 'command line', name: 'cairn demo', requestId: null } as const
  const store = organisationStoreOver(database)
  const organisations = new Organisations(store, { now: () => now, monotonic: () => 0 })
  const known = findOrganisation(database, 'harbor')
  if (!known) await organisations.create({ name: 'Harbor', slug: 'harbor' }, actor)
  const organisation = known ?? findOrganisation(database, 'harbor')!
  // Before anybody can have seen them: the history begins on the next day.
  const publishedAt = (Math.floor(now / dayMs) - historyDays) * dayMs
  const clock = { now: () => publishedAt, monotonic: () => 0 }
  const authoring = new Authoring(flowStoreOver(database, clock.now), clock)
  const pushed = new Set((await authoring.flows(organisation.ref)).map(({ key }) => key))
  const missing = flowFiles
    .flatMap(text => readFlowFile(text).flows)
    .filter(({ key }) => !pushed.has(key))
  await authoring.push(organisation.ref, missing, { actor }, { publish: true })
  const keys = await organisations.keys(organisation.ref)
  const snippetKey =
    keys.find(({ retiredAt }) => retiredAt === null)?.key ??
    (await organisations.rotateKey(organisation.ref, 0, actor)).text
  return { organisation, snippetKey }
}
