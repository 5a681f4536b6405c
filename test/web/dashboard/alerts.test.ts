import { expect } from 'bun:test'
import { until } from '../../../scripts/support/until.ts'
import type { AlertList, Webhook } from '../../../src/modules/alerts/schema.ts'
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

const settings = '/settings/alerts'
const loaded = (page: Page) => page.locator('.skeleton').first().waitFor({ state: 'detached' })

test('rules are saved with their thresholds, and invalid input is reported at its field', async () => {
  const { page, noticed } = await house.visit(settings)
  await page.getByLabel('Completion falls').check()
  await page.getByLabel('By at least, percentage points').fill('0')
  expect(await page.getByRole('button', { name: 'Save rules' }).isDisabled()).toBe(true)
  await page.getByLabel('By at least, percentage points').fill('12')
  await page.getByRole('button', { name: 'Save rules' }).click()
  await page.getByRole('status').getByText('The rules are saved.').waitFor()
  await page.reload()
  await loaded(page)
  expect(await page.getByLabel('By at least, percentage points').inputValue()).toBe('12')
  await requireSound(page, noticed)
  await page.getByRole('button', { name: 'Add a webhook…' }).click()
  await page.getByLabel('Address', { exact: true }).fill('ftp://example.com')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  const valid = page.getByText('Must be an address such as https://hooks.example.com/cairn')
  await valid.first().waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByLabel('Mail addresses').fill('team@example.com\nnobody')
  await page.getByRole('button', { name: 'Save the report' }).click()
  await page.getByText('nobody: Must be a mail address').waitFor()
})

test('a webhook shows its secret once, is tried, listed, replayed, rotated and removed', async () => {
  const { page, noticed } = await house.visit(settings)
  await page.getByRole('button', { name: 'Add a webhook…' }).click()
  await page.getByLabel('Address', { exact: true }).fill(receiver.url)
  await page.getByText('Only these types').click()
  expect(await page.getByRole('button', { name: 'Add', exact: true }).isDisabled()).toBe(true)
  await page.getByRole('checkbox', { name: /^The weekly report/ }).check()
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByText(/is told of one type from now on/).waitFor()
  const secret = await page.locator('.shown-once code').first().textContent()
  expect(secret).toStartWith('whsec_')
  await requireSound(page, noticed)
  const { host } = new URL(receiver.url)
  await page.getByRole('button', { name: `Send a test to ${host}` }).click()
  await page.getByText(`The test arrived at ${host}, which answered 204.`).waitFor()
  WebhookReceiver.verify(await receiver.at(0), secret!.trim())
  await page.reload()
  await loaded(page)
  expect(await page.locator('body').textContent()).not.toContain('whsec_')

  await page.getByText('report.weekly', { exact: true }).waitFor()
  await page.getByRole('button', { name: `Choose types… ${host}` }).click()
  await page.getByRole('checkbox', { name: /^A step has lost its element step/ }).check()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText(`${host} is told of 2 types from now on.`).waitFor()
  const [told] = await house.place.json<Webhook[]>(['alerts', 'webhook', 'list'])
  expect(told?.types).toEqual(['report.weekly', 'step.broken'])
  await page.getByRole('button', { name: `Choose types… ${host}` }).click()
  await page.getByText('Everything, later types too').click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText(`${host} is told of everything from now on.`).waitFor()

  await page.getByRole('link', { name: 'Deliveries' }).click()
  await page.getByText('Delivered').waitFor()
  await page.getByText('What was sent').click()
  await page.getByText('"organisation": "harbor"').waitFor()
  await requireSound(page, noticed)
  await page.getByRole('button', { name: /^Replay webhook\.test msg_/ }).click()
  const [first, second] = [await receiver.at(0), await receiver.at(1)]
  expect(second.id).toBe(first.id)
  await page.getByRole('link', { name: 'All webhooks' }).click()

  await page.getByRole('button', { name: `Rotate the secret… ${host}` }).click()
  await page.getByRole('button', { name: 'Rotate', exact: true }).click()
  await page.getByText(`${host} has a new secret.`).waitFor()
  await page.getByText(/The secret before signs too until/).waitFor()
  await page.getByRole('button', { name: `Remove… ${host}` }).click()
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByText('No webhook yet').waitFor()
  expect(noticed.complaints).toEqual([])
})

test('the report uses the organisation’s time zone, and is mailed to addresses that have confirmed', async () => {
  const { page, noticed } = await house.visit(settings)
  await page.getByText('by UTC: no time zone is set').waitFor()
  await page.getByText('No mail was sent in the last seven days.').waitFor()
  await page.getByLabel('Mail addresses').fill('team@example.com')
  await page.getByRole('button', { name: 'Save the report' }).click()
  await page.getByText('The weekly report is saved.').waitFor()
  const recipient = page.getByRole('table', { name: 'Recipients' }).getByRole('row')
  await recipient.getByText('Waiting for confirmation').waitFor()
  await recipient.getByRole('button', { name: 'Send again team@example.com' }).click()
  await page
    .getByRole('alert')
    .getByText(/one confirmation an hour/)
    .waitFor()
  await page.getByRole('button', { name: 'Send last week’s now' }).click()
  await page.getByText('no confirmed mail address').waitFor()
  // The browser complains of the refusal.
  await requireSound(page, { ...noticed, complaints: [] })

  const reader = await house.browser.page()
  const confirm = MailServer.pathIn(await smtp.at(0), 'confirm')
  await reader.page.goto(house.server.url + confirm)
  await requireSound(reader.page, reader.noticed)
  await reader.page.getByRole('button', { name: 'Confirm' }).click()
  await reader.page.getByRole('heading', { name: 'Confirmed' }).waitFor()
  await page.reload()
  await recipient.getByText('Confirmed').waitFor()
  await page.getByRole('button', { name: 'Send last week’s now' }).click()
  await page.getByText('It is on its way to 1 receiver.').waitFor()
  await page.getByRole('link', { name: 'Settings → Time zone' }).click()
  await page.getByText('Whose days are shown').waitFor({ state: 'attached' })
  expect(new URL(page.url()).pathname).toEndWith('/settings/timezone')
})

test('the overview shows an alert with its start, and for a day after its end', async () => {
  const { place } = house
  const step = (await house.flow('welcome')).steps[1]!
  const report = async (outcome: string) => {
    for (let person = 0; person < 6; person++) {
      await house.ask('POST', `/steps/${step.id}/health`, { outcome, userId: `p${person}` })
    }
  }
  // Each settings change triggers one check. Two checks in a row open or resolve an alert.
  const becomes = (state: string) =>
    until(async () => {
      await place.run(['alerts', 'set', 'rules.stepBroken.on', 'true'])
      const { alerts } = await place.json<AlertList>(['alerts', 'list'])
      return alerts[0]?.state === state
    })
  await report('not_found')
  await becomes('open')
  const { page, noticed } = await house.visit('/', { role: 'viewer' })
  await page.getByText('Alert since').waitFor()
  await requireSoundOnEveryScreen(page, noticed)
  await report('found')
  await becomes('resolved')
  await page.reload()
  await page.getByText('Over since').waitFor()
  await requireSound(page, noticed)
})
