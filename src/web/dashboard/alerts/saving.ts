import type { AlertSettings, Webhook } from '../../../modules/alerts/schema.ts'
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
export const confirmationsPath = '/manage/alerts/confirmations'
export const mailsPath = '/manage/alerts/mails'

type Deep<T> = { [Name in keyof T]?: T[Name] extends readonly unknown[] ? T[Name] : Deep<T[Name]> }
type SettingsPatch = Deep<
  Pick<AlertSettings, 'rules'> & { report: { on: boolean; mails: string[] } }
>

/** Sets the fields that the patch names, and reads everything again. @throws Failure */
export async function save(patch: SettingsPatch): Promise<void> {
  await act(settingsPath, { method: 'PATCH', body: patch })
  readAgain()
}
