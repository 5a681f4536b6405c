import { sql } from 'drizzle-orm'
import {
  blob,
  index,
  integer,
  primaryKey,
  real,
  sqliteTable,
  text,
  unique,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core'
import type { Flow, FlowDefinition, FlowSource, PromotedSource } from '../../core/flow/flow.ts'
import type { Theme } from '../../core/flow/theme.ts'
import type { Actor, AuditEntry } from '../../core/organisation/audit.ts'
import type { Bucket } from '../../core/organisation/buckets.ts'
import type { Scope } from '../../core/organisation/management-token.ts'
import { roles } from '../../core/organisation/role.ts'
import { identityModes, userHashVerdicts } from '../../core/organisation/verified-identity.ts'
import type { Fingerprint } from '../../core/step/fingerprint.ts'

/**
 * The tables as Drizzle knows them. `migrations/` makes them, and says what the columns mean; a
 * test holds the two equal.
 */

export const organisations = sqliteTable('organisations', {
  id: integer().primaryKey(),
  publicId: text('public_id').notNull().unique(),
  slug: text().notNull().unique(),
  name: text().notNull(),
  limits: text({ mode: 'json' }).$type<Partial<Record<Bucket, number>>>().notNull().default({}),
  origins: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
  createdAt: integer('created_at').notNull(),
  retentionDays: integer('retention_days'),
  identityMode: text('identity_mode', { enum: identityModes }).notNull().default('off'),
  honoursDoNotTrack: integer('honours_do_not_track', { mode: 'boolean' }).notNull().default(false),
  timezone: text(),
  traits: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
  theme: text({ mode: 'json' }).$type<Theme>(),
  throttle: integer(),
})

/** Which organisation tries flows for which other. */
export const stagingLinks = sqliteTable(
  'staging_links',
  {
    orgId: integer('org_id').notNull(),
    stagingOrgId: integer('staging_org_id').primaryKey(),
    linkedAt: integer('linked_at').notNull(),
  },
  table => [index('staging_links_by_org').on(table.orgId)],
)

export const snippetKeys = sqliteTable(
  'snippet_keys',
  {
    key: text().primaryKey(),
    orgId: integer('org_id').notNull(),
    createdAt: integer('created_at').notNull(),
    retiredAt: integer('retired_at'),
  },
  table => [index('snippet_keys_by_org').on(table.orgId)],
)

export const identitySecrets = sqliteTable(
  'identity_secrets',
  {
    id: integer().primaryKey(),
    orgId: integer('org_id').notNull(),
    secret: text().notNull(),
    createdAt: integer('created_at').notNull(),
    retiredAt: integer('retired_at'),
  },
  table => [index('identity_secrets_by_org').on(table.orgId)],
)

export const flows = sqliteTable(
  'flows',
  {
    id: integer().primaryKey(),
    publicId: text('public_id').notNull().unique(),
    orgId: integer('org_id').notNull(),
    key: text().notNull(),
    status: text({ enum: ['draft', 'published', 'archived'] }).notNull(),
    draft: text({ mode: 'json' }).$type<FlowDefinition>(),
    updatedAt: integer('updated_at').notNull(),
    source: text({ mode: 'json' }).$type<FlowSource | PromotedSource>(),
    isLocked: integer('is_locked', { mode: 'boolean' }).notNull().default(false),
  },
  table => [unique().on(table.orgId, table.key)],
)

export const flowVersions = sqliteTable(
  'flow_versions',
  {
    flowId: integer('flow_id').notNull(),
    version: integer().notNull(),
    publishedAt: integer('published_at').notNull(),
    body: text({ mode: 'json' }).$type<Flow>().notNull(),
    stepRows: text('step_rows', { mode: 'json' }).$type<number[]>().notNull(),
    itemRows: text('item_rows', { mode: 'json' }).$type<number[]>().notNull(),
  },
  table => [primaryKey({ columns: [table.flowId, table.version] })],
)

export const steps = sqliteTable(
  'steps',
  {
    id: integer().primaryKey(),
    publicId: text('public_id').notNull().unique(),
    flowId: integer('flow_id').notNull(),
    key: text().notNull(),
    title: text(),
  },
  table => [unique().on(table.flowId, table.key)],
)

export const items = sqliteTable(
  'items',
  {
    id: integer().primaryKey(),
    publicId: text('public_id').notNull().unique(),
    flowId: integer('flow_id').notNull(),
    key: text().notNull(),
  },
  table => [unique().on(table.flowId, table.key)],
)

export const catalogueChanges = sqliteTable(
  'catalogue_changes',
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    orgId: integer('org_id').notNull(),
  },
  table => [index('catalogue_changes_by_org').on(table.orgId, table.seq)],
)

