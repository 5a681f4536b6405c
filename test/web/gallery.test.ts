import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readFlowFile } from '../../src/core/flow/file.ts'
import { TestBrowser } from '../support/browser.ts'
import { kinds, look, looks, pictureNames, serveGallery, viewportOf } from '../support/gallery.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { pictures } from './gallery/pages.ts'

/** Every kind of step, question and list in the gallery. */

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
  const file = join(import.meta.dir, 'gallery/cases.yaml')
  const { flows, problems } = readFlowFile(readFileSync(file, 'utf8'))
  expect(problems).toEqual([])
  expect(flows.map(({ key }) => key)).toEqual([...pictures.keys()])
})

/** The violations that axe-core finds in the drawn flow, by rule. */
const violations = `axe.run('[data-cairn]').then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ' at ' + nodes.map(({ html }) => html)))`

test.each(['light', 'dark'] as const)(
  'every kind is drawn accessibly and without complaints on a %s page',
  async ground => {
    const { page, noticed } = await browser.page({ viewport: viewportOf(ground) })
    const wrong: Record<string, unknown> = {}
    for (const kind of kinds) {
      await look(page, gallery.origin, kind, looks[ground])
      const drawn = page.locator('[data-cairn] :popover-open, [data-cairn] dialog[open]')
      await drawn.first().waitFor()
      await page.evaluate(axe)
      const found = (await page.evaluate(violations)) as string[]
      const all = [...found, ...noticed.complaints.splice(0)]
      if (all.length > 0) wrong[kind] = all
    }
    expect(wrong).toEqual({})
  },
)

test('all numbers of a rating have the same size, in two rows on a narrow page', async () => {
  const { page } = await browser.page()
  for (const [width, rows] of [[320, 2] as const, [375, 2] as const, [1280, 1] as const]) {
    await page.setViewportSize({ width, height: 480 })
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
  }
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
})
