import type { Database } from 'bun:sqlite'
import { newId, newSnippetKey } from '../../src/core/organisation/ids.ts'
import type { IdentityMode } from '../../src/core/organisation/verified-identity.ts'
import { slugFrom } from '../../src/core/text/slug.ts'
import {
  type DecidedChange,
  keyRotated,
  type SettingsPatch,
  secretRotated,
  settingsChanged,
} from '../../src/modules/organisations/rules.ts'
import type { OrganisationRead, Settings } from '../../src/storage/interfaces/organisations.ts'
import {
  addOrganisation,
  changeOrganisation,
  pageOfOrganisations,
  readOrganisation,
} from '../../src/storage/sqlite/organisations/organisations.ts'

/**
 * Synchronous management of organisations over a connection that may write: with the rules and the storage
 * of the product, but without the promises that a thread in between needs.
 */

const audit = (at: number) => ({
  at,
  actor: { via: 'command line', name: 'test', requestId: null } as const,
  action: 'test',
  subject: 'test',
  before: null,
  after: null,
  note: null,
})

export function createOrganisation(
  database: Database,
  { name }: { name: string },
  now: number,
): { organisation: Settings & { row: number }; snippetKey: string } {
  const made = { id: newId('org'), slug: slugFrom(name), name, snippetKey: newSnippetKey() }
  const outcome = addOrganisation(database, { ...made, createdAt: now }, audit(now))
  if (outcome !== 'added') throw new Error(outcome)
  const { organisations } = pageOfOrganisations(database, { named: made.id }, 1)
  const { row } = database
    .query<{ row: number }, [string]>('select id as row from organisations where public_id = ?')
    .get(made.id)!
  const organisation = { ...organisations[0]!, row }
  return { organisation, snippetKey: made.snippetKey }
}

/** Decides about the current state, carries that out, and returns the state afterwards. */
function change<D extends DecidedChange>(
  database: Database,
  orgRow: number,
  now: number,
  decide: (read: OrganisationRead) => D,
): OrganisationRead & { decision: D } {
  const read = readOrganisation(database, orgRow, now)
  const decision = decide(read)
  changeOrganisation(database, orgRow, { ...decision, revision: read.revision, audit: [] })
  return { ...readOrganisation(database, orgRow, now), decision }
}

export const setSettings = (database: Database, orgRow: number, patch: SettingsPatch) =>
  change(database, orgRow, 0, read => settingsChanged(read, patch, 0)).organisation

export const setLimits = (
  database: Database,
  orgRow: number,
  limits: NonNullable<SettingsPatch['limits']>,
) => setSettings(database, orgRow, { limits })

export function rotateKey(
  database: Database,
  orgRow: number,
  { now, graceMs }: { now: number; graceMs: number },
) {
  const { decision } = change(database, orgRow, now, () => keyRotated(now, graceMs))
  return { snippetKey: decision.snippetKey.text, previousUntil: decision.snippetKey.othersEndAt }
}

const identityIn = ({ organisation, secrets }: OrganisationRead) => ({
  mode: organisation.identityMode,
  secrets,
})

export const identityOf = (database: Database, orgRow: number, now: number) =>
  identityIn(readOrganisation(database, orgRow, now))

export const setIdentityMode = (
  database: Database,
  orgRow: number,
  identityMode: IdentityMode,
  now: number,
) => identityIn(change(database, orgRow, now, read => settingsChanged(read, { identityMode }, now)))

export const rotateIdentitySecret = (
  database: Database,
  orgRow: number,
  { now, graceMs }: { now: number; graceMs: number },
) => identityIn(change(database, orgRow, now, read => secretRotated(read, now, graceMs)))
