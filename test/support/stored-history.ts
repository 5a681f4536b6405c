import type { Flow } from '../../src/core/flow/flow.ts'
import { newId } from '../../src/core/organisation/ids.ts'
import type { NewEvent } from '../../src/storage/shared/in-rows.ts'
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
  const { database } = world
  const insert = (table: string, row: Record<string, string | number>) =>
    database
      .query<{ id: number }, (string | number)[]>(
        `insert into ${table} (${Object.keys(row)})
        values (${Object.keys(row).map(() => '?')}) returning rowid as id`,
      )
      .get(...Object.values(row))!.id
  const publicId = newId('org')
  const organisation = { slug: publicId.toLowerCase(), name: 'Test', created_at: 0 }
  const orgRow = insert('organisations', { public_id: publicId, ...organisation })
  const stored: StoredWorld = {
    orgRow,
    flowRows: new Map(),
    flowIds: new Map(),
    stepRows: new Map(),
    itemRows: new Map(),
  }
  for (const ref of refFlows) {
    const flowId = newId('flow')
    const flow = { org_id: orgRow, key: ref.key, status: 'published', updated_at: 0 }
    const flowRow = insert('flows', { public_id: flowId, ...flow })
    stored.flowRows.set(ref.key, flowRow)
    stored.flowIds.set(ref.key, flowId)
    const ids = new Map<string, string>()
    const partOf = (kind: 'step' | 'item', key: string) => {
      const rows = kind === 'step' ? stored.stepRows : stored.itemRows
      const known = ids.get(`${kind} ${key}`)
      if (known) return known
      const id = newId(kind)
      const row = insert(`${kind}s`, { public_id: id, flow_id: flowRow, key })
      rows.set(partKey(ref.key, key), row)
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
      const rowsOf = (parts: readonly { key: string }[], rows: Map<string, number>) =>
        JSON.stringify(parts.map(({ key }) => rows.get(partKey(ref.key, key)) ?? 0))
      database
        .query(
          `insert into flow_versions (flow_id, version, published_at, definition, page, step_rows, item_rows)
          values (?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(
          ...[flowRow, version.version, version.publishedAt],
          // Analytics reads nothing of a definition but fields that pages get too.
          ...[JSON.stringify(body), JSON.stringify(body)],
          ...[rowsOf(version.steps, stored.stepRows), rowsOf(version.items, stored.itemRows)],
        )
    }
  }
  insert('catalogue_changes', { org_id: orgRow })
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
