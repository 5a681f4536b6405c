import * as bun from 'bun:test'
import { expect } from 'bun:test'
import { TestBrowser } from '../support/browser.ts'
import { Firefox, firefoxProgram } from '../support/firefox.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { flowOf, openStage, serveStage } from './stage.ts'

/** In a small window, as at 400 % zoom (WCAG 2.2, 1.4.10) or on a phone that is held across, steps can be read and used. */

const sizes = [
  { width: 320, height: 256 },
  { width: 320, height: 200 },
  { width: 568, height: 256 },
  { width: 640, height: 200 },
]

const title = 'title: Export your orders'
const body = `body: "${'Choose the columns, then the days, then the format. '.repeat(6)}"`
const long = 'title: Export all the orders of your customers since the beginning'
const target = 'target: { selector: "#in" }'
const buttons =
  'buttons: [{ label: Not now, action: dismiss }, { label: Read more about it, action: complete }, { label: Show me around, action: next }]'
const media = 'media: { image: /picture.svg, width: 640, height: 320 }'

const steps: Record<string, string> = {
  tooltip: `${title}, ${body}, ${target}`,
  'tooltip with a long title': `${long}, ${body}, ${target}`,
  'tooltip with three buttons': `${title}, ${body}, ${target}, ${buttons}`,
  'tooltip with an image': `${title}, ${body}, ${target}, ${media}`,
  window: `kind: modal, ${title}, ${body}, ${buttons}`,
  'window with an image': `kind: modal, ${title}, ${body}, ${media}`,
  card: `kind: slideout, ${title}, ${body}`,
  banner: `kind: banner, ${title}, ${body}, ${buttons}`,
  'banner that pushes': `kind: banner, banner: { layout: push }, ${title}, ${body}`,
}

const flows = Object.entries(steps).map(([name, step]) => [name, flowOf(`[{ key: a, ${step} }]`)])

/** The steps that cannot be read or used: without the title, without two lines of text, or with a button out of reach. */
const wrong = `(async () => {
  const found = []
  for (const [name, flow] of ${JSON.stringify(flows)}) {
    clear()
    fill('<h1>App</h1><button id=in>In</button><div style="height: 900px"></div>')
    show(flow)
    while (title() === null) await new Promise(requestAnimationFrame)
    const root = document.querySelector('[data-cairn]').shadowRoot
    const parts = selector => [...root.querySelectorAll('.card ' + selector)]
    const boxOf = selector => parts(selector)[0].getBoundingClientRect()
    let [last, still] = ['', 0]
    while (still < 3) {
      await new Promise(requestAnimationFrame)
      const now = JSON.stringify([boxOf('.inner'), boxOf('.foot')])
      still = now === last ? still + 1 : 0
      last = now
    }
    await Promise.all(root.getAnimations().map(one => one.finished.catch(() => {})))
    const [inner, foot] = [boxOf('.inner'), boxOf('.foot')]
    const bottom = Math.min(inner.bottom, foot.top)
    const seen = ({ top, bottom: end }) => Math.min(end, bottom) - Math.max(top, inner.top, 0)
    if (seen(boxOf('h2')) < boxOf('h2').height - 1) found.push(name + ': title')
    if (seen(boxOf('.body')) < 2 * 20) found.push(name + ': text, ' + Math.round(seen(boxOf('.body'))))
    for (const button of parts('button')) {
      const { left, top, right, bottom } = button.getBoundingClientRect()
      const hit = root.elementFromPoint((left + right) / 2, (top + bottom) / 2)
      const isInside = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight
      if (!isInside || !button.contains(hit)) found.push(name + ': ' + (button.textContent || 'Close'))
    }
  }
  return found
})()`

let stage: Awaited<ReturnType<typeof serveStage>>
bun.beforeAll(async () => {
  stage = await serveStage()
})
bun.afterAll(() => stage.stop())

let browser: TestBrowser
beforeAll(async () => {
  browser = await TestBrowser.open()
})
afterAll(() => browser.close())

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

const inFirefox = firefoxProgram ? bun.test : bun.test.skip

inFirefox('in Firefox too', async () => {
  const firefox = await Firefox.open()
  try {
    const found: unknown[] = []
    for (const size of sizes) {
      await firefox.goto(stage.url, size)
      const here = await firefox.evaluate<string[]>(wrong)
      if (here.length > 0) found.push([size, here])
    }
    expect(found).toEqual([])
  } finally {
    await firefox.close()
  }
})
