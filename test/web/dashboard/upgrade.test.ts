import { expect } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Workplace } from '../../support/binary.ts'
import { DashboardHouse } from '../../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'
import { otherBuild } from '../../support/other-build.ts'

/** A tab that is open during an upgrade of the executable, with two builds in which a page's file differs. */

const words = 'src/web/dashboard/words/health.ts'
const [before, after] = ['How health is defined', 'How health was defined anew']

let house: DashboardHouse
let folder: string
let next: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-upgrade-'))
  house = await DashboardHouse.open()
  next = await otherBuild(folder, [{ file: words, before, after }])
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await house.close()
})

test('the next page that somebody opens loads by itself, at its address, and their choices are kept', async () => {
  const { page, noticed } = await house.visit('/flows/welcome?tz=Asia%2FTokyo')
  await page.getByText('Where people leave').waitFor()
  const { port } = new URL(house.server.url)
  await house.server.end('SIGTERM')
  const upgraded = new Workplace(async () => next, house.place.folder)
  house.server = await upgraded.serve(['--port', port])
  noticed.requests.length = 0
  await page.getByRole('link', { name: 'Health', exact: true }).click()
  await page.getByText(after).waitFor()
  const pathOf = (url: string) => new URL(url).pathname
  expect(pathOf(page.url())).toBe('/dashboard/harbor/flows/welcome/health')
  // Its old file was requested in vain, and then the document once.
  expect(noticed.complaints.some(line => line.includes('404'))).toBe(true)
  expect(noticed.requests.filter(url => pathOf(url) === pathOf(page.url())).length).toBe(1)
  // Nobody had to sign in again, and Back leads to where they were.
  await page.goBack()
  await page.getByText('Where people leave').waitFor()
  expect(new URL(page.url()).search).toBe('?tz=Asia%2FTokyo')
  await house.server.end('SIGTERM')
})
