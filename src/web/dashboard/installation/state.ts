import type { Installation } from '../../../modules/installation/schema.ts'
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
