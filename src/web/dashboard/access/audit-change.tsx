import type { ComponentChildren } from 'preact'
import type { AuditLog } from '../../../modules/access/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { conditionText, type PeopleFilter, ruleText } from '../people/filter.ts'

const fieldNames: Readonly<Record<string, string>> = {
  expiresAt: 'expires',
  hasDraft: 'unpublished draft',
  graceHours: 'grace period, hours',
  overrides: 'rate limits',
  identityMode: 'identity verification',
  identitySecret: 'identity secret',
  honoursDoNotTrack: 'respects Do Not Track',
  traits: 'stored traits',
  retentionDays: 'retention, days',
  role: 'role',
  by: 'signed in with',
  throttle: 'frequency cap',
}

export type AuditLine = AuditLog['lines'][number]

/** Longer texts are cut. The command line shows them in full. */
const longest = 200

const cut = (text: string) => (text.length > longest ? `${text.slice(0, longest)}…` : text)

const nameOf = (field: string) =>
  fieldNames[field] ?? field.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)

/** A value as text: entries by commas, fields by their names. What is not set is left out. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(', ')
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .filter(([, one]) => one !== null)
    .map(([field, one]) => `${nameOf(field)} ${textOf(one)}`)
    .join(', ')
}

/** The conditions of a segment, as its filter shows them. */
const filterText = ({ rules = [], flows = [] }: PeopleFilter) =>
  [...rules.map(ruleText), ...flows.map(one => conditionText(one, one.flow, []))].join(', ')

/** A value in readable form. Points in time are stored as numbers of milliseconds. */
function shown(name: string, value: unknown): ComponentChildren {
  if (value === undefined || value === null || value === '') return <em>nothing</em>
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number' && /At$/.test(name)) {
    return momentHere(new Date(value).toISOString())
  }
  return cut(name === 'filter' ? filterText(value) : textOf(value)) || <em>nothing</em>
}

/** The changed values before and after, by name. */
export function AuditChange({ line: { before, after } }: { line: AuditLine }) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  const changed = names.filter(
    name => JSON.stringify(before?.[name]) !== JSON.stringify(after?.[name]),
  )
  if (changed.length === 0) return null
  return (
    <ul class="changes break">
      {changed.map(name => (
        <li key={name}>
          <span class="soft">{nameOf(name)}</span>{' '}
          {before && name in before && (
            <>
              <span class="soft">
                from <del>{shown(name, before[name])}</del> to
              </span>{' '}
            </>
          )}
          <ins>{shown(name, after?.[name])}</ins>
        </li>
      ))}
    </ul>
  )
}
