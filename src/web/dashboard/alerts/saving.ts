import { type Signal, useSignal } from '@preact/signals'
import type { AlertSettings, Webhook } from '../../../modules/alerts/model.ts'
import { Failure } from '../api/failure.ts'
import { readAgain } from '../api/read.ts'
import { act } from '../api/request.ts'

export const settingsPath = '/manage/alerts/settings'
export const alertsPath = '/manage/alerts'
/** How often the overview asks for alerts. The server looks for them every five minutes. */
export const alertsMs = 60_000
export const webhooksPath = '/manage/webhooks'
/** The path of a webhook, or of something below it. */
export const webhookPath = ({ id }: Webhook, more = '') =>
  `${webhooksPath}/${encodeURIComponent(id)}${more}`
export const mailsPath = '/manage/alerts/mails'

type Deep<T> = { [Name in keyof T]?: T[Name] extends readonly unknown[] ? T[Name] : Deep<T[Name]> }
export type SettingsPatch = Deep<Omit<AlertSettings, 'sendsMail'>>

/** Runs an action at once, and holds why it was refused. */
export function useDoing(): {
  isBusy: Signal<boolean>
  refused: Signal<Failure | null>
  go: (work: () => Promise<void>) => Promise<void>
} {
  const isBusy = useSignal(false)
  const refused = useSignal<Failure | null>(null)
  const go = async (work: () => Promise<void>) => {
    isBusy.value = true
    refused.value = null
    try {
      await work()
      readAgain()
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      refused.value = error
    } finally {
      isBusy.value = false
    }
  }
  return { isBusy, refused, go }
}

/** Sets the fields that the patch names. @throws Failure */
export const save = (patch: SettingsPatch) =>
  act<AlertSettings>(settingsPath, { method: 'PATCH', body: patch })