export const managementTokens = sqliteTable(
  'management_tokens',
  {
    id: integer().primaryKey(),
    publicId: text('public_id').notNull().unique(),
    orgId: integer('org_id').notNull(),
    name: text().notNull(),
    sha256: text().notNull().unique(),
    scopes: text({ mode: 'json' }).$type<Scope[]>().notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    lastUsedAt: integer('last_used_at'),
    revokedAt: integer('revoked_at'),
  },
  table => [index('management_tokens_by_org').on(table.orgId)],
)

export const dashboardSessions = sqliteTable(
  'dashboard_sessions',
  {
    id: integer().primaryKey(),
    orgId: integer('org_id').notNull(),
    sha256: text().notNull().unique(),
    role: text({ enum: roles }).notNull(),
    name: text().notNull(),
    subject: text(),
    issuer: text(),
    sid: text(),
    createdAt: integer('created_at').notNull(),
    lastSeenAt: integer('last_seen_at').notNull(),
    endsAt: integer('ends_at').notNull(),
  },
  table => [index('dashboard_sessions_by_org').on(table.orgId)],
)

export const dashboardLinks = sqliteTable(
  'dashboard_links',
  {
    id: integer().primaryKey(),
    orgId: integer('org_id').notNull(),
    sha256: text().notNull().unique(),
    role: text({ enum: roles }).notNull(),
    name: text().notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  table => [index('dashboard_links_by_org').on(table.orgId)],
)

export const alertSettings = sqliteTable('alert_settings', {
  orgId: integer('org_id').primaryKey(),
  settings: text({ mode: 'json' }).$type<object>().notNull(),
  revision: integer().notNull(),
  reportedFor: text('reported_for'),
})

export const alerts = sqliteTable(
  'alerts',
  {
    id: integer().primaryKey(),
    orgId: integer('org_id').notNull(),
    publicId: text('public_id').notNull().unique(),
    rule: text().notNull(),
    subject: text().notNull(),
    state: text({ enum: ['pending', 'open', 'resolved'] }).notNull(),
    streak: integer().notNull(),
    facts: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
    since: integer().notNull(),
    openedAt: integer('opened_at'),
    resolvedAt: integer('resolved_at'),
  },
  table => [index('alerts_by_org').on(table.orgId, table.state, table.rule, table.subject)],
)

export const webhooks = sqliteTable(
  'webhooks',
  {
    id: integer().primaryKey(),
    orgId: integer('org_id').notNull(),
    publicId: text('public_id').notNull().unique(),
    url: text().notNull(),
    types: text({ mode: 'json' }).$type<string[]>().notNull(),
    secret: text().notNull(),
    oldSecret: text('old_secret'),
    oldSecretUntil: integer('old_secret_until'),
    createdAt: integer('created_at').notNull(),
    failingSince: integer('failing_since'),
    disabledAt: integer('disabled_at'),
    disabledWhy: text('disabled_why'),
  },
  table => [index('webhooks_by_org').on(table.orgId)],
)

export const deliveries = sqliteTable(
  'deliveries',
  {
    id: integer().primaryKey(),
    orgId: integer('org_id').notNull(),
    publicId: text('public_id').notNull().unique(),
    webhook: text(),
    mail: text(),
    type: text().notNull(),
    body: text().notNull(),
    createdAt: integer('created_at').notNull(),
    state: text({ enum: ['pending', 'delivered', 'failed'] }).notNull(),
    dueAt: integer('due_at'),
    attempts: integer().notNull(),
    lastAt: integer('last_at'),
    lastStatus: integer('last_status'),
    lastFault: text('last_fault'),
  },
  table => [
    index('deliveries_due').on(table.dueAt).where(sql`due_at is not null`),
    index('deliveries_by_target').on(table.orgId, table.webhook, table.id),
  ],
)

export const auditLog = sqliteTable(
  'audit_log',
  {
    id: integer().primaryKey(),
    orgId: integer('org_id').notNull(),
    at: integer().notNull(),
    via: text().$type<Actor['via']>().notNull(),
    actor: text().notNull(),
    requestId: text('request_id'),
    action: text().notNull(),
    subject: text().notNull(),
    before: text({ mode: 'json' }).$type<AuditEntry['before']>(),
    after: text({ mode: 'json' }).$type<AuditEntry['after']>(),
    note: text(),
  },
  table => [
    index('audit_log_by_org').on(table.orgId, table.id),
    index('audit_log_by_subject').on(table.orgId, table.subject, table.id),
  ],
)

export const eventBatches = sqliteTable('event_batches', {
  seq: integer().primaryKey(),
  orgId: integer('org_id').notNull(),
  receivedAt: integer('received_at').notNull(),
  later: text().notNull().default(''),
  source: integer().notNull(),
  events: integer().notNull(),
  facts: blob().notNull(),
  details: blob().notNull(),
})

export const eventBatchFlows = sqliteTable(
  'event_batch_flows',
  {
    orgId: integer('org_id').notNull(),
    flowId: integer('flow_id').notNull(),
    seq: integer().notNull(),
    firstAt: integer('first_at').notNull(),
    lastAt: integer('last_at').notNull(),
  },
  table => [primaryKey({ columns: [table.orgId, table.flowId, table.seq] })],
)

export const deletedEvents = sqliteTable(
  'deleted_events',
  {
    orgId: integer('org_id').notNull(),
    flowId: integer('flow_id').notNull(),
    lastAt: integer('last_at').notNull(),
  },
  table => [primaryKey({ columns: [table.orgId, table.flowId] })],
)

/** The two tables of a hash index: see `hash-index/segments.ts`. */
const segmentsTable = (name: string) =>
  sqliteTable(`${name}_segments`, {
    id: integer().primaryKey(),
    level: integer().notNull(),
    bits: integer().notNull(),
    low: integer().notNull(),
    high: integer().notNull(),
    newestAt: integer('newest_at').notNull(),
  })
const chunksTable = (name: string) =>
  sqliteTable(`${name}_chunks`, {
    place: integer().primaryKey(),
    filter: blob().notNull(),
    entries: blob().notNull(),
  })

export const eventIdSegments = segmentsTable('event_id')
export const eventIdChunks = chunksTable('event_id')
export const runsByKeySegments = segmentsTable('runs_by_key')
export const runsByKeyChunks = chunksTable('runs_by_key')
export const runsByPersonSegments = segmentsTable('runs_by_person')
export const runsByPersonChunks = chunksTable('runs_by_person')
export const completionsByPersonSegments = segmentsTable('completions_by_person')
export const completionsByPersonChunks = chunksTable('completions_by_person')

export const runs = sqliteTable(
  'runs',
  {
    id: integer().primaryKey(),
    orgId: integer('org_id').notNull(),
    flowId: integer('flow_id').notNull(),
    runKey: text('run_key').notNull(),
    person: text().notNull(),
    leastUserId: text('least_user_id'),
    leastAnonymousId: text('least_anonymous_id'),
    startedAt: integer('started_at').notNull(),
    lastAt: integer('last_at').notNull(),
    namedVersion: integer('named_version'),
    version: integer().notNull(),
    completedAt: integer('completed_at'),
    dismissedAt: integer('dismissed_at'),
    steps: text().notNull(),
    ownStartedAt: integer('own_started_at'),
    ownCompletedAt: integer('own_completed_at'),
    hasUnattributed: integer('has_loose').notNull().default(0),
    unattributedVersion: integer('loose_version'),
    traits: text(),
    answers: text(),
  },
  table => [
    index('runs_by_start').on(table.orgId, table.flowId, table.startedAt),
    index('runs_with_answers')
      .on(table.orgId, table.flowId, table.startedAt, table.id)
      .where(sql`answers is not null`),
    index('runs_of_loose_people').on(
      table.orgId,
      table.flowId,
      table.person,
      table.startedAt,
      table.runKey,
    ),
    index('runs_changed_loosely').on(table.orgId, table.flowId, table.person, table.startedAt),
  ],
)

/** Column segments; the table keeps the name that it was released with. */
export const columnSegments = sqliteTable(
  'run_blocks',
  {
    id: integer().primaryKey(),
    orgId: integer('org_id').notNull(),
    flowId: integer('flow_id').notNull(),
    fromAt: integer('from_at').notNull(),
    toAt: integer('to_at').notNull(),
    runs: integer().notNull(),
    flowVersions: integer('flow_versions'),
    columns: blob().notNull(),
  },
  table => [uniqueIndex('run_blocks_by_start').on(table.orgId, table.flowId, table.fromAt)],
)

/** Unattributed events. */
export const unattributedEvents = sqliteTable(
  'loose_facts',
  {
    orgId: integer('org_id').notNull(),
    flowId: integer('flow_id').notNull(),
    person: text().notNull(),
    at: integer().notNull(),
    completes: integer().notNull(),
    version: integer(),
  },
  table => [
    primaryKey({
      columns: [table.orgId, table.flowId, table.person, table.at, table.completes],
    }),
  ],
)

export const runPeople = sqliteTable(
  'run_people',
  {
    orgId: integer('org_id').notNull(),
    flowId: integer('flow_id').notNull(),
    runKey: text('run_key').notNull(),
    person: text().notNull(),
  },
  table => [
    primaryKey({ columns: [table.orgId, table.flowId, table.runKey, table.person] }),
    index('run_people_by_person').on(table.orgId, table.flowId, table.person),
  ],
)

export const runOwners = sqliteTable(
  'run_owners',
  {
    orgId: integer('org_id').notNull(),
    flowId: integer('flow_id').notNull(),
    runKey: text('run_key').notNull(),
    person: text().notNull(),
  },
  table => [primaryKey({ columns: [table.orgId, table.flowId, table.runKey] })],
)

export const ticks = sqliteTable(
  'ticks',
  {
    orgId: integer('org_id').notNull(),
    flowId: integer('flow_id').notNull(),
    person: text().notNull(),
    itemId: integer('item_id').notNull(),
    at: integer().notNull(),
    ticked: integer().notNull(),
    runKey: text('run_key').notNull().default(''),
  },
  table => [
    primaryKey({
      columns: [table.orgId, table.flowId, table.person, table.itemId, table.at, table.ticked],
    }),
  ],
)

export const progress = sqliteTable(
  'progress',
  {
    orgId: integer('org_id').notNull(),
    flowId: integer('flow_id').notNull(),
    person: text().notNull(),
    checklistAt: integer('checklist_at'),
    lastTickAt: integer('last_tick_at'),
    items: text().notNull().default(''),
  },
  table => [primaryKey({ columns: [table.orgId, table.flowId, table.person] })],
)

export const checklistCompletions = sqliteTable(
  'checklist_completions',
  {
    orgId: integer('org_id').notNull(),
    flowId: integer('flow_id').notNull(),
    person: text().notNull(),
    at: integer().notNull(),
    named: text().notNull(),
    runKey: text('run_key').notNull(),
  },
  table => [
    primaryKey({ columns: [table.orgId, table.flowId, table.person, table.at] }),
    index('checklist_completions_by_run').on(table.orgId, table.flowId, table.runKey, table.at),
  ],
)

export const completions = sqliteTable(
  'completions',
  {
    id: integer().primaryKey(),
    orgId: integer('org_id').notNull(),
    flowId: integer('flow_id').notNull(),
    person: text().notNull(),
    reportedAt: integer('reported_at').notNull(),
  },
  table => [index('completions_by_flow').on(table.orgId, table.flowId)],
)

export const causedEvents = sqliteTable(
  'caused_events',
  {
    orgId: integer('org_id').notNull(),
    person: text().notNull(),
    name: text().notNull(),
    times: text().notNull(),
  },
  table => [primaryKey({ columns: [table.orgId, table.person, table.name] })],
)

export const heldOut = sqliteTable(
  'held_out',
  {
    orgId: integer('org_id').notNull(),
    flowId: integer('flow_id').notNull(),
    person: text().notNull(),
    version: integer().notNull(),
    at: integer().notNull(),
  },
  table => [primaryKey({ columns: [table.orgId, table.flowId, table.person, table.version] })],
)

export const goals = sqliteTable(
  'goals',
  {
    orgId: integer('org_id').notNull(),
    flowId: integer('flow_id').notNull(),
    person: text().notNull(),
    name: text().notNull(),
    lastAt: integer('last_at').notNull(),
  },
  table => [primaryKey({ columns: [table.orgId, table.flowId, table.person, table.name] })],
)

export const stepReports = sqliteTable(
  'step_reports',
  {
    seq: integer().primaryKey(),
    orgId: integer('org_id').notNull(),
    stepId: integer('step_id').notNull(),
    version: integer().notNull(),
    person: text(),
    outcome: text().notNull(),
    at: integer().notNull(),
    url: text(),
    selector: text(),
    matchCount: integer('match_count'),
    waitMs: integer('wait_ms'),
    snippetVersion: text('snippet_version'),
    message: text(),
  },
  table => [index('step_reports_by_step').on(table.orgId, table.stepId, table.at)],
)

export const stepHealth = sqliteTable(
  'step_health',
  {
    orgId: integer('org_id').notNull(),
    stepId: integer('step_id').notNull(),
    version: integer().notNull(),
    person: text().notNull(),
    at: integer().notNull(),
    outcome: text().notNull(),
  },
  table => [
    primaryKey({ columns: [table.orgId, table.stepId, table.version, table.person] }),
    index('step_health_by_time').on(
      table.orgId,
      table.stepId,
      table.version,
      table.at,
      table.outcome,
    ),
  ],
)

export const stepBaselines = sqliteTable(
  'step_baselines',
  {
    orgId: integer('org_id').notNull(),
    stepId: integer('step_id').notNull(),
    target: text().notNull(),
    at: integer().notNull(),
    locale: text(),
    fingerprint: text({ mode: 'json' }).$type<Fingerprint>().notNull(),
  },
  table => [primaryKey({ columns: [table.orgId, table.stepId] })],
)

export const stepFingerprints = sqliteTable(
  'step_fingerprints',
  {
    seq: integer().primaryKey(),
    orgId: integer('org_id').notNull(),
    stepId: integer('step_id').notNull(),
    version: integer().notNull(),
    at: integer().notNull(),
    status: text().notNull(),
    score: real().notNull(),
    locale: text(),
    url: text(),
    snippetVersion: text('snippet_version'),
    fingerprint: text({ mode: 'json' }).$type<Fingerprint>(),
    suggestedSelector: text('suggested_selector'),
  },
  table => [index('step_fingerprints_by_step').on(table.orgId, table.stepId, table.at)],
)

export const presence = sqliteTable('presence', {
  orgId: integer('org_id').primaryKey(),
  keyUsedFirst: integer('key_used_first'),
  keyUsedLast: integer('key_used_last'),
  flowsFetchedFirst: integer('flows_fetched_first'),
  flowsFetchedLast: integer('flows_fetched_last'),
  heartbeatFirst: integer('heartbeat_first'),
  heartbeatLast: integer('heartbeat_last'),
  eventsFlowingFirst: integer('events_flowing_first'),
  eventsFlowingLast: integer('events_flowing_last'),
  snippetVersion: text('snippet_version'),
  skews: text({ mode: 'json' }).$type<number[]>().notNull().default([]),
  oldKeyUsedFirst: integer('old_key_used_first'),
  oldKeyUsedLast: integer('old_key_used_last'),
})

export const refusals = sqliteTable(
  'refusals',
  {
    orgId: integer('org_id').notNull(),
    hour: integer().notNull(),
    code: text().notNull(),
    count: integer().notNull(),
  },
  table => [primaryKey({ columns: [table.orgId, table.hour, table.code] })],
)

export const identityCounts = sqliteTable(
  'identity_counts',
  {
    orgId: integer('org_id').notNull(),
    hour: integer().notNull(),
    verdict: text({ enum: userHashVerdicts }).notNull(),
    count: integer().notNull(),
  },
  table => [primaryKey({ columns: [table.orgId, table.hour, table.verdict] })],
)

export const deadLetters = sqliteTable('dead_letters', {
  seq: integer().primaryKey(),
  orgId: integer('org_id').notNull(),
  at: integer().notNull(),
  error: text().notNull(),
  event: text().notNull(),
})

export const erasures = sqliteTable(
  'erasures',
  {
    id: integer().primaryKey(),
    orgId: integer('org_id').notNull(),
    key: text().notNull(),
    person: text().notNull(),
    askedAt: integer('asked_at').notNull(),
    secret: text(),
    finishedAt: integer('finished_at'),
    receipt: text(),
  },
  table => [unique().on(table.orgId, table.key, table.person)],
)

export const serverState = sqliteTable('server_state', {
  name: text().primaryKey(),
  value: integer().notNull(),
})
