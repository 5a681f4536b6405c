import type { Locator, Page } from '../browser/playwright.ts'

/** How long an action waits for the page at most: what a test holds back never comes. */
const patienceMs = 2_000

/** Resolves once the dashboard waits for nothing, and has drawn it. Other pages count nothing. */
const settled = `new Promise(resolve => {
  const until = performance.now() + ${patienceMs}
  const isBusy = () => Number(document.documentElement.dataset.pending ?? 0) > 0
  let quiet = 0
  const look = () => {
    quiet = isBusy() ? 0 : quiet + 1
    if (quiet > 1 || performance.now() > until) resolve()
    else requestAnimationFrame(look)
  }
  look()
})`

const actions = ['check', 'clear', 'click', 'fill', 'press', 'selectOption', 'uncheck'] as const

type Act = (...args: unknown[]) => Promise<unknown>

/** Makes an action of an object of a page wait until the page has come to rest. */
function settleBefore<T>(object: T, name: string, pageOf: (object: T) => Page): void {
  const methods = object as Record<string, Act>
  const act = methods[name]!
  methods[name] = async function (this: T, ...args) {
    // A page that navigates meanwhile has nothing left to wait for.
    await pageOf(this)
      .evaluate(settled)
      .catch(() => {})
    return act.apply(this, args)
  }
}

let arePrepared = false

/**
 * Makes every action wait until its page has come to rest, as a person does: what loads late moves what
 * is pressed, draws over what is typed, and takes the focus away.
 */
export function settleBeforeActions(page: Page): void {
  for (const name of ['press', 'type']) settleBefore(page.keyboard, name, () => page)
  if (arePrepared) return
  arePrepared = true
  const locators = Object.getPrototypeOf(page.locator('html')) as Locator
  for (const name of actions) settleBefore(locators, name, locator => locator.page())
}
