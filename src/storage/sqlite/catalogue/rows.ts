import type { Database } from 'bun:sqlite'
import type { IdentityMode } from '../../../core/organisation/verified-identity.ts'
import type { FlowEntry } from './entries.ts'

export interface OrganisationRow {
  id: number
  public_id: string
  slug: string
  name: string
  limits: string
  origins: string
  retention_days: number | null
  identity_mode: IdentityMode
  honours_do_not_track: 0 | 1
  timezone: string | null
  traits: string
  theme: string | null
  throttle: number | null
}

/** What a published flow asks of custom events. */
export interface AwaitedRow {
  flow_id: number
  event: string | null
  count: number | null
  goal: string | null
}

export type CatalogueFlowRow = Pick<FlowEntry, 'ref' | 'id' | 'key' | 'status'>

export interface VersionRow {
  flow_id: number
  version: number
  published_at: number
  /** JSON: row numbers, in order. */
  step_rows: string
  item_rows: string
}

/** A step or an item. */
export interface PartRow {
  id: number
  public_id: string
  flow_id: number
}

export interface StepNameRow {
  id: number
  public_id: string
  key: string
  title: string | null
}

/** The statements of the catalogue. Those that name an organisation are about that organisation alone. */
export function catalogueRows(database: Database) {
  const partsIn = (table: 'steps' | 'items') =>
    database.query<PartRow, [number]>(
      `select p.id, p.public_id, p.flow_id
      from flows f join ${table} p on p.flow_id = f.id where f.org_id = ?`,
    )
  const ownerOfPart = (table: 'steps' | 'items') =>
    database.query<{ org_id: number }, [string]>(
      `select f.org_id from ${table} p join flows f on f.id = p.flow_id where p.public_id = ?`,
    )
  /** The newest versions of an organisation's published flows. */
  const published = `flows f join flow_versions v on v.flow_id = f.id
        and v.version = (select max(version) from flow_versions where flow_id = f.id)
      where f.org_id = ? and f.status = 'published'`
  return {
    organisation: database.query<OrganisationRow, [number]>(
      `select id, public_id, slug, name, limits, origins, retention_days, identity_mode,
         honours_do_not_track, timezone, traits, theme, throttle
      from organisations where id = ?`,
    ),
    organisationByName: database.query<{ id: number }, [string, string]>(
      'select id from organisations where public_id = ? or slug = ?',
    ),
    organisationByKey: database.query<{ org_id: number }, [string]>(
      'select org_id from snippet_keys where key = ?',
    ),
    keys: database.query<{ key: string; retired_at: number | null }, [number]>(
      'select key, retired_at from snippet_keys where org_id = ?',
    ),
    // The current one first.
    identitySecrets: database.query<{ secret: string; endsAt: number | null }, [number]>(
      `select secret, retired_at as endsAt from identity_secrets
      where org_id = ? order by retired_at is not null, retired_at desc`,
    ),
    flows: database.query<CatalogueFlowRow, [number]>(
      'select id as ref, public_id as id, key, status from flows where org_id = ? order by ref',
    ),
    // Reads only the order of the parts, never the text.
    versions: database.query<VersionRow, [number]>(
      `select v.flow_id, v.version, v.published_at, v.step_rows, v.item_rows
      from flows f join flow_versions v on v.flow_id = f.id
      where f.org_id = ? order by v.flow_id, v.version`,
    ),
    steps: partsIn('steps'),
    items: partsIn('items'),
    // In the order in which callers get them: highest priority first, then key.
    published: database.query<{ flow_id: number; version: number; page: string }, [number]>(
      `select v.flow_id, v.version, v.page
      from ${published} order by v.page ->> '$.priority' desc, f.key`,
    ),
    publishedBytes: database.query<{ bytes: number }, [number]>(
      `select coalesce(sum(octet_length(v.page)), 0) as bytes from ${published}`,
    ),
    // Most flows ask for nothing, and their text is not read for it.
    awaited: database.query<AwaitedRow, [number]>(
      `select f.id as flow_id, v.page ->> '$.when.event' as event, v.page ->> '$.when.count' as count,
        v.page ->> '$.goal.event' as goal
      from ${published} and (event is not null or goal is not null)`,
    ),
    itemsByEvent: database.query<{ item: string; event: string }, [number]>(
      `select item.value ->> '$.id' as item, item.value ->> '$.completeOn.event' as event
      from flows f join flow_versions v on v.flow_id = f.id
          and v.version = (select max(version) from flow_versions where flow_id = f.id),
        json_each(v.page, '$.checklist.items') as item
      where f.org_id = ? and f.status = 'published' and v.item_rows <> '[]' and event is not null
      order by f.id, item.key`,
    ),
    page: database.query<{ page: string }, [number, number]>(
      'select page from flow_versions where flow_id = ? and version = ?',
    ),
    definition: database.query<{ definition: string }, [number, number]>(
      'select definition from flow_versions where flow_id = ? and version = ?',
    ),
    // Newest first. Most flows hold no question, and are not parsed.
    questions: database.query<{ id: number; question: string }, [number]>(
      `select s.id, step.value ->> '$.question' as question
      from flow_versions v, json_each(v.page, '$.steps') as step
        join steps s on s.public_id = step.value ->> '$.id'
      where v.flow_id = ? and instr(v.page, '"question":') > 0
        and step.value -> '$.question' is not null
      order by v.version desc`,
    ),
    draftName: database.query<{ name: string | null }, [number]>(
      `select draft ->> '$.name' as name from flows where id = ?`,
    ),
    stepNames: database.query<StepNameRow, [number]>(
      'select id, public_id, key, title from steps where flow_id = ? order by id',
    ),
    itemsOfFlow: database.query<{ id: number; public_id: string }, [number]>(
      'select id, public_id from items where flow_id = ? order by id',
    ),
    ownerOfFlow: database.query<{ org_id: number }, [string]>(
      'select org_id from flows where public_id = ?',
    ),
    ownerOfStep: ownerOfPart('steps'),
    ownerOfItem: ownerOfPart('items'),
    lastChange: database.query<{ seq: number }, []>(
      'select coalesce(max(seq), 0) as seq from catalogue_changes',
    ),
    changesSince: database.query<{ seq: number; org_id: number }, [number]>(
      'select seq, org_id from catalogue_changes where seq > ? order by seq',
    ),
  }
}

export type CatalogueRows = ReturnType<typeof catalogueRows>
