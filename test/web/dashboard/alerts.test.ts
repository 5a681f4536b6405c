import { expect } from 'bun:test'
import { until } from '../../../scripts/support/until.ts'
import type { AlertList, WebhookJson } from '../../../src/modules/alerts/schema.ts'
import type { Page } from '../../support/browser.ts'
import { DashboardHouse, requireSound, requireSoundOnEveryScreen } from '../../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'
import { MailServer } from '../../support/mail-server.ts'
import { WebhookReceiver } from '../../support/webhook-receiver.ts'

/** Rules are switched on, webhooks are made and tried, and the overview says what is wrong. */

let house: DashboardHouse
let receiver: WebhookReceiver
const smtp = new MailServer()
beforeAll(async () => {
  house = await DashboardHouse.open({
    CAIRN_WEBHOOKS_PRIVATE: 'on',
    ...(await smtp.listen()),
    // Without TLS, as this server is reached.
    CAIRN_PUBLIC_URL: 'http://cairn.example.com',
  })
  receiver = new WebhookReceiver()
})
afterAll(async () => {
  await house.close()
  await receiver.close()
  await smtp.close()
})

const loaded = (page: Page) => page.locator('.skeleton').first().waitFor({ state: 'detached' })

test('rules are saved, and a problem of a webhook or an address is said once, at its field', async () => {
  const { page, noticed } = await house.visit('/settings/alerts')
  await page.getByLabel('Completion of a flow fell').check()
  await page.getByRole('button', { name: 'Save rules' }).click()
  await page.getByRole('status').getByText('Rules saved.').waitFor()
  await page.reload()
  await loaded(page)
  expect(await page.getByLabel('Completion of a flow fell').isChecked()).toBe(true)
  expect(await page.getByLabel('A step is broken').isChecked()).toBe(false)
  await requireSound(page, noticed)
  await page.getByRole('link', { name: 'Webhooks', exact: true }).click()
  await page.getByRole('button', { name: 'Add webhook' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Address', { exact: true }).fill('ftp://example.com')
  await dialog.getByRole('button', { name: 'Add webhook' }).click()
  const problem = page.getByText('Must be an address such as https://hooks.example.com/cairn')
  await problem.first().waitFor()
  expect(await problem.count()).toBe(1)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('link', { name: 'Weekly report', exact: true }).click()
  await page.getByLabel('Email addresses').fill('team@example.com\nnobody')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('nobody: Must be a mail address').waitFor()
})

test('a webhook shows its secret once, is tried, listed, replayed, rotated and removed', async () => {
  const { page, noticed } = await house.visit('/settings/webhooks')
  await page.getByRole('button', { name: 'Add webhook' }).click()
  const dialog = page.getByRole('dialog')
  await page.getByLabel('Address', { exact: true }).fill(receiver.url)
  await page.getByText('Only these types').click()
  expect(await dialog.getByRole('button', { name: 'Add webhook' }).isDisabled()).toBe(true)
  await page.getByRole('checkbox', { name: /^Weekly report/ }).check()
  await dialog.getByRole('button', { name: 'Add webhook' }).click()
  await page.getByText(/^Added .* for one message type/).waitFor()
  const secret = await page.locator('.shown-once code').first().textContent()
  expect(secret).toStartWith('whsec_')
  await requireSound(page, noticed)
  const { host } = new URL(receiver.url)
  await page.getByRole('button', { name: `Send test to ${host}` }).click()
  await page.getByText(`Test delivered: ${host} returned 204.`).waitFor()
  WebhookReceiver.verify(await receiver.at(0), secret!.trim())
  await page.reload()
  await loaded(page)
  expect(await page.locator('body').textContent()).not.toContain('whsec_')

  await page.getByText('report.weekly', { exact: true }).waitFor()
  await page.getByRole('button', { name: `Choose types ${host}` }).click()
  await page.getByRole('checkbox', { name: /^A step is broken step/ }).check()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText(`${host} now gets 2 message types.`).waitFor()
  const [told] = await house.place.json<WebhookJson[]>(['alerts', 'webhook', 'list'])
  expect(told?.types).toEqual(['report.weekly', 'step.broken'])
  await page.getByRole('button', { name: `Choose types ${host}` }).click()
  await page.getByText('All, including future types').click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText(`${host} now gets all message types.`).waitFor()

  await page.getByRole('link', { name: 'Deliveries' }).click()
  await page.getByText('Delivered').waitFor()
  await page.getByText('Message body').click()
  await page.getByText('"organisation": "harbor"').waitFor()
  await requireSound(page, noticed)
  await page.getByRole('button', { name: /^Send again: webhook\.test msg_/ }).click()
  const [first, second] = [await receiver.at(0), await receiver.at(1)]
  expect(second.id).toBe(first.id)
  await page.getByRole('link', { name: 'All webhooks' }).click()

  await page.getByRole('button', { name: `Rotate secret ${host}` }).click()
  await page.getByRole('button', { name: 'Rotate secret', exact: true }).click()
  await page.getByText(`${host} has a new secret.`).waitFor()
  await page.getByText(/The old secret is valid until/).waitFor()
  await page.getByRole('button', { name: `Delete ${host}` }).click()
  await page.getByRole('button', { name: 'Delete webhook' }).click()
  await page.getByText('No webhooks', { exact: true }).waitFor()
  expect(noticed.complaints).toEqual([])
})

test('the report uses the organisation’s time zone, and is mailed to addresses that have confirmed', async () => {
  const { page, noticed } = await house.visit('/settings/report')
  await page.getByText('UTC, because no time zone is set').waitFor()
  await page.getByText('No mail was sent in the last seven days.').waitFor()
  await page.getByLabel('Email addresses').fill('team@example.com')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved.').waitFor()
  const recipient = page.getByRole('table', { name: 'Recipients' }).getByRole('row')
  await recipient.getByText('Waiting for confirmation').waitFor()
  await recipient.getByRole('button', { name: 'Send again team@example.com' }).click()
  await page.getByText('Sent a link to team@example.com.').waitFor()
  await page.getByRole('button', { name: 'Send last week’s report' }).click()
  await page.getByText('no confirmed email address').waitFor()
  await requireSound(page, noticed)

  const reader = await house.browser.page()
  const confirm = MailServer.pathIn(await smtp.at(1), 'confirm')
  await reader.page.goto(house.server.url + confirm)
  await requireSound(reader.page, reader.noticed)
  await reader.page.getByRole('button', { name: 'Confirm' }).click()
  await reader.page.getByRole('heading', { name: 'Confirmed' }).waitFor()
  await page.reload()
  await recipient.getByText('Confirmed').waitFor()
  await page.getByRole('button', { name: 'Send last week’s report' }).click()
  await page.getByText('Queued for 1 recipient.').waitFor()
  await page.getByRole('link', { name: 'Change time zone' }).click()
  await page.getByRole('combobox', { name: 'Time zone' }).waitFor()
  expect(new URL(page.url()).pathname).toEndWith('/settings/general')
})

test('the overview shows an alert while it is open, and for a day after it was resolved', async () => {
  const { place } = house
  const step = (await house.flow('welcome')).steps[1]!
  const report = async (outcome: string) => {
    for (let person = 0; person < 6; person++) {
      await house.ask('POST', `/steps/${step.id}/health`, { outcome, userId: `p${person}` })
    }
  }
  // Each change of the settings triggers one check.
  const becomes = (state: string) =>
    until(async () => {
      await place.run(['alerts', 'set', 'rules.stepBroken.on', 'true'])
      const { alerts } = await place.json<AlertList>(['alerts', 'list'])
      return alerts[0]?.state === state
    })
  await report('not_found')
  await becomes('open')
  const { page, noticed } = await house.visit('/', { role: 'viewer' })
  await page.getByText('Open since').waitFor()
  await requireSoundOnEveryScreen(page, noticed)
  await report('found')
  await becomes('resolved')
  await page.reload()
  await page.getByText(/^Resolved .* ago|^Resolved just now/).waitFor()
  await requireSound(page, noticed)
})
