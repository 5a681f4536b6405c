import type { Page } from './browser.ts'
import type { DashboardHouse, Manage } from './dashboard.ts'

/** A window with room for the preview beside the form. */
export const wide = { width: 1_280, height: 720 }
/** A window without, for tests of something else: the preview is drawn anew with each change. */
export const narrow = { width: 1_100, height: 720 }

/** Opens the editor of a flow, by default in a narrow window, and waits until it shows the flow. */
export async function openEditor(
  house: DashboardHouse,
  address: string,
  options: Parameters<DashboardHouse['visit']>[1] = {},
) {
  const visited = await house.visit(`/flows/${address}`, { viewport: narrow, ...options })
  await visited.page.getByRole('group', { name: 'Write as' }).waitFor()
  return visited
}

/** The text in the editor; empty until the editor is drawn. */
export const textIn = (page: Page) =>
  page.evaluate(
    `[...(document.querySelector('.yaml-editor')?.shadowRoot?.querySelectorAll('.cm-line') ?? [])].map(line => line.textContent).join('\\n')`,
  ) as Promise<string>

/** Waits until the server has all that was written, which it gets by itself. */
export async function isSaved(page: Page): Promise<void> {
  // The browser hands typed text to the editor by the next frame. Until then, "Saved" is about the text before.
  await page.evaluate(
    'new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))',
  )
  await page.getByRole('status').getByText('Saved', { exact: true }).waitFor()
}

export const draftOf = async (manage: Manage, key: string) =>
  (await manage<{ text: string }>('GET', `/flows/${key}/draft?text=1`)).text
