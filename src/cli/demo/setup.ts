import type { Database } from 'bun:sqlite'
import { readFlowFile } from '../../core/flow-file.ts'
import { listFlows } from '../../storage/flow-reader.ts'
import { publishFlows, pushFlows } from '../../storage/flow-store.ts'
import {
  createOrganisation,
  findOrganisation,
  keysOf,
  type OrganisationRecord,
  rotateKey,
} from '../../storage/organisations.ts'
import gettingStarted from './flows/getting-started.yaml' with { type: 'text' }
import springRelease from './flows/spring-release.yaml' with { type: 'text' }
import welcomeTour from './flows/welcome-tour.yaml' with { type: 'text' }

/** The demo's flows as their author wrote them. */
const flowFiles: readonly string[] = [welcomeTour, gettingStarted, springRelease]

/** The demo's organisation and flows, made where they are missing; what is there is left alone. */
export function setUpDemo(
  database: Database,
  now: number,
): { organisation: OrganisationRecord; snippetKey: string } {
  const organisation =
    findOrganisation(database, 'harbor') ??
    createOrganisation(database, { name: 'Harbor', slug: 'harbor' }, now).organisation
  const known = new Set(listFlows(database, organisation.row).map(({ key }) => key))
  const missing = flowFiles
    .flatMap(text => readFlowFile(text).flows)
    .filter(({ key }) => !known.has(key))
  pushFlows(database, organisation.row, missing, now)
  publishFlows(
    database,
    organisation.row,
    missing.map(({ key }) => key),
    Date.now,
  )
  const current = keysOf(database, organisation.row, now).find(
    ({ retiredAt }) => retiredAt === null,
  )
  const snippetKey =
    current?.key ?? rotateKey(database, organisation.row, { now, graceMs: 0 }).snippetKey
  return { organisation, snippetKey }
}
