import type { AlertSettings, WebhookJson } from '../../../modules/alerts/schema.ts'
import { readAgain } from '../api/read.ts'
import { act } from '../api/request.ts'

export const settingsPath = '/manage/alerts/settings'
export const alertsPath = '/manage/alerts'
/** How often the overview reads alerts. The server checks every five minutes. */
export const alertsMs = 60_000
export const webhooksPath = '/manage/webhooks'
/** The path of a webhook, or of something below it. */
export const webhookPath = ({ id }: WebhookJson, more = '') =>
  `${webhooksPath}/${encodeURIComponent(id)}${more}`
export const hostOf = ({ url }: { url: string }) => new URL(url).host
export const confirmationsPath = '/manage/alerts/confirmations'
export const mailsPath = '/manage/alerts/mails'

/** Changes some settings, and reads everything again. @throws Failure */
export async function save(patch: {
  rules?: AlertSettings['rules']
  report?: { on?: boolean; alerts?: boolean; mails?: string[] }
}): Promise<void> {
  await act(settingsPath, { method: 'PATCH', body: patch })
  readAgain()
}
