import type { AuthoredFlow } from '../../../modules/authoring/schema.ts'

export interface FlowList {
  flows: AuthoredFlow[]
}

export type { AuthoredFlow }

/** What the kinds of flows are called. */
export const flowKinds = {
  tour: 'Tour',
  checklist: 'Checklist',
  announcement: 'Announcement',
  launcher: 'Resource centre',
}

/** All flows of the organisation. */
export const flowsPath = '/manage/flows'
