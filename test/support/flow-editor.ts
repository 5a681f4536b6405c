import type { Page } from './browser.ts'
import type { DashboardHouse, Manage } from './dashboard.ts'

/** Opens the editor of a flow, and waits until it has checked the flow. */
export async function openEditor(
  house: DashboardHouse,
  address: string,
  options: Parameters<DashboardHouse['visit']>[1] = {},
) {
  const visited = await house.visit(`/flows/${address}`, options)
  // Leaving with unsaved work asks for confirmation. Tests always confirm.
  visited.page.on('dialog', dialog => dialog.accept())
  await visited.page
    .getByRole('status')
    .getByText(/^(No problems|\d+ (error|warning)s?)/)
    .waitFor()
  return visited
}

/** The text in the editor; empty until the editor is drawn. */
export const textIn = (page: Page) =>
  page.evaluate(
    `[...(document.querySelector('.yaml-editor')?.shadowRoot?.querySelectorAll('.cm-line') ?? [])].map(line => line.textContent).join('\\n')`,
  ) as Promise<string>

export async function saveDraft(page: Page): Promise<void> {
  await page.keyboard.press('Control+s')
  await page.getByRole('status').getByText('The draft is saved').waitFor()
}

export const draftOf = async (manage: Manage, key: string) =>
  (await manage<{ text: string }>('GET', `/flows/${key}/draft?text=1`)).text
