import type { AuthoredFlow } from '../../../modules/authoring/schema.ts'

export interface FlowList {
  flows: AuthoredFlow[]
}

export type { AuthoredFlow }

/** All flows of the organisation. */
export const flowsPath = '/manage/flows'
