import { expect } from 'bun:test'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { Site, shown } from '../support/site.ts'

const flows = `
- key: due
  targeting: { urls: [{ match: prefix, pattern: /projects }] }
  steps:
    - { key: here, kind: modal, title: Here }
`

let site: Site
beforeAll(async () => {
  site = await Site.open(flows)
})
afterAll(() => site.close())

test('the error of a wait that times out describes the page', async () => {
  const { page } = await site.visit('/projects')
  await shown(page).says('Here')
  const waiting = page.getByText('Never').waitFor({ timeout: 100 })
  await expect(waiting).rejects.toThrow(
    new RegExp(`The page was ${site.url}/projects with the heading “.+” and the text: .*Here`),
  )
})
