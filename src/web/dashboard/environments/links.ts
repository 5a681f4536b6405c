import type { EnvironmentsAnswer } from '../../../modules/environments/schema.ts'
import { never, useRead } from '../api/read.ts'

export const environmentsPath = '/manage/environments'

/** The organisations that this one is linked to. They seldom change. */
export const useLinks = () => useRead<EnvironmentsAnswer>(environmentsPath, never)
