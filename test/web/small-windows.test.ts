import { expect } from 'bun:test'
import { TestBrowser } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { sizes, wrong } from './small-window-cases.ts'
import { openStage, serveStage } from './stage.ts'

/** In a small window, as at 400 % zoom (WCAG 2.2, 1.4.10) or on a phone that is held across, steps can be read and used. */

let stage: Awaited<ReturnType<typeof serveStage>>
let browser: TestBrowser
beforeAll(async () => {
  stage = await serveStage()
  browser = await TestBrowser.open()
})
afterAll(async () => {
  await browser.close()
  stage.stop()
})

test.each([false, true])(
  'every step shows its title, some of its text and its buttons; by touch: %p',
  async hasTouch => {
    const page = await openStage(browser, stage.url, { reducedMotion: 'reduce', hasTouch })
    const found: unknown[] = []
    for (const size of sizes) {
      await page.setViewportSize(size)
      const here = (await page.evaluate(wrong)) as string[]
      if (here.length > 0) found.push([size, here])
    }
    expect(found).toEqual([])
  },
)
