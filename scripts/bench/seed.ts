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
import { openForWriting } from '../../src/storage/database/database.ts'
import { migrate } from '../../src/storage/database/migrate.ts'
import { readFlows } from '../../src/storage/flows/reader.ts'
import { changeFlows, prepareChanges } from '../../src/storage/flows/store.ts'
import { rowOf } from '../../src/storage/in-rows.ts'
import {
  addOrganisation,
  changeOrganisation,
  findOrganisation,
  readOrganisation,
} from '../../src/storage/organisations/organisations.ts'
import { Folder } from './programs.ts'

/** An organisation as a load needs it: with its first flow. */
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

/** The highest that an operator can set: a load is not about limits. */
const unlimited = 1_000_000

const limits = Object.fromEntries(buckets.map(bucket => [bucket, unlimited]))

/** Data directories with organisations; each sort is made once, and copied from then on. */
export class Seeds implements Disposable {
  private readonly made = new Map<string, { folder: Folder; tenants: Tenant[] }>()

  /** Fills a folder: organisations of so many flows, without limits to speak of. */
  plant(folder: Folder, organisations: number, flows: number): Tenant[] {
    const sort = `${organisations} organisations of ${flows} flows`
    let seeds = this.made.get(sort)
    if (!seeds) {
      const original = new Folder()
      seeds = { folder: original, tenants: seed(original, organisations, flows) }
      this.made.set(sort, seeds)
    }
    cpSync(seeds.folder.path, folder.path, { recursive: true })
    return [...seeds.tenants]
  }

  [Symbol.dispose](): void {
    for (const { folder } of this.made.values()) folder[Symbol.dispose]()
  }
}

function seed(folder: Folder, organisations: number, flows: number): Tenant[] {
  const database = openForWriting(folder.path)
  try {
    // The seed may be lost: it is what is measured afterwards that must not.
    database.run('pragma synchronous = off')
    migrate(database, Date.now())
    const text = Array.from({ length: flows }, (_, i) => flowText(`tour-${i}`)).join('')
    const { flows: definitions } = readFlowFile(text)
    return Array.from({ length: organisations }, (_, i) => {
      const made = { id: newId('org'), snippetKey: newSnippetKey() }
      const row = found(database, { ...made, slug: `organisation-${i}`, name: `Organisation ${i}` })
      publish(database, row, definitions)
      return { ...made, ...firstFlow(database, row) }
    })
  } finally {
    database.close()
  }
}

/** Founds an organisation without limits to speak of; its row. */
function found(
  database: Database,
  made: { id: string; slug: string; name: string; snippetKey: string },
): number {
  const now = Date.now()
  const actor = { via: 'command line', name: 'bench', requestId: null } as const
  const change = { action: 'organisation.create', subject: made.id, before: null, after: null }
  addOrganisation(database, { ...made, createdAt: now }, { at: now, actor, ...change, note: null })
  const row = rowOf(findOrganisation(database, made.id)!.ref)
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

function firstFlow(database: Database, row: number): Pick<Tenant, 'flowId' | 'stepIds'> {
  const flow = database
    .query<{ id: number; public_id: string }, [number]>(
      'select id, public_id from flows where org_id = ? order by id limit 1',
    )
    .get(row)!
  const steps = database
    .query<{ public_id: string }, [number]>(
      'select public_id from steps where flow_id = ? order by id',
    )
    .all(flow.id)
  return { flowId: flow.public_id, stepIds: steps.map(step => step.public_id) }
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
