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

let isPrepared = false

/**
 * Makes every action wait until its page has come to rest, as a person does: what loads late moves what
 * is pressed, and draws over what is typed.
 */
export function settleBeforeActions(page: Page): void {
  if (isPrepared) return
  isPrepared = true
  const prototype = Object.getPrototypeOf(page.locator('html')) as Record<
    string,
    (this: Locator, ...args: unknown[]) => Promise<unknown>
  >
  for (const name of actions) {
    const act = prototype[name]!
    prototype[name] = async function (...args) {
      // A page that navigates meanwhile has nothing left to wait for.
      await this.page()
        .evaluate(settled)
        .catch(() => {})
      return act.apply(this, args)
    }
  }
}
