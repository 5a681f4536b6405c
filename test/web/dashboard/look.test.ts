import { expect } from 'bun:test'
import { join } from 'node:path'
import { until } from '../../../scripts/support/until.ts'
import { DashboardHouse, requireSoundOnEveryScreen } from '../../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** The organisation's theme in the settings, and a flow's in its form: edited beside what visitors see. */

let house: DashboardHouse
beforeAll(async () => {
  house = await DashboardHouse.open()
})
afterAll(() => house.close())

async function open(path: string) {
  const { page, noticed } = await house.visit(path, { viewport: { width: 1400, height: 1100 } })
  const iframe = page.getByTitle('Preview of the flow')
  await iframe.waitFor()
  const frame = (await (await iframe.elementHandle())!.contentFrame())!
  const shown = (selector: string) => frame.locator(`[data-cairn] ${selector}`)
  await shown('.card').waitFor()
  const styleOf = (selector: string, name: string) =>
    shown(selector)
      .first()
      .evaluate((one, asked) => getComputedStyle(one).getPropertyValue(asked), name)
  const looksSo = (selector: string, name: string, value: string) =>
    until(
      () => styleOf(selector, name),
      now => now === value,
    )
  return { page, noticed, looksSo }
}

test('a theme is previewed while it is edited, warned about, refused if it is wrong, and saved', async () => {
  const { page, noticed, looksSo } = await open('/settings/look')
  const accent = page.getByLabel('Accent colour', { exact: true })
  await accent.fill('#ffe066')
  await looksSo('.button.main', 'background-color', 'rgb(255, 224, 102)')
  await page.getByText('a button needs 3 : 1 to be seen').waitFor()
  await accent.fill('#c2255c')
  await page.getByText('a button needs 3 : 1 to be seen').waitFor({ state: 'detached' })
  await accent.fill('bleu')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('did you mean "blue"?').waitFor()
  await accent.fill('#c2255c')
  await page.getByLabel('Preset', { exact: true }).selectOption('soft')
  await looksSo('.card', 'border-top-left-radius', '22px')
  await page.getByLabel('Corner radius', { exact: true }).fill('big')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('It was not saved: mend what is marked.').waitFor()
  await page.getByText('Must be a whole number').waitFor()
  await page.getByLabel('Corner radius', { exact: true }).fill('3')
  await looksSo('.card', 'border-top-left-radius', '3px')
  await page.getByText('A checklist', { exact: true }).click()
  await looksSo('.panel', 'border-top-left-radius', '3px')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Flows look like this now.').waitFor()
  const look = await house.place.json<{ theme: object }>(['org', 'theme', 'harbor'])
  expect(look.theme).toMatchObject({ accent: '#c2255c', radius: 3, preset: 'soft' })
  const complaints = noticed.complaints.filter(text => !text.includes('422'))
  await requireSoundOnEveryScreen(page, { ...noticed, complaints })
})

test('a flow’s preview has the organisation’s theme below its own, and its form has the new fields', async () => {
  const { place } = house
  await place.run(['org', 'theme', 'harbor', '--reset'])
  await place.run(['org', 'theme', 'harbor', '--accent', '#c2255c', '--radius', '2'])
  await Bun.write(
    join(place.folder, 'look.yaml'),
    'key: looked-at\nsteps: [{ key: a, title: A }]\ntheme: { radius: 30 }\n',
  )
  expect((await place.run(['flows', 'push', 'look.yaml'])).status).toBe(0)
  const { page, looksSo } = await open('/flows/looked-at/edit')
  await looksSo('.button.main', 'background-color', 'rgb(194, 37, 92)')
  await looksSo('.card', 'border-top-left-radius', '30px')
  await page.getByRole('button', { name: 'Flow', exact: true }).click()
  await page.getByText('Look', { exact: true }).click()
  await page.getByLabel('Text size', { exact: true }).fill('20')
  await page.getByLabel('Shadow', { exact: true }).selectOption('none')
  await looksSo('.card', 'font-size', '20px')
  await looksSo('.card', 'box-shadow', 'none')
  await page.getByLabel('Shadow', { exact: true }).selectOption('')
  await page.getByLabel('Text size', { exact: true }).fill('')
  await looksSo('.card', 'font-size', '15px')
})
