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
const rangeOnPaper = /– .+ \d{4}, Berlin, all versions/

const pages: readonly ExpectedPage[] = [
  {
    ...{ path: '/', title: 'Overview', shows: 'Spring news' },
    onPaper: [/Days start at midnight in Berlin/],
  },
  { path: '/flows', title: 'Flows', shows: 'Spring news' },
  { path: '/flows/new', title: 'New flow', shows: 'Welcome tour' },
  { path: '/flows/new/blank', title: 'New flow', shows: 'Name' },
  { path: '/flows/new/blank?view=yaml', title: 'New flow', shows: 'No problems' },
  { path: '/flows/welcome', title: 'Welcome tour', shows: 'Where people leave' },
  { path: '/flows/welcome?by=plan', title: 'Welcome tour', shows: 'Completion by plan' },
  { path: '/flows/welcome/health', ...ofFlow('Health'), shows: 'Of the last 24 hours' },
  { path: '/flows/welcome/edit', ...ofFlow('Edit'), shows: 'Name' },
  { path: '/flows/welcome/edit?view=yaml', ...ofFlow('Edit'), shows: 'No problems' },
  { path: '/flows/welcome/versions', ...ofFlow('Versions'), shows: 'Published versions' },
  {
    ...{ path: '/flows/welcome/runs', ...ofFlow('Runs'), shows: 'person-0' },
    onPaper: [rangeOnPaper],
  },
  { path: '/staging', title: 'Staging', shows: 'Staging' },
  { path: '/people', title: 'People', shows: 'Last seen' },
  { path: '/people?user=person-0', title: 'person-0', shows: 'All 8 events' },
  { path: '/people?user=nobody', title: 'nobody', shows: 'No data for nobody' },
  { path: '/explain', title: 'Troubleshoot', shows: 'Enter a page URL' },
  {
    ...{ path: explained, title: 'Troubleshoot', shows: 'Welcome tour is not shown' },
    onPaper: ['https://app.example.com/projects, person-0'],
  },
  { path: `/explain?url=${address}`, title: 'Troubleshoot', shows: 'All conditions passed' },
  { path: '/install', title: 'Installation', shows: 'Installation status' },
  { path: '/activity', title: 'Live events', shows: 'Waiting for events' },
  { path: '/settings', ...settings('General'), shows: 'Time zone' },
  {
    path: '/settings/appearance',
    ...settings('Appearance'),
    shows: 'Preset',
  },
  { path: '/settings/frequency', ...settings('Frequency cap'), shows: 'in 24 hours' },
  { path: '/settings/staging', ...settings('Staging'), shows: 'Management token' },
  { path: '/settings/privacy', ...settings('Privacy'), shows: 'What is stored about people' },
  { path: '/settings/traits', ...settings('Traits'), shows: 'Traits to store' },
  { path: '/settings/retention', ...settings('Retention'), shows: 'Delete raw events after' },
  { path: '/settings/members', ...settings('Members'), shows: 'Invite member' },
  { path: '/settings/keys', ...settings('Snippet keys'), shows: 'Current key' },
  { path: '/settings/origins', ...settings('Allowed origins'), shows: 'One per line' },
  { path: '/settings/identity', ...settings('Identity verification'), shows: 'Change mode' },
  { path: '/settings/tokens', ...settings('Management tokens'), shows: 'Create token' },
  { path: '/settings/assistant', ...settings('Assistant'), shows: 'Claude Code' },
  { path: '/settings/sign-in', ...settings('Sign-in'), shows: 'Identity provider' },
  { path: '/settings/limits', ...settings('Rate limits'), shows: 'Element snapshots' },
  { path: '/settings/audit', ...settings('Audit log'), shows: 'Pushed and published' },
  { path: '/settings/alerts', ...settings('Alert rules'), shows: 'A step is broken' },
  { path: '/settings/webhooks', ...settings('Webhooks'), shows: 'Add webhook' },
  { path: '/settings/images', ...settings('Images'), shows: 'No images' },
  { path: '/settings/report', ...settings('Weekly report'), shows: 'Email addresses' },
  { path: '/server', title: 'Server', shows: 'No dead letters' },
]

testPages(() => house, pages)

test('the list above has every page', () => {
  const pathOf = (address: string) => address.split('?')[0]
  const listed = pages.map(({ path }) => pathOf(path))
  expect(listed).toEqual(expect.arrayContaining(everyPage.map(({ path }) => pathOf(path))))
})
