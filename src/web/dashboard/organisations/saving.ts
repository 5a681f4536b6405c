import type { Settings, SettingsBody } from '../../../modules/organisations/schema.ts'
import type { Failure } from '../api/failure.ts'
import { know, readAgain, useRead } from '../api/read.ts'
import { act } from '../api/request.ts'

export const settingsPath = '/manage/settings'

export const useSettings = () => useRead<Settings>(settingsPath)

/** Sets the fields that the patch names. Shows them at once and reads everything again. @throws Failure */
export async function save(patch: SettingsBody): Promise<Settings> {
  const settings = await act<Settings>(settingsPath, { method: 'PATCH', body: patch })
  know(settingsPath, settings)
  readAgain()
  return settings
}

/** The problems of one field, from what the server has refused. */
export const problemsAt = (failure: Failure | null, path: string) =>
  (failure?.response.details ?? []).filter(
    one => one.path === path || one.path.startsWith(`${path}/`),
  )
