import { expect } from 'bun:test'
import type { Page } from './browser.ts'
import { type DashboardHouse, overflowOf, requireSoundOnEveryScreen, resize } from './dashboard.ts'
import { test } from './in-browser.ts'

export interface ExpectedPage {
  path: string
  /** The document title, without the organisation and the product. */
  title: string
  /** The main heading, if it differs from the title. */
  heading?: string
  /** A text that appears once the data has loaded. */
  shows: string
  /** What the printed page says about its figures. */
  onPaper?: (string | RegExp)[]
}

/**
 * Buttons, links, inputs and figures that overlap without being nested. Exempt are grips, which lie in
 * rows, and colour inputs, which lie in the fields of their names.
 */
const overlapping = `(() => {
  const seen = [...document.querySelectorAll('main :is(a, button, select, input, textarea, summary, h1, h2, h3, .figure, .badge), aside :is(a, button)')]
    .filter(element => element.checkVisibility() && !element.closest('.skip, [popover], .grip, [type=color]'))
    .map(element => ({ element, at: element.getBoundingClientRect() }))
    .filter(({ at }) => at.width > 1 && at.height > 1)
  const isOn = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1
  return seen.flatMap(({ element, at }, i) => seen.slice(i + 1)
    .filter(other => isOn(at, other.at) && !element.contains(other.element) && !other.element.contains(element))
    .map(other => element.textContent + ' on ' + other.element.textContent))
})()`

/**
 * Controls that a printed page still shows. Exempt are fields of a setting, which show its value, and
 * buttons that are a column's name.
 */
const controls = `[...document.querySelectorAll('button, input, select, textarea, summary, :is(.sidebar, .tabs, .sections) a')]
  .filter(element => element.checkVisibility({ visibilityProperty: true }) && element.getBoundingClientRect().height > 1)
  .filter(element => !element.matches('.term, .sort, .setting :is(input, select, textarea)'))
  .map(element => element.outerHTML.slice(0, 120))`

/** Elements that move, or would move on hover. */
const moving = `[
  ...document.getAnimations().map(animation => animation.effect.target.outerHTML.slice(0, 120)),
  ...[...document.querySelectorAll('*')]
    .filter(element => getComputedStyle(element).transitionDuration.split(', ').some(time => time !== '0s'))
    .map(element => element.outerHTML.slice(0, 120)),
]`

async function requireRightToLeft(page: Page): Promise<void> {
  await page.evaluate("document.documentElement.dir = 'rtl'")
  for (const width of [360, 768, 1_024, 1_280]) {
    await resize(page, { width, height: 900 })
    expect([width, await overflowOf(page)]).toEqual([width, 0])
    expect([width, await page.evaluate(overlapping)]).toEqual([width, []])
  }
  await page.evaluate("document.documentElement.dir = 'ltr'")
}

async function requirePaper(page: Page, texts: readonly (string | RegExp)[]): Promise<void> {
  const a4 = { width: 794, height: 1_123 }
  await page.setViewportSize(a4)
  await page.evaluate("document.documentElement.dataset.appearance = 'dark'")
  await page.emulateMedia({ media: 'print' })
  expect(await page.evaluate(controls)).toEqual([])
  expect(await overflowOf(page)).toBe(0)
  for (const text of texts) {
    await page.getByText(text).locator('visible=true').first().waitFor()
  }
  // Whatever the screen looks like, paper is white.
  const ground = await page.evaluate('getComputedStyle(document.documentElement).backgroundColor')
  expect(ground).toBe('rgb(255, 255, 255)')
}

/** Declares a test for each page: it shows its content on every screen, from right to left, and on paper. */
export function testPages(house: () => DashboardHouse, pages: readonly ExpectedPage[]): void {
  test.each(pages)('$title at $path', async expected => {
    const { path, title, heading = title, shows, onPaper = [] } = expected
    const { page, noticed } = await house().visit(path, {
      role: 'operator',
      reducedMotion: 'reduce',
      viewport: { width: 1_280, height: 900 },
    })
    await page.getByRole('heading', { level: 1, name: heading }).waitFor()
    await page.getByText(shows).first().waitFor()
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
    expect(await page.title()).toBe(`${title} · Harbor · Cairn`)
    await requireSoundOnEveryScreen(page, noticed)
    expect(await page.evaluate(moving)).toEqual([])
    await requireRightToLeft(page)
    await requirePaper(page, onPaper)
    // The printed page has no preview. Its request fails if it was still pending.
    expect(noticed.complaints.filter(line => !line.endsWith('/preview.html'))).toEqual([])
  })
}
