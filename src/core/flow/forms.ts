import type { TObject } from '@sinclair/typebox'
import { isoTime } from '../time/clock.ts'
import { Flow, type FlowDefinition, Item, Step } from './flow.ts'

/**
 * What a flow becomes: a definition, as its author writes it; a stored version, which keeps the definition
 * as it was published; and what pages get of that version. Each is made from the one before, here alone.
 * None is turned back, because pages do not get every field.
 */
export interface StoredVersion {
  version: number
  publishedAt: number
  definition: FlowDefinition
}

/** The server's ids of a flow and its parts, by their keys. */
export interface FlowIds {
  flow(key: string): string
  step(key: string): string
  item(key: string): string
}

const itself = (key: string) => key

/** For a flow that is shown without being stored. */
const keysAsIds: FlowIds = { flow: itself, step: itself, item: itself }

/** What pages get of a version: the fields of their schemas and no others. */
export function pageFlow(
  { definition, version, publishedAt }: StoredVersion,
  ids: FlowIds = keysAsIds,
): Flow {
  const { key, steps, checklist, launcher } = definition
  const placed = (schema: TObject, idOf: FlowIds['step'], parts: readonly { key: string }[]) =>
    parts.map((part, position) => picked(schema, { ...part, id: idOf(part.key), position }))
  return picked(Flow, {
    ...definition,
    id: ids.flow(key),
    version,
    publishedAt: isoTime(publishedAt),
    steps: placed(Step, ids.step, steps),
    checklist: checklist && { ...checklist, items: placed(Item, ids.item, checklist.items) },
    ...(launcher && {
      launcher: { ...launcher, items: placed(Item, ids.step, launcher.items) },
    }),
  }) as Flow
}

const picked = (schema: TObject, fields: Record<string, unknown>) =>
  Object.fromEntries(
    Object.keys(schema.properties).flatMap(name =>
      Object.hasOwn(fields, name) ? [[name, fields[name]]] : [],
    ),
  )
