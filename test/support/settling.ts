import type { Locator, Page } from '../browser/playwright.ts'

/** How long an action waits for what a test may be holding back, milliseconds. */
const patienceMs = 2_000

/**
 * Resolves once the dashboard waits for nothing, and has drawn it. Other pages count nothing. What was
 * still pending after that time is held back by the test, so that later actions do not wait for it again.
 * Asks for no frames meanwhile, because each of them makes the page draw.
 */
const settled = `new Promise(resolve => {
  const root = document.documentElement
  const pending = () => Number(root.dataset.pending ?? 0)
  const isBusy = () => {
    globalThis.heldBack = Math.min(globalThis.heldBack ?? 0, pending())
    return pending() > globalThis.heldBack
  }
  const inFrame = act => requestAnimationFrame(() => requestAnimationFrame(act))
  const observer = new MutationObserver(() => look())
  const end = () => {
    observer.disconnect()
    clearTimeout(timer)
    resolve()
  }
  const look = () => isBusy() || inFrame(() => isBusy() || end())
  const timer = setTimeout(() => {
    globalThis.heldBack = pending()
    end()
  }, ${patienceMs})
  observer.observe(root, { attributeFilter: ['data-pending'] })
  look()
})`

const actions = ['check', 'clear', 'click', 'fill', 'press', 'selectOption', 'uncheck'] as const

type Act = (...args: unknown[]) => Promise<unknown>

/** Wraps a method of an object, or of all objects that share a prototype. */
function wrap<T>(object: T, name: string, around: (it: T, act: () => Promise<unknown>) => unknown) {
  const methods = object as Record<string, Act>
  const act = methods[name]!
  methods[name] = async function (this: T, ...args) {
    return around(this, () => act.apply(this, args))
  }
}

/** Acts once the page has settled. */
async function onceSettled(page: Page, act: () => Promise<unknown>): Promise<unknown> {
  // A page that navigates meanwhile has nothing left to wait for.
  await page.evaluate(settled).catch(() => {})
  return act()
}

let doActionsSettle = false

/**
 * Makes every action wait until its page has come to rest, as a person does: what loads late moves what
 * is pressed, draws over what is typed, and takes the focus away.
 */
export function settleBeforeActions(page: Page): void {
  for (const name of ['press', 'type']) {
    wrap(page.keyboard, name, (_, act) => onceSettled(page, act))
  }
  if (doActionsSettle) return
  doActionsSettle = true
  const locators = Object.getPrototypeOf(page.locator('html')) as Locator
  for (const name of actions) wrap(locators, name, (it, act) => onceSettled(it.page(), act))
}

/** The start of the text on a page, with the text in the snippet's shadow tree. */
const readable = `(() => {
  const heading = document.querySelector('h1, h2, h3, [role=heading]')?.textContent ?? ''
  const shadows = [...document.querySelectorAll('[data-cairn]')].flatMap(
    ({ shadowRoot }) => [...(shadowRoot?.children ?? [])].filter(one => one.checkVisibility()),
  )
  const text = [document.body, ...shadows].map(one => one?.innerText ?? '').join(' ')
  const short = text => text.replace(/\\s+/g, ' ').trim().slice(0, 500)
  return 'with the heading “' + short(heading) + '” and the text: ' + short(text)
})()`

/** How long a page that hangs may take to be described; a page of a busy machine takes seconds. */
const readMs = 15_000

/** Describes what is on a page. The description says so if the page hangs or is closed. */
async function contentOf(page: Page): Promise<string> {
  const silence = Bun.sleep(readMs).then(() => 'which does not answer')
  const content = page.evaluate<string>(readable).catch(error => `which cannot be read: ${error}`)
  return `The page was ${page.url()} ${await Promise.race([content, silence])}`
}

/** @throws the error of the wait; a timeout also describes what was on the page */
async function withContent(page: Page, wait: () => Promise<unknown>): Promise<unknown> {
  try {
    return await wait()
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') {
      error.message += `\n${await contentOf(page)}`
    }
    throw error
  }
}

const waitsOfLocators = [
  ...[...actions, 'dragTo', 'focus', 'hover', 'setInputFiles', 'waitFor'],
  ...['evaluate', 'getAttribute', 'innerText', 'inputValue', 'isDisabled', 'textContent'],
]
const waitsOfPages = ['goto', 'waitForEvent', 'waitForFunction', 'waitForRequest', 'waitForURL']

let doTimeoutsExplain = false

/** Makes the error of every wait that times out describe what was on the page. */
export function explainTimeouts(page: Page): void {
  if (doTimeoutsExplain) return
  doTimeoutsExplain = true
  const locators = Object.getPrototypeOf(page.locator('html')) as Locator
  for (const name of waitsOfLocators) wrap(locators, name, (it, act) => withContent(it.page(), act))
  const pages = Object.getPrototypeOf(page) as Page
  for (const name of [...waitsOfPages, 'waitForResponse']) wrap(pages, name, withContent)
}
