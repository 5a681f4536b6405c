import { expect } from 'bun:test'
import { join } from 'node:path'
import { TestBrowser } from '../../support/browser.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** Whatever is wrong with a flow, the form shows it at its field. */

let browser: TestBrowser

beforeAll(async () => {
  browser = await TestBrowser.open()
})
afterAll(() => browser.close())

test('every field of a flow shows its problems, and its part has a sign', async () => {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, 'every-field.tsx')],
    target: 'browser',
  })
  const { page, noticed } = await browser.page()
  await page.route('**', route => route.fulfill({ contentType: 'text/html', body: '<body>' }))
  await page.goto('https://dashboard.test/dashboard/harbor')
  await page.addScriptTag({ content: await outputs[0]!.text(), type: 'module' })
  await page.waitForFunction('globalThis.lookAtAll')
  expect(noticed.complaints).toEqual([])
  const { count, faults } = (await page.evaluate('lookAtAll()')) as {
    count: number
    faults: string[]
  }
  expect(faults).toEqual([])
  expect(count).toBeGreaterThan(100)
})
