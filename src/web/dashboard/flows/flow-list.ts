import type { AuthoredFlow } from '../../../modules/authoring/schema.ts'
import type { Tone } from '../parts/badge.tsx'

export interface FlowList {
  flows: AuthoredFlow[]
}

export type { AuthoredFlow }

/** All flows of the organisation. */
export const flowsPath = '/manage/flows'

export const toneOfStatus: Record<AuthoredFlow['status'], Tone> = {
  draft: 'neutral',
  published: 'good',
  archived: 'neutral',
}
