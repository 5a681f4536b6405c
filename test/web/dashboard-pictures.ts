/** The pictures that README and the manual show. Run by scripts/dashboard. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Demo } from '../support/demo.ts'

/** A Thursday afternoon, fixed so that the demo's figures are the same whenever the pictures are made. */
const at = Date.parse('2026-09-17T12:05:00Z')
const folder = join(import.meta.dir, '../../src/manual/pictures')

const pictures = [
  { name: 'overview', path: '', heading: 'Needs attention', height: 600 },
  {
    name: 'results',
    path: '/flows/welcome?compare=none',
    heading: 'Where people leave',
    height: 690,
  },
  { name: 'health', path: '/flows/welcome/health', heading: /Break it into tasks/, height: 620 },
]

/** Where a user's own fonts are. */
const { HOME = '', XDG_DATA_HOME = `${HOME}/.local/share` } = process.env

const demo = await Demo.open({ at, ofBrowser: { HOME, XDG_DATA_HOME } })
let bytes = 0
try {
  mkdirSync(folder, { recursive: true })
  for (const { name, path, heading, height } of pictures) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const viewport = { width: 1200, height }
      const { page } = await demo.page({ colorScheme, viewport, deviceScaleFactor: 2 })
      await page.goto(demo.home + path)
      const subject = page.getByRole('heading', { name: heading })
      await subject.waitFor()
      await page.locator('.skeleton').first().waitFor({ state: 'detached' })
      // Scrolls to a subject that is further down, so that all of it is shown.
      await subject.evaluate((element, top) => {
        if (element.getBoundingClientRect().top < top) return
        element.scrollIntoView()
        scrollBy(0, -24)
      }, height * 0.6)
      const session = await page.context().newCDPSession(page)
      // Playwright itself cannot make WebP, which is a third of the size of PNG.
      const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 90 })
      const file = `${name}-${colorScheme}.webp`
      const written = await Bun.write(join(folder, file), Buffer.from(data, 'base64'))
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
