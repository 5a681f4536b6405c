import { type Signal, useSignal } from '@preact/signals'
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
  (failure?.told.details ?? []).filter(one => one.path === path || one.path.startsWith(`${path}/`))

/** What a section says after a change, and what it asks about before one. */
export interface Changing<Asked> {
  said: Signal<string | null>
  asked: Signal<Asked | null>
}

export function useChanging<Asked>(): Changing<Asked> {
  const said = useSignal<string | null>(null)
  const confirming = useSignal<Asked | null>(null)
  return { said, asked: confirming }
}
