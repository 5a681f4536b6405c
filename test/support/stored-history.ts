import { drizzle } from 'drizzle-orm/bun-sqlite'
import type { Flow } from '../../src/core/flow/flow.ts'
import { newId } from '../../src/core/organisation/ids.ts'
import type { NewEvent } from '../../src/storage/shared/in-rows.ts'
import * as schema from '../../src/storage/sqlite/database/schema.ts'
import type { RefEvent, RefFlow } from './analytics-reference.ts'
import type { World } from './world.ts'

/** An organisation with a reference's flows, published at the times that the reference gives. */
export interface StoredWorld {
  orgRow: number
  flowRows: Map<string, number>
  flowIds: Map<string, string>
  stepRows: Map<string, number>
  itemRows: Map<string, number>
}

const partKey = (flow: string, part: string) => `${flow}/${part}`

/** Puts flows with a past into the database, because the product offers no way to choose publication times. */
export function storeFlows(
  world: Pick<World, 'database' | 'takeUp'>,
  refFlows: RefFlow[],
): StoredWorld {
  const db = drizzle({ client: world.database })
  const publicId = newId('org')
  const [organisation] = db
    .insert(schema.organisations)
    .values({ publicId, slug: publicId.toLowerCase(), name: 'Test', createdAt: 0 })
    .returning()
    .all()
  const orgRow = organisation?.id as number
  const stored: StoredWorld = {
    orgRow,
    flowRows: new Map(),
    flowIds: new Map(),
    stepRows: new Map(),
    itemRows: new Map(),
  }
  for (const ref of refFlows) {
    const flowId = newId('flow')
    const [flow] = db
      .insert(schema.flows)
      .values({ publicId: flowId, orgId: orgRow, key: ref.key, status: 'published', updatedAt: 0 })
      .returning()
      .all()
    const flowRow = flow?.id as number
    stored.flowRows.set(ref.key, flowRow)
    stored.flowIds.set(ref.key, flowId)
    const ids = new Map<string, string>()
    const partOf = (kind: 'step' | 'item', key: string) => {
      const rows = kind === 'step' ? stored.stepRows : stored.itemRows
      const known = ids.get(`${kind} ${key}`)
      if (known) return known
      const id = newId(kind)
      const table = kind === 'step' ? schema.steps : schema.items
      const [part] = db
        .insert(table)
        .values({ publicId: id, flowId: flowRow, key })
        .returning()
        .all()
      rows.set(partKey(ref.key, key), part?.id as number)
      ids.set(`${kind} ${key}`, id)
      return id
    }
    for (const version of ref.versions) {
      const body = {
        id: flowId,
        key: ref.key,
        name: ref.key,
        version: version.version,
        priority: 0,
        steps: version.steps.map(({ key }, position) => ({
          id: partOf('step', key),
          key,
          position,
          title: key,
        })),
        checklist:
          version.items.length === 0
            ? null
            : {
                order: 'any',
                items: version.items.map(({ key, completeOn }, position) => ({
                  id: partOf('item', key),
                  key,
                  position,
                  title: key,
                  completeOn: completeOn === null ? null : { event: completeOn },
                })),
              },
      } as unknown as Flow
      db.insert(schema.flowVersions)
        .values({
          flowId: flowRow,
          version: version.version,
          publishedAt: version.publishedAt,
          body,
          stepRows: version.steps.map(({ key }) => stored.stepRows.get(partKey(ref.key, key)) ?? 0),
          itemRows: version.items.map(({ key }) => stored.itemRows.get(partKey(ref.key, key)) ?? 0),
        })
        .run()
    }
  }
  db.insert(schema.catalogueChanges).values({ orgId: orgRow }).run()
  world.takeUp()
  return stored
}

/** A reference's event as the product stores it. */
export function newEventOf(stored: StoredWorld, event: RefEvent, id: string): NewEvent {
  const part = (rows: Map<string, number>, key: string | undefined) =>
    key === undefined ? null : (rows.get(partKey(event.flowKey as string, key)) ?? null)
  return {
    id,
    kind: event.kind,
    userId: event.userId ?? null,
    anonymousId: event.anonymousId ?? null,
    flowRef: event.flowKey === undefined ? null : (stored.flowRows.get(event.flowKey) as number),
    flowVersion: event.flowVersion ?? null,
    stepRef: part(stored.stepRows, event.stepKey),
    itemRef: part(stored.itemRows, event.itemKey),
    runId: event.runId ?? null,
    sessionId: event.sessionId ?? null,
    occurredAt: event.at,
    reportedAt: event.at,
    url: null,
    name: event.name ?? null,
    reason: null,
    properties: null,
    traits: event.traits ? JSON.stringify(event.traits) : null,
    answer: event.answer ?? null,
  }
}
