import { blob, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Theme } from '../../../core/flow/theme.ts'
import type { ImageType } from '../../../core/image.ts'
import { roles, type Scope } from '../../../core/organisation/access.ts'
import type { Actor, AuditEntry } from '../../../core/organisation/audit.ts'
import type { Bucket } from '../../../core/organisation/limits.ts'
import { signInMethods } from '../../../core/organisation/sessions.ts'
import { identityModes } from '../../../core/organisation/verified-identity.ts'
import type { PeopleFilter } from '../../../core/person/filter.ts'
import type {
  AlertSettings,
  Facts,
  MessageType,
  RuleName,
  Webhook,
} from '../../interfaces/alerts.ts'

/**
 * The columns of the tables that Drizzle queries. `schema.sql` creates these and all other tables with their keys
 * and indexes, and says what the columns mean; a test checks that the two agree.
 */

export const organisations = sqliteTable('organisations', {
  id: integer().primaryKey(),
  publicId: text('public_id').notNull(),
  slug: text().notNull(),
  name: text().notNull(),
  overrides: text('limits', { mode: 'json' })
    .$type<Partial<Record<Bucket, number>>>()
    .notNull()
    .default({}),
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

/** Which organisation tries out flows for which other one. */
export const stagingLinks = sqliteTable('staging_links', {
  orgId: integer('org_id').notNull(),
  stagingOrgId: integer('staging_org_id').primaryKey(),
  linkedAt: integer('linked_at').notNull(),
})

export const images = sqliteTable('images', {
  id: text().primaryKey(),
  orgId: integer('org_id').notNull(),
  type: text().$type<ImageType>().notNull(),
  width: integer().notNull(),
  height: integer().notNull(),
  bytes: integer().notNull(),
  name: text(),
  createdAt: integer('created_at').notNull(),
  content: blob().$type<Uint8Array<ArrayBuffer>>().notNull(),
})

export const snippetKeys = sqliteTable('snippet_keys', {
  key: text().primaryKey(),
  orgId: integer('org_id').notNull(),
  createdAt: integer('created_at').notNull(),
  retiredAt: integer('retired_at'),
})

export const identitySecrets = sqliteTable('identity_secrets', {
  id: integer().primaryKey(),
  orgId: integer('org_id').notNull(),
  secret: text().notNull(),
  createdAt: integer('created_at').notNull(),
  retiredAt: integer('retired_at'),
})

export const managementTokens = sqliteTable('management_tokens', {
  id: integer().primaryKey(),
  publicId: text('public_id').notNull(),
  orgId: integer('org_id').notNull(),
  name: text().notNull(),
  sha256: text().notNull(),
  scopes: text({ mode: 'json' }).$type<Scope[]>().notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  lastUsedAt: integer('last_used_at'),
  revokedAt: integer('revoked_at'),
  createdById: text('created_by_id'),
})

export const members = sqliteTable('members', {
  id: integer().primaryKey(),
  publicId: text('public_id').notNull(),
  orgId: integer('org_id').notNull(),
  name: text().notNull(),
  isNamed: integer('is_named', { mode: 'boolean' }).notNull(),
  role: text({ enum: roles }).notNull(),
  isRoleProvided: integer('is_role_provided', { mode: 'boolean' }).notNull(),
  method: text({ enum: signInMethods }).notNull(),
  issuer: text().notNull(),
  subject: text().notNull(),
  createdAt: integer('created_at').notNull(),
  lastSeenAt: integer('last_seen_at').notNull(),
})

/** Filters of people with a name. */
export const segments = sqliteTable('segments', {
  id: integer().primaryKey(),
  orgId: integer('org_id').notNull(),
  publicId: text('public_id').notNull(),
  name: text().notNull(),
  filter: text({ mode: 'json' }).$type<PeopleFilter>().notNull(),
  revision: integer().notNull(),
  changedAt: integer('changed_at').notNull(),
})

export const dashboardSessions = sqliteTable('dashboard_sessions', {
  id: integer().primaryKey(),
  orgId: integer('org_id').notNull(),
  memberId: integer('member_id').notNull(),
  sha256: text().notNull(),
  isReadOnly: integer('is_read_only', { mode: 'boolean' }).notNull(),
  sid: text(),
  createdAt: integer('created_at').notNull(),
  lastSeenAt: integer('last_seen_at').notNull(),
  idleMs: integer('idle_ms').notNull(),
  endsAt: integer('ends_at').notNull(),
})

export const dashboardLinks = sqliteTable('dashboard_links', {
  id: integer().primaryKey(),
  orgId: integer('org_id').notNull(),
  sha256: text().notNull(),
  publicId: text('public_id').notNull(),
  method: text({ enum: signInMethods }).notNull(),
  issuer: text().notNull(),
  subject: text().notNull(),
  name: text().notNull(),
  isNamed: integer('is_named', { mode: 'boolean' }).notNull(),
  role: text({ enum: roles }),
  createdBy: text('created_by').notNull(),
  createdById: text('created_by_id'),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
})

export const alertSettings = sqliteTable('alert_settings', {
  orgId: integer('org_id').primaryKey(),
  settings: text({ mode: 'json' }).$type<AlertSettings>().notNull(),
  reportedFor: text('reported_for'),
})

export const alerts = sqliteTable('alerts', {
  id: integer().primaryKey(),
  orgId: integer('org_id').notNull(),
  publicId: text('public_id').notNull(),
  rule: text().$type<RuleName>().notNull(),
  subject: text().notNull(),
  facts: text({ mode: 'json' }).$type<Facts>().notNull(),
  since: integer().notNull(),
  openedAt: integer('opened_at').notNull(),
  resolvedAt: integer('resolved_at'),
})

export const webhooks = sqliteTable('webhooks', {
  id: integer().primaryKey(),
  orgId: integer('org_id').notNull(),
  publicId: text('public_id').notNull(),
  url: text().notNull(),
  types: text({ mode: 'json' }).$type<Webhook['types']>().notNull(),
  secret: text().notNull(),
  oldSecret: text('old_secret'),
  oldSecretUntil: integer('old_secret_until'),
  createdAt: integer('created_at').notNull(),
  failingSince: integer('failing_since'),
  disabledAt: integer('disabled_at'),
  disabledWhy: text('disabled_why').$type<Webhook['disabledWhy']>(),
})

export const deliveries = sqliteTable('deliveries', {
  id: integer().primaryKey(),
  orgId: integer('org_id').notNull(),
  publicId: text('public_id').notNull(),
  webhook: text(),
  mail: text(),
  type: text().$type<MessageType>().notNull(),
  body: text().notNull(),
  createdAt: integer('created_at').notNull(),
  state: text({ enum: ['pending', 'delivered', 'failed'] }).notNull(),
  nextAt: integer('next_at'),
  attempts: integer().notNull(),
  lastAt: integer('last_at'),
  status: integer(),
  fault: text(),
})

export const requestedSends = sqliteTable('requested_sends', {
  id: integer().primaryKey(),
  orgId: integer('org_id').notNull(),
  kind: text({ enum: ['confirmation', 'report', 'webhook'] }).notNull(),
  address: text(),
  at: integer().notNull(),
})

export const auditLog = sqliteTable('audit_log', {
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
})
