import { expect } from 'bun:test'
import { DashboardHouse } from '../../support/dashboard.ts'
import { type ExpectedPage, testPages } from '../../support/dashboard-pages.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'
import { everyPage } from '../../web/dashboard/every-page.ts'

/** Every page shows its content on every screen, from right to left, and in print. */

let house: DashboardHouse
beforeAll(async () => {
  house = await DashboardHouse.open()
})
afterAll(() => house.close())

const ofFlow = (name: string) => ({ title: `${name} · Welcome tour`, heading: 'Welcome tour' })
const settings = (name: string) => ({ title: `${name} · Settings`, heading: 'Settings' })

const address = encodeURIComponent('https://app.example.com/projects')
const explained = `/explain?url=${address}&flow=welcome&user=person-0`
const rangeOnPaper = /– .+ \d{4}, Europe\/Berlin, all versions/

const pages: readonly ExpectedPage[] = [
  {
    ...{ path: '/', title: 'Overview', shows: 'Spring news' },
    onPaper: [/Days are those of Berlin/],
  },
  { path: '/flows', title: 'Flows', shows: 'Spring news' },
  { path: '/flows/new', title: 'New flow', shows: 'No problems' },
  { path: '/flows/new?view=yaml', title: 'New flow', shows: 'No problems' },
  { path: '/flows/welcome', title: 'Welcome tour', shows: 'Where people leave' },
  { path: '/flows/welcome?by=plan', title: 'Welcome tour', shows: 'Completion by plan' },
  { path: '/flows/welcome/health', ...ofFlow('Health'), shows: 'Of the last 24 hours' },
  { path: '/flows/welcome/edit', ...ofFlow('Edit'), shows: 'No problems' },
  { path: '/flows/welcome/edit?view=yaml', ...ofFlow('Edit'), shows: 'No problems' },
  { path: '/flows/welcome/versions', ...ofFlow('Versions'), shows: 'Published versions' },
  {
    ...{ path: '/flows/welcome/runs', ...ofFlow('Runs'), shows: 'person-0' },
    onPaper: [rangeOnPaper],
  },
  { path: '/staging', title: 'Staging', shows: 'Staging' },
  { path: '/people', title: 'People', shows: 'Look up a person' },
  { path: '/people?user=person-0', title: 'person-0', shows: 'All 8 events that are kept.' },
  { path: '/people?user=nobody', title: 'nobody', shows: 'Nothing is stored of nobody' },
  { path: '/explain', title: 'Why not?', shows: 'Name a page' },
  {
    ...{ path: explained, title: 'Why not?', shows: 'Welcome tour is not shown' },
    onPaper: ['https://app.example.com/projects, person-0'],
  },
  { path: `/explain?url=${address}`, title: 'Why not?', shows: 'every condition holds' },
  { path: '/install', title: 'Install', shows: 'How far it has come' },
  { path: '/activity', title: 'Activity', shows: 'Waiting for events' },
  { path: '/settings', ...settings('Snippet keys'), shows: 'Current key' },
  { path: '/settings/origins', ...settings('Origins'), shows: 'One a line' },
  { path: '/settings/limits', ...settings('Limits'), shows: 'fingerprint' },
  { path: '/settings/retention', ...settings('Retention'), shows: 'As long as the server' },
  { path: '/settings/look', ...settings('Look'), shows: 'Named appearance to start from' },
  { path: '/settings/privacy', ...settings('Privacy'), shows: 'What is stored of people' },
  { path: '/settings/traits', ...settings('Traits'), shows: 'never a name' },
  { path: '/settings/identity', ...settings('Identity'), shows: 'Hashes of user ids' },
  { path: '/settings/tokens', ...settings('Management tokens'), shows: 'Make a token' },
  { path: '/settings/sign-in', ...settings('Sign-in'), shows: 'Identity provider' },
  { path: '/settings/alerts', ...settings('Alerts'), shows: 'A step is broken' },
  { path: '/settings/timezone', ...settings('Time zone'), shows: 'Whose days are shown' },
  { path: '/settings/throttle', ...settings('Throttle'), shows: 'Throttle' },
  { path: '/settings/environments', ...settings('Environments'), shows: 'Link' },
  { path: '/settings/name', ...settings('Name'), shows: 'Name' },
  { path: '/audit', title: 'Audit', shows: 'Pushed and published' },
  { path: '/server', title: 'Server', shows: 'the database has refused nothing' },
]

testPages(() => house, pages)

test('the list above has every page', () => {
  const pathOf = (address: string) => address.split('?')[0]
  const listed = pages.map(({ path }) => pathOf(path))
  expect(listed).toEqual(expect.arrayContaining(everyPage.map(({ path }) => pathOf(path))))
})
