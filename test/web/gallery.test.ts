import { expect, setDefaultTimeout } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pictures } from '../../src/cli/demo/gallery.ts'
import { readFlowFile } from '../../src/core/flow/file.ts'
import { TestBrowser } from '../support/browser.ts'
import {
  type Look,
  look,
  looks,
  pictureNames,
  serveGallery,
  viewportOf,
} from '../support/gallery.ts'
import { afterAll, beforeAll, describe, test } from '../support/in-browser.ts'

/** Each picture of the demo's gallery is drawn in each look, without faults or complaints. */

setDefaultTimeout(300_000)

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

let browser: TestBrowser
let gallery: ReturnType<typeof serveGallery>
beforeAll(async () => {
  gallery = serveGallery()
  browser = await TestBrowser.open()
})
afterAll(async () => {
  await browser.close()
  gallery.stop()
})

test('the gallery’s flows are valid', async () => {
  const file = join(import.meta.dir, '../../src/cli/demo/gallery/cases.yaml')
  const { flows, problems } = readFlowFile(readFileSync(file, 'utf8'))
  expect(problems).toEqual([])
  expect(flows.map(({ key }) => key)).toEqual([...pictures.keys()])
})

for (const [how, query] of Object.entries(looks)) {
  describe(how, () => {
    let visitor: Awaited<ReturnType<TestBrowser['page']>>
    beforeAll(async () => {
      visitor = await browser.page({ viewport: viewportOf(how as Look) })
    })
    afterAll(() => visitor.page.context().close())
    for (const name of pictureNames) {
      test(name, async () => {
        const { page, noticed } = visitor
        await look(page, gallery.origin, name, query)
        const drawn = page.locator('[data-cairn] :popover-open, [data-cairn] dialog[open]')
        await drawn.first().waitFor()
        await page.evaluate(axe)
        const faults = await page.evaluate(async () => {
          const { axe } = globalThis as never as {
            axe: { run(of: string): Promise<{ violations: { id: string; nodes: unknown[] }[] }> }
          }
          return (await axe.run('[data-cairn]')).violations.map(({ id, nodes }) => [
            id,
            nodes.length,
          ])
        })
        expect(faults).toEqual([])
        expect(noticed.complaints).toEqual([])
      })
    }
  })
}

test.each([
  [320, 2],
  [375, 2],
  [1280, 1],
])('on a page of %d pixels all numbers of a rating are equally large', async (width, rows) => {
  const { page } = await browser.page({ viewport: { width, height: 480 } })
  for (const query of ['', 'direction=rtl']) {
    await look(page, gallery.origin, 'question-score', query)
    const places = await page
      .locator('[data-cairn] .option')
      .evaluateAll(options => options.map(option => option.getBoundingClientRect().toJSON()))
    const sizes = [...new Set(places.map(({ width }) => Math.round(width)))]
    expect(sizes).toEqual([expect.any(Number)])
    expect(sizes[0]).toBeGreaterThanOrEqual(32)
    expect(new Set(places.map(({ top }) => top)).size).toBe(rows)
  }
  await page.context().close()
})

test('the page has all the pictures, and says which look it shows', async () => {
  const { page, noticed } = await browser.page()
  await page.goto(`${gallery.origin}/gallery?ground=dark&language=he`)
  expect(await page.locator('iframe').count()).toBe(pictureNames.length)
  await page.getByRole('link', { name: 'phone' }).click()
  await page.waitForURL(/width=phone/)
  expect(page.url()).toContain('ground=dark')
  await page.locator('iframe').first().contentFrame().locator('html.dark[dir=rtl]').waitFor()
  expect(noticed.complaints).toEqual([])
  await page.context().close()
})
