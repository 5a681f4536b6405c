import type { EnvironmentsAnswer } from '../../../modules/environments/model.ts'
import { never, useRead } from '../api/read.ts'

export const environmentsPath = '/manage/environments'

/** What the organisation is linked to; it is seldom another. */
export const useLinks = () => useRead<EnvironmentsAnswer>(environmentsPath, never)
