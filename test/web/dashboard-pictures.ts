/** The pictures that README and the manual show. Run by scripts/dashboard. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator } from '../browser/playwright.ts'
import type { Page } from '../support/browser.ts'
import { Demo } from '../support/demo.ts'

/** A Thursday afternoon, fixed so that the demo's figures are the same whenever the pictures are made. */
const at = Date.parse('2026-09-17T12:05:00Z')
const folder = join(import.meta.dir, '../../src/manual/pictures')

interface Picture {
  name: string
  height: number
  /** Opens what is pictured. @returns what has to be in the picture, and the page if it is another one */
  open(page: Page): Promise<{ subject: Locator; on?: Page }>
}

const dashboard = (
  name: string,
  path: string,
  heading: string | RegExp,
  height: number,
): Picture => ({
  name,
  height,
  async open(page) {
    await page.goto(demo.home + path)
    const subject = page.getByRole('heading', { name: heading }).first()
    await subject.waitFor()
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
    return { subject }
  },
})

const pictures: readonly Picture[] = [
  dashboard('overview', '', 'Needs attention', 600),
  dashboard('results', '/flows/welcome?compare=none', 'Where people leave', 690),
  dashboard('health', '/flows/welcome/health', /Break it into tasks/, 620),
  dashboard('people', '/people', 'People', 620),
  dashboard('assistant', '/settings/assistant', 'Assistant', 620),
  {
    name: 'tour',
    height: 620,
    async open(page) {
      await page.goto(`${demo.site}/home?as=ben`)
      const subject = page.getByRole('dialog').first()
      await subject.waitFor()
      return { subject }
    },
  },
  {
    name: 'launcher',
    height: 620,
    async open(page) {
      await page.goto(`${demo.site}/home?as=cleo`)
      // The tour, which gives way to the rest.
      await page.getByRole('dialog').first().waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: /Help and news/ }).click()
      return { subject: page.getByRole('dialog', { name: 'Help and news' }) }
    },
  },
  {
    name: 'builder',
    height: 690,
    async open(page) {
      await page.goto(`${demo.home}/flows/welcome/edit`)
      await page.getByRole('button', { name: 'Build on your page' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Page URL').fill(`${demo.site}/home`)
      const [on] = await Promise.all([
        page.context().waitForEvent('page'),
        dialog.getByRole('button', { name: 'Open page' }).click(),
      ])
      const bar = on.getByRole('region', { name: 'Cairn builder' })
      await bar.getByText('Saved in the draft').waitFor()
      return { subject: bar, on }
    },
  },
]

async function takeOf(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page)
  // Playwright itself cannot make WebP, which is a third of the size of PNG.
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 90 })
  return Buffer.from(data, 'base64')
}

/** Where a user's own fonts are. */
const { HOME = '', XDG_DATA_HOME = `${HOME}/.local/share` } = process.env

const demo = await Demo.open({ at, ofBrowser: { HOME, XDG_DATA_HOME } })
const chosen = process.argv.slice(2)
let bytes = 0
try {
  mkdirSync(folder, { recursive: true })
  for (const { name, height, open } of pictures) {
    if (chosen.length > 0 && !chosen.includes(name)) continue
    for (const colorScheme of ['light', 'dark'] as const) {
      const viewport = { width: 1200, height }
      const { page } = await demo.page({ colorScheme, viewport, deviceScaleFactor: 2 })
      const { subject, on = page } = await open(page)
      await on.setViewportSize(viewport)
      // Scrolls to a subject that is further down, so that all of it is shown.
      await subject.evaluate((element, top) => {
        if (element.getBoundingClientRect().top < top) return
        element.scrollIntoView()
        scrollBy(0, -24)
      }, height * 0.6)
      const file = `${name}-${colorScheme}.webp`
      const written = await Bun.write(join(folder, file), await takeOf(on))
      console.log(`  ${file.padEnd(22)} ${(written / 1024).toFixed(0).padStart(4)} KiB`)
      bytes += written
      await page.context().close()
    }
  }
  console.log(`  ${'together'.padEnd(22)} ${(bytes / 1024).toFixed(0).padStart(4)} KiB`)
} finally {
  await demo.close()
}
process.exit(0)
