import type { Page } from './browser.ts'
import type { DashboardHouse, Manage } from './dashboard.ts'

/** Opens the editor of a flow, and waits until it shows the flow. */
export async function openEditor(
  house: DashboardHouse,
  address: string,
  options: Parameters<DashboardHouse['visit']>[1] = {},
) {
  const visited = await house.visit(`/flows/${address}`, options)
  await visited.page.getByRole('group', { name: 'Write as' }).waitFor()
  return visited
}

/** The text in the editor; empty until the editor is drawn. */
export const textIn = (page: Page) =>
  page.evaluate(
    `[...(document.querySelector('.yaml-editor')?.shadowRoot?.querySelectorAll('.cm-line') ?? [])].map(line => line.textContent).join('\\n')`,
  ) as Promise<string>

/** Waits until the server has all that was written, which it gets by itself. */
export const isSaved = (page: Page): Promise<void> =>
  page.getByRole('status').getByText('Saved', { exact: true }).waitFor()

export const draftOf = async (manage: Manage, key: string) =>
  (await manage<{ text: string }>('GET', `/flows/${key}/draft?text=1`)).text
