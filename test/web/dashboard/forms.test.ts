import { expect } from 'bun:test'
import type { Page } from '../../support/browser.ts'
import { DashboardHouse } from '../../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'
import { everyPage } from './every-page.ts'

/** Every page on paper, from right to left, and without motion. */

let house: DashboardHouse
beforeAll(async () => {
  house = await DashboardHouse.open()
})
afterAll(() => house.close())

const overflow = (page: Page) =>
  page.evaluate(
    'Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)',
  )

/** Buttons, links, inputs and figures that overlap without being nested; grips, which lie in rows, are exempt. */
const overlapping = `(() => {
  const seen = [...document.querySelectorAll('main :is(a, button, select, input, textarea, summary, h1, h2, h3, .figure, .badge), aside :is(a, button)')]
    .filter(element => element.checkVisibility() && !element.closest('.skip, [popover], .grip'))
    .map(element => ({ element, at: element.getBoundingClientRect() }))
    .filter(({ at }) => at.width > 1 && at.height > 1)
  const isOn = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1
  return seen.flatMap(({ element, at }, i) => seen.slice(i + 1)
    .filter(other => isOn(at, other.at) && !element.contains(other.element) && !other.element.contains(element))
    .map(other => element.textContent + ' on ' + other.element.textContent))
})()`

/** Controls, which are of no use on paper. */
const controls = `[...document.querySelectorAll('button, input, select, textarea, summary, :is(.sidebar, .tabs, .sections) a')]
  .filter(element => element.checkVisibility({ visibilityProperty: true }) && element.getBoundingClientRect().height > 1)
  .filter(element => !element.matches('.term'))
  .map(element => element.outerHTML.slice(0, 120))`

/** Elements that move, or would move on hover. */
const moving = `[
  ...document.getAnimations().map(animation => animation.effect.target.outerHTML.slice(0, 120)),
  ...[...document.querySelectorAll('*')]
    .filter(element => getComputedStyle(element).transitionDuration.split(', ').some(time => time !== '0s'))
    .map(element => element.outerHTML.slice(0, 120)),
]`

/** What a printed page says about the range of its figures, and for results also about their meaning. */
const told: Readonly<Record<string, (string | RegExp)[]>> = {
  '/': [/Numbers of the last 7 days, Europe\/Berlin/],
  '/flows': [/Numbers of the last 30 days, Europe\/Berlin/],
  '/flows/welcome': [
    /– .+ \d{4}, Europe\/Berlin, all versions/,
    'Runs neither completed nor dismissed',
  ],
  '/flows/welcome/runs': [/– .+ \d{4}, Europe\/Berlin, all versions/],
  '/explain': ['https://app.example.com/projects, person-0'],
}

const a4 = { width: 794, height: 1_123 }

test.each(everyPage)('$path', async ({ path }) => {
  const { page, noticed } = await house.visit(path, { role: 'operator', reducedMotion: 'reduce' })
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.locator('.skeleton').first().waitFor({ state: 'detached' })
  expect(await page.evaluate(moving)).toEqual([])

  await page.evaluate("document.documentElement.dir = 'rtl'")
  for (const width of [1_280, 360]) {
    await page.setViewportSize({ width, height: 800 })
    // The page adapts itself to a new width in the next frame.
    await page.evaluate(
      'new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))',
    )
    expect([width, await overflow(page)]).toEqual([width, 0])
    expect([width, await page.evaluate(overlapping)]).toEqual([width, []])
  }
  await page.evaluate("document.documentElement.dir = 'ltr'")

  await page.setViewportSize(a4)
  await page.evaluate("document.documentElement.dataset.appearance = 'dark'")
  await page.emulateMedia({ media: 'print' })
  expect(await page.evaluate(controls)).toEqual([])
  expect(await overflow(page)).toBe(0)
  for (const text of told[path.split('?')[0]!] ?? []) {
    await page.getByText(text).locator('visible=true').first().waitFor()
  }
  // Whatever the screen looks like, paper is white.
  const ground = await page.evaluate('getComputedStyle(document.documentElement).backgroundColor')
  expect(ground).toBe('rgb(255, 255, 255)')
  // Paper has no room for the preview, which may still have been loading.
  expect(noticed.complaints.filter(line => !line.endsWith('/preview.html'))).toEqual([])
  await page.context().close()
})
