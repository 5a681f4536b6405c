import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Page } from '../../support/browser.ts'
import { DashboardHouse, type Manage, requireSoundOnEveryScreen } from '../../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** A flow's texts in other languages, edited beside their sources. */

let house: DashboardHouse
let manage: Manage

beforeAll(async () => {
  house = await DashboardHouse.open()
  manage = await house.manager('flows:read', 'flows:write')
})
afterAll(() => house.close())

const steps = [
  {
    key: 'hello',
    title: 'Hello',
    body: 'See **this**.',
    buttons: [{ label: 'Go', action: 'next' }],
  },
]

/** Makes a draft for one test, and opens its languages. */
async function edit(
  key: string,
  flow: object,
  options: Parameters<DashboardHouse['visit']>[1] = {},
) {
  await manage('POST', '/push', { flows: [{ key, name: key, steps, ...flow }] })
  const visited = await house.visit(`/flows/${key}/edit`, options)
  visited.page.on('dialog', dialog => dialog.accept())
  await visited.page.getByRole('button', { name: /^Languages/ }).click()
  await visited.page.getByRole('heading', { name: 'Other languages' }).waitFor()
  return visited
}

const textIn = (page: Page, id: string) =>
  page.locator(`[data-text="${id}"]`).locator('input, textarea')

const save = async (page: Page) => {
  await page.keyboard.press('Control+s')
  await page.getByRole('status').getByText('The draft is saved').waitFor()
}

const textsOf = async (key: string) =>
  (await manage<{ definition: { texts?: object } }>('GET', `/flows/${key}/draft`)).definition.texts

test('the languages of a flow are sound, also right to left', async () => {
  const texts = { ar: { steps: { hello: { title: 'أهلًا' } } }, de: {} }
  const { page, noticed } = await edit('sound', { locale: 'en', texts })
  await page.getByRole('button', { name: 'Edit Arabic' }).click()
  await page.getByText('2 of 3 texts are missing in "ar"').waitFor()
  await page.evaluate('document.documentElement.dir = "rtl"')
  await requireSoundOnEveryScreen(page, noticed)
})

test('a language is added, written, seen in the preview, and saved', async () => {
  const { page } = await edit('written', {})
  await page.getByText('Say first in which language').waitFor()
  await page.getByLabel('Written in').fill('en')
  const tag = page.getByLabel('Add a language')
  await tag.fill('jp')
  await tag.press('Enter')
  await page.getByText('did you mean "ja"?').waitFor()
  await tag.fill('he')
  await tag.press('Enter')
  await textIn(page, 'steps.hello.title').fill('שלום')
  await textIn(page, 'steps.hello.buttons.0').fill('קדימה')
  await page.getByRole('cell', { name: '2 of 3' }).waitFor()
  const preview = page.frameLocator('iframe[title="Preview of the flow"]')
  await preview.locator('h2').getByText('שלום').waitFor()
  await preview.getByRole('button', { name: 'קדימה' }).waitFor()
  await save(page)
  expect(await textsOf('written')).toEqual({
    he: { steps: { hello: { title: 'שלום', buttons: ['קדימה'] } } },
  })
  await textIn(page, 'steps.hello.title').fill('')
  await page.getByRole('button', { name: 'Remove Hebrew' }).click()
  await page.getByText('No other language yet').waitFor()
  await save(page)
  expect(await textsOf('written')).toBeUndefined()
})

test('translators get a file, and the texts in the file that they return are taken over', async () => {
  const { page } = await edit('files', { locale: 'en', texts: { de: {} } })
  const coming = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download German as XLIFF' }).click()
  const file = await coming
  expect(file.suggestedFilename()).toBe('files.de.xlf')
  const text = readFileSync(await file.path(), 'utf8')
  const give = (name: string, content: string) =>
    page.getByLabel('Take over from a file').setInputFiles({
      name,
      mimeType: 'application/xliff+xml',
      buffer: Buffer.from(content),
    })
  const done = text
    .replace('<source>Hello</source>', '<source>Hello</source><target>Hallo</target>')
    .replace('<source>Go</source>', '<source>Gone</source><target>Los</target>')
  await give('done.xlf', done)
  await page.getByText('German: 1 taken over, 0 as before.').waitFor()
  await page.getByText('1 was left out, because the flow has changed').waitFor()
  expect(await textIn(page, 'steps.hello.title').inputValue()).toBe('Hallo')
  await give('wrong.xlf', '<!DOCTYPE a><a/>')
  await page.getByText('a document type').waitFor()
  await give('de.json', '{"steps.hello.buttons.0": "Los"}')
  await page.getByText('German: 1 taken over, 0 as before.').waitFor()
  await save(page)
  expect(await textsOf('files')).toEqual({
    de: { steps: { hello: { title: 'Hallo', buttons: ['Los'] } } },
  })
})
