import { hourMs } from '../../../core/time/durations.ts'
import type { Installation } from '../../../modules/installation/schema.ts'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import type { Tone } from '../parts/badge.tsx'

export type { Installation }

/** The path for whether the snippet is on the organisation's pages, and what is wrong. */
export const installPath = '/manage/install'

export const toneOfInstall: Record<Installation['state'], Tone> = {
  never_seen: 'neutral',
  active: 'good',
  quiet: 'neutral',
  stale: 'warn',
  misconfigured: 'bad',
}

export const nameOfInstall: Record<Installation['state'], string> = {
  never_seen: 'Not installed',
  active: 'Active',
  quiet: 'Quiet',
  stale: 'Inactive',
  misconfigured: 'Misconfigured',
}

export const hasEvents = ({ stages }: Installation) =>
  stages.some(({ stage, firstAt }) => stage === 'events_flowing' && firstAt !== null)

export const publishedAmong = (flows: readonly AuthoredFlow[]) =>
  flows.filter(({ version }) => version !== null)

/** Whether an organisation has yet to see its first flow on a page. Once it was published, for an hour. */
export function isOnTheWay(flows: readonly AuthoredFlow[], installation: Installation): boolean {
  const published = publishedAmong(flows)
  if (!installation.installed || published.length === 0) return true
  const isNew = published.every(({ publishedAt }) => Date.parse(publishedAt!) > Date.now() - hourMs)
  return isNew && !hasEvents(installation)
}
