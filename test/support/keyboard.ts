import { expect } from 'bun:test'
import type { Page } from './browser.ts'

/** The focused element: its name, and whether its focus is visible. */
const focused = `(() => {
  const { activeElement: it } = document
  // A focused element in a frame shows its focus in the frame.
  if (!it || it === document.body || it.localName === 'iframe') return null
  const label = it.labels?.[0]?.textContent
  const style = getComputedStyle(it)
  const { width, height } = it.getBoundingClientRect()
  return {
    name: (it.getAttribute('aria-label') ?? label ?? it.textContent).trim(),
    type: it.type ?? '',
    isMarked: style.outlineStyle !== 'none' || style.boxShadow !== 'none',
    isSeen: width > 0 && height > 0 && it.checkVisibility({ visibilityProperty: true }),
    isInDialog: !document.querySelector('dialog[open]') || it.closest('dialog') !== null,
  }
})()`

interface Focused {
  name: string
  /** The type of an input or a button. */
  type: string
  isMarked: boolean
  isSeen: boolean
  isInDialog: boolean
}

const focusedOn = (page: Page) => page.evaluate<Focused | null>(focused)

export const nameOfFocused = async (page: Page) => (await focusedOn(page))?.name ?? null

/** Presses Tab until the named element has the focus. Every element on the way must show its focus. */
export async function tabTo(page: Page, name: string | RegExp, type?: string): Promise<void> {
  const passed: string[] = []
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press('Tab')
    const now = await focusedOn(page)
    // Between the last element and the first, the browser's own toolbar has the focus.
    if (!now) continue
    expect(now).toMatchObject({ isMarked: true, isSeen: true, isInDialog: true })
    const isNamed = typeof name === 'string' ? now.name.startsWith(name) : name.test(now.name)
    if (isNamed && (!type || now.type === type)) return
    passed.push(now.name)
  }
  throw new Error(`Tab does not lead to ${name}: ${passed.join(' | ')}`)
}

/** Presses Enter on the named element. */
export async function enter(page: Page, name: string | RegExp): Promise<void> {
  await tabTo(page, name)
  await page.keyboard.press('Enter')
}
