import { expect } from 'bun:test'
import { TestBrowser } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { sizes, wrong as wrongSteps } from './small-window-cases.ts'
import { openStage, play, serveStage, shows } from './stage.ts'
import { judgesVisibility } from './visibility-cases.ts'

/** Which elements people can see, and what they see of steps in small windows. */

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

test('elements that people can see or scroll to are visible, and others are hidden', async () => {
  const page = await openStage(browser, stage.url)
  await judgesVisibility(expression => page.evaluate(expression))
})

/** How pages hide `#side`, in which the element is. */
const hidingStyles = {
  'visibility: hidden': 'visibility: hidden',
  'no opacity': 'opacity: 0',
  'a move out of the window': 'transform: translateX(-120%)',
  'a move far away': 'left: -9999px',
  'no width': 'width: 0; padding: 0',
  'no height': 'height: 0; padding: 0',
  'a clip': 'clip-path: inset(0 100% 0 0)',
  'display: none': 'display: none',
}

test('a step disappears while its element is hidden, however the page hides it', async () => {
  const page = await openStage(browser, stage.url, { clock: true, reducedMotion: 'reduce' })
  const side = 'position: fixed; left: 0; top: 0; width: 200px; height: 90%; overflow: hidden'
  const html = `<nav id=side style="${side}"><button id=in>In</button></nav>`
  await play(page, html, '[{ key: a, title: One, target: { selector: "#in", onMissing: wait } }]')
  await shows(page, 'One')
  const style = (value: string) =>
    page.evaluate(value => document.getElementById('side')!.setAttribute('style', value), value)
  const wrong: string[] = []
  for (const [name, hidingStyle] of Object.entries(hidingStyles)) {
    await style(`${side}; ${hidingStyle}`)
    await page.clock.runFor(1_500)
    if ((await page.evaluate('title()')) !== null) wrong.push(`${name}: stays`)
    await style(side)
    await page.clock.runFor(1_500)
    if ((await page.evaluate('title()')) !== 'One') wrong.push(`${name}: does not come back`)
  }
  expect(wrong).toEqual([])
})

test('a step stays while its element fades in, blinks or is scrolled out of its box', async () => {
  const page = await openStage(browser, stage.url, { clock: true, reducedMotion: 'reduce' })
  const html = `<div id=box style="height:100px;overflow:auto"><button id=in>In</button><div style="height:900px"></div></div>`
  await play(page, html, '[{ key: a, title: One, target: { selector: "#in" } }]')
  await shows(page, 'One')
  await page.evaluate(() => {
    const host = document.querySelector('[data-cairn]')!.shadowRoot!
    Object.assign(window, { card: host.querySelector('.card') })
    document.getElementById('in')!.style.opacity = '0'
  })
  await page.clock.runFor(400)
  await page.evaluate(() => {
    document.getElementById('in')!.style.opacity = ''
    document.getElementById('box')!.scrollTop = 500
  })
  await page.clock.runFor(3_000)
  expect(await page.evaluate('card.isConnected')).toBe(true)
})

/** At 400 % zoom (WCAG 2.2, 1.4.10), or on a phone in landscape orientation. */
test.each([false, true])(
  'in a small window every step shows its title, some of its text and its buttons; by touch: %p',
  async hasTouch => {
    const page = await openStage(browser, stage.url, { reducedMotion: 'reduce', hasTouch })
    const found: unknown[] = []
    for (const size of sizes) {
      await page.setViewportSize(size)
      const here = (await page.evaluate(wrongSteps)) as string[]
      if (here.length > 0) found.push([size, here])
    }
    expect(found).toEqual([])
  },
)
