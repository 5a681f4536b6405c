import type { Database } from 'bun:sqlite'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { readFlowFile } from '../../src/core/flow/file.ts'
import type { FlowDefinition } from '../../src/core/flow/flow.ts'
import { buckets } from '../../src/core/organisation/buckets.ts'
import { newId, newSnippetKey } from '../../src/core/organisation/ids.ts'
import { after, published, pushed } from '../../src/modules/authoring/rules.ts'
import { settingsChanged } from '../../src/modules/organisations/rules.ts'
import { atOnce } from '../../src/scheduling/cooperative.ts'
import { rowOf } from '../../src/storage/shared/in-rows.ts'
import { openForWriting } from '../../src/storage/sqlite/database/database.ts'
import { migrate } from '../../src/storage/sqlite/database/migrate.ts'
import { readFlows } from '../../src/storage/sqlite/flows/reader.ts'
import { changeFlows, prepareChanges } from '../../src/storage/sqlite/flows/store.ts'
import {
  addOrganisation,
  changeOrganisation,
  pageOfOrganisations,
  readOrganisation,
} from '../../src/storage/sqlite/organisations/organisations.ts'
import { Folder } from './programs.ts'

/** An organisation as a load needs it: with one flow, its first unless stated otherwise. */
export interface Tenant {
  /** Its public id, which session tokens name. */
  id: string
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

/** The highest that an operator can set, because a load is not about limits. */
const unlimited = 1_000_000

const limits = Object.fromEntries(buckets.map(bucket => [bucket, unlimited]))

/** Data directories with organisations. Each kind is made once, and copied from then on. */
export class Seeds implements Disposable {
  private readonly made = new Map<string, { folder: Folder; tenants: Tenant[][] }>()

  /** Fills a folder with organisations of so many flows each, practically without limits. */
  plant(folder: Folder, organisations: number, flows: number): Tenant[] {
    return this.copy(folder, organisations, flows).map(([first]) => first!)
  }

  /** The same with one organisation; returns a tenant for each of its flows. */
  plantFlows(folder: Folder, flows: number): Tenant[] {
    return this.copy(folder, 1, flows).flat()
  }

  private copy(folder: Folder, organisations: number, flows: number): Tenant[][] {
    const sort = `${organisations} organisations of ${flows} flows`
    let seeds = this.made.get(sort)
    if (!seeds) {
      const original = new Folder()
      seeds = { folder: original, tenants: seed(original, organisations, flows) }
      this.made.set(sort, seeds)
    }
    cpSync(seeds.folder.path, folder.path, { recursive: true })
    return seeds.tenants
  }

  [Symbol.dispose](): void {
    for (const { folder } of this.made.values()) folder[Symbol.dispose]()
  }
}

/** The organisations' tenants, one for each flow. */
function seed(folder: Folder, organisations: number, flows: number): Tenant[][] {
  const database = openForWriting(folder.path)
  try {
    // The seed may be lost. Only what is measured afterwards must not be.
    database.run('pragma synchronous = off')
    migrate(database, Date.now())
    const text = Array.from({ length: flows }, (_, i) => flowText(`tour-${i}`)).join('')
    const { flows: definitions } = readFlowFile(text)
    return Array.from({ length: organisations }, (_, i) => {
      const made = { id: newId('org'), snippetKey: newSnippetKey() }
      const row = found(database, { ...made, slug: `organisation-${i}`, name: `Organisation ${i}` })
      publish(database, row, definitions)
      return flowsOf(database, row).map(flow => ({ ...made, ...flow }))
    })
  } finally {
    database.close()
  }
}

/** Creates an organisation practically without limits, and returns its row. */
function found(
  database: Database,
  made: { id: string; slug: string; name: string; snippetKey: string },
): number {
  const now = Date.now()
  const actor = { via: 'command line', name: 'bench', requestId: null } as const
  const change = { action: 'organisation.create', subject: made.id, before: null, after: null }
  addOrganisation(database, { ...made, createdAt: now }, { at: now, actor, ...change, note: null })
  const { organisations } = pageOfOrganisations(database, { named: made.id }, 1)
  const row = rowOf(organisations[0]!.ref)
  const read = readOrganisation(database, row, now)
  const decision = settingsChanged(read, { limits }, now)
  changeOrganisation(database, row, { ...decision, revision: read.revision, audit: [] })
  return row
}

/** Publishes the first version of each of some flows. */
function publish(database: Database, row: number, definitions: readonly FlowDefinition[]): void {
  const { revision } = readFlows(database, row)
  const changes = definitions.flatMap(definition => {
    const push = pushed(undefined, definition)
    return published(after(undefined, push, Date.now())).change ?? []
  })
  const prepared = prepareChanges(database, row, { revision, changes, audit: [] })
  changeFlows(database, row, atOnce(prepared), Date.now)
}

function flowsOf(database: Database, row: number): Pick<Tenant, 'flowId' | 'stepIds'>[] {
  const flows = database
    .query<{ flowId: string; stepIds: string }, [number]>(
      `select flows.public_id as flowId, group_concat(steps.public_id, ' ' order by steps.id) as stepIds
       from flows join steps on steps.flow_id = flows.id where flows.org_id = ? group by flows.id order by flows.id`,
    )
    .all(row)
  return flows.map(({ flowId, stepIds }) => ({ flowId, stepIds: stepIds.split(' ') }))
}

/** Writes the file that the load script reads: one organisation per line. */
export async function writeTenants(folder: Folder, tenants: readonly Tenant[]): Promise<string> {
  const file = join(folder.path, 'tenants')
  const lines = tenants.map(({ snippetKey, flowId, stepIds }) =>
    [snippetKey, flowId, ...stepIds].join(' '),
  )
  await Bun.write(file, `${lines.join('\n')}\n`)
  return file
}
