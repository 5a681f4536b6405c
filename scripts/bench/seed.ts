import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { readFlowFile } from '../../src/core/flow-file.ts'
import { openForWriting } from '../../src/storage/database.ts'
import { pushAndPublishFlows } from '../../src/storage/flow-store.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { createOrganisation, setLimits } from '../../src/storage/organisations.ts'
import type { Folder } from './programs.ts'

/** An organisation as a load needs it. */
export interface Tenant {
  snippetKey: string
  flowId: string
  stepIds: string[]
}

const flowText = (key: string) => `- key: ${key}
  steps:
    - { key: a, kind: modal, title: Welcome to the project, body: This is where **everything** begins. }
    - { key: b, target: { selector: "[data-test=new-project]" }, title: Start a project, body: Press here. }
    - { key: c, target: { selector: "[data-test=invite]" }, title: Invite your team, body: They will see it. }
`

/** The highest that an operator can set: a load is not about limits. */
const unlimited = 1_000_000

/** A data directory with organisations that have flows, and no limits to speak of. */
export function seed(folder: Folder, organisations: number, flows: number): Tenant[] {
  const database = openForWriting(folder.path)
  try {
    // The seed may be lost: it is what is measured afterwards that must not.
    database.run('pragma synchronous = off')
    migrate(database, Date.now())
    const text = Array.from({ length: flows }, (_, i) => flowText(`tour-${i}`)).join('')
    const { flows: definitions } = readFlowFile(text)
    return Array.from({ length: organisations }, (_, i) => {
      const made = createOrganisation(database, { name: `Organisation ${i}` }, Date.now())
      const { row } = made.organisation
      setLimits(database, row, { events: unlimited, flows: unlimited, heartbeat: unlimited })
      pushAndPublishFlows(database, row, definitions, Date.now)
      const [flow] = database
        .query<{ id: number; public_id: string }, [number]>(
          'select id, public_id from flows where org_id = ? order by id limit 1',
        )
        .all(row)
      const steps = database
        .query<{ public_id: string }, [number]>(
          'select public_id from steps where flow_id = ? order by id',
        )
        .all(flow?.id ?? 0)
      return {
        snippetKey: made.snippetKey,
        flowId: flow?.public_id ?? '',
        stepIds: steps.map(step => step.public_id),
      }
    })
  } finally {
    database.close()
  }
}

/** How many events a database holds, Cairn's or the floor's. */
export function storedEvents(folder: Folder, file: string): number {
  const database = new Database(join(folder.path, file))
  try {
    const isOurs = database.query("select 1 from sqlite_schema where name = 'event_batches'").get()
    const sql = isOurs
      ? 'select sum(events) as n from event_batches'
      : 'select count(*) as n from events'
    return database.query<{ n: number | null }, []>(sql).get()?.n ?? 0
  } finally {
    database.close()
  }
}

/** The file that the load script reads: an organisation a line. */
export async function writeTenants(folder: Folder, tenants: readonly Tenant[]): Promise<string> {
  const file = join(folder.path, 'tenants')
  const lines = tenants.map(({ snippetKey, flowId, stepIds }) =>
    [snippetKey, flowId, ...stepIds].join(' '),
  )
  await Bun.write(file, `${lines.join('\n')}\n`)
  return file
}
