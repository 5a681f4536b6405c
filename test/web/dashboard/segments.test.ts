import { expect } from 'bun:test'
import type { Analytics } from '../../../src/modules/analytics/model.ts'
import { cellsOf, DashboardHouse, downloadedCsv, requireSound } from '../../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** Results split by the traits that people had when their runs started, and by when they saw a step. */

let house: DashboardHouse
beforeAll(async () => {
  house = await DashboardHouse.open()
})
afterAll(() => house.close())

const caption = (trait: string) =>
  `Completion by ${trait}, as it was when each run started, with the interval in which it lies with 95% confidence.`

test('a trait is chosen, and its figures are those of the API and of the CSV', async () => {
  const { page, noticed } = await house.visit('/flows/welcome')
  await page.getByText('Choose a trait to see completion by it').waitFor()
  await page.getByLabel('By', { exact: true }).selectOption('plan')
  await page.getByText(caption('plan')).waitFor()
  expect(new URL(page.url()).searchParams.get('by')).toBe('plan')

  const link = page.getByRole('link', { name: 'Download (CSV)' })
  const { rows, query } = await downloadedCsv(page, link)
  const { id } = await house.flow('welcome')
  const { segments } = await house.analytics<Analytics>(id, query)
  expect(segments!.map(({ value, starts }) => [value, starts])).toEqual([
    ['pro', 20],
    ['free', 10],
    [null, 10],
  ])
  const shown = await cellsOf(page, caption('plan'))
  expect(shown.map(cells => cells.slice(0, 5))).toEqual(
    segments!.map(segment => [
      segment.value ?? 'Not said',
      ...[segment.starts, segment.uniqueUsers, segment.completions, segment.dismissals].map(String),
    ]),
  )
  expect(shown.map(cells => cells[6])).toEqual(
    segments!.map(({ completionRate }) => `${completionRate! * 100}%`),
  )
  expect(
    rows.filter(({ row_type }) => row_type === 'segment').map(row => [row.value, row.starts]),
  ).toEqual(segments!.map(({ value, starts }) => [value ?? '', `${starts}`]))
  await requireSound(page, noticed)
})

test('a value limits all charts to its runs, and the limit can be lifted', async () => {
  const { page } = await house.visit('/flows/welcome?by=plan')
  await page.getByRole('link', { name: 'pro', exact: true }).click()
  await page.getByText('Only runs of plan').waitFor()
  const starts = page.locator('.figure-value').first()
  await starts.filter({ hasText: /^\s*20\s*$/ }).waitFor()
  expect(new URL(page.url()).searchParams.get('segment')).toBe('plan:pro')
  // The table goes on comparing all values.
  expect(await cellsOf(page, caption('plan'))).toHaveLength(3)
  await page.getByRole('link', { name: 'Show all runs' }).click()
  await starts.filter({ hasText: /^\s*40\s*$/ }).waitFor()
  await page.goBack()
  await page.getByText('Only runs of plan').waitFor()
  // A trait without a value limits nothing.
  await page.goto(house.at('/flows/welcome?segment=plan'))
  await starts.filter({ hasText: /^\s*40\s*$/ }).waitFor()
  expect(await page.getByText('Only runs of').count()).toBe(0)
})

test('a trait that nobody has is “Not said”, one that is not listed is refused, and late runs are counted', async () => {
  const { page } = await house.visit('/flows/welcome?by=role')
  await page.getByText(caption('role')).waitFor()
  expect((await cellsOf(page, caption('role'))).map(([name, starts]) => [name, starts])).toEqual([
    ['Not said', '40'],
  ])
  await page.goto(house.at('/flows/welcome?by=shoe'))
  await page.getByText('it lists plan, role').first().waitFor()
  await page.goto(house.at('/flows/welcome?late=invite:10m'))
  const told = 'Completion by when runs first saw Invite your team'
  await page.getByText(told).waitFor()
  const cells = await cellsOf(
    page,
    `${told}, with the interval in which it lies with 95% confidence.`,
  )
  expect(cells.map(row => row.slice(0, 2))).toEqual([
    ['In time', '24'],
    ['Late', '0'],
    ['Never', '16'],
  ])
})

test('an owner lists traits, is warned of those that may name somebody, and told what is wrong', async () => {
  const { page, noticed } = await house.visit('/settings/traits')
  const field = page.getByLabel('Traits', { exact: true })
  await field.fill('plan\nrole\ncontact email')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('contact email may say who somebody is').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await field.fill('plan\na:b')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('“a:b”').waitFor()
  await field.fill('plan')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('No longer sent by pages or shown in results: role.').waitFor()
  await page.getByRole('button', { name: 'Change traits' }).click()
  await page.getByText('1 trait is listed now.').waitFor()
  expect(await house.place.json(['org', 'traits', 'harbor'])).toMatchObject({ traits: ['plan'] })
  expect(noticed.complaints).toEqual([])
})

test('if no trait is listed, the page says what listing is good for, and leads an owner there', async () => {
  await house.place.run(['org', 'traits', 'harbor', '--none'])
  const { page } = await house.visit('/flows/welcome')
  await page.getByRole('link', { name: 'List a trait' }).click()
  await page.getByText('None is listed: no trait leaves a browser.').waitFor()
  await page.context().close()
  const { page: viewers } = await house.visit('/flows/welcome', { role: 'viewer' })
  await viewers.getByText('No trait is listed.').waitFor()
  expect(await viewers.getByRole('link', { name: 'List a trait' }).count()).toBe(0)
})
