import { expect } from 'bun:test'
import type { Analytics } from '../../../src/modules/analytics/schema.ts'
import type { Page } from '../../support/browser.ts'
import {
  cellsOf,
  DashboardHouse,
  downloadedCsv,
  flows,
  requireSound,
} from '../../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** The page of results shows what the API and its CSV say; and how people get around in it. */

let house: DashboardHouse
beforeAll(async () => {
  house = await DashboardHouse.open()
})
afterAll(() => house.close())

/** The rows and the name of the page's CSV, and the API's response to the same query. */
async function downloaded(page: Page) {
  await page.getByRole('button', { name: 'Download', exact: true }).click()
  const link = page.getByRole('link', { name: 'All tables in one file (API)' })
  const { rows, name, query } = await downloadedCsv(page, link)
  const { id } = await house.flow('welcome')
  const data = await house.analytics<Analytics>(id, `${query}&distribution=1`)
  const of = (type: string) => rows.filter(({ row_type }) => row_type === type)
  return { of, data, name }
}

test('figures on the screen match the API and the CSV', async () => {
  const { page, noticed } = await house.visit('/flows/welcome')
  await page.getByText('Where people leave').waitFor()
  expect(new URL(page.url()).searchParams.get('tz')).toBe('Europe/Berlin')
  const { of, data, name } = await downloaded(page)
  expect(name).toMatch(/^cairn-welcome-\d{4}-\d\d-\d\d_.*\.csv$/)
  expect(data.totals.starts).toBe(40)

  const figures = (await page.evaluate(
    "[...document.querySelectorAll('.figure-value')].map(element => (element.querySelector('.rate') ?? element).firstChild.textContent)",
  )) as string[]
  const { starts, uniqueUsers, completionRate, dismissals, inProgress } = data.totals
  const { medianSeconds, distribution } = data.timeToComplete
  expect(figures.map(text => text.trim())).toEqual([
    ...[`${starts}`, `${uniqueUsers}`, `${(completionRate! * 100).toFixed(1)}%`],
    ...[`${medianSeconds} s`, `${dismissals}`, `${inProgress}`],
  ])
  expect(of('total')[0]).toMatchObject({
    starts: `${starts}`,
    completion_rate: `${completionRate}`,
    dismissals: `${dismissals}`,
  })

  const steps = await cellsOf(page, 'Steps with the runs that reached them')
  const counts = steps.map(cells => [cells[0], ...cells.slice(2, 7)])
  expect(counts).toEqual(
    data.steps.map(step => [
      step.title,
      ...[step.reached, step.completed, step.skipped, step.targetMissing].map(String),
      `${step.droppedHere - step.activeHere!}`,
    ]),
  )
  expect(counts).toEqual(
    of('step').map(row => [
      row.title,
      ...[row.reached, row.completed, row.skipped, row.target_missing],
      `${Number(row.dropped_here) - Number(row.active_here)}`,
    ]),
  )
  const active = inProgress - data.totals.stalled!
  expect(active).toBeGreaterThan(0)
  await page.getByText(`${active} active, ${data.totals.stalled} stalled`).waitFor()
  expect(steps.map(cells => cells[7])).toEqual(data.steps.map(step => `${step.activeHere}`))

  const picture = page.getByRole('slider', { name: /Completed runs by duration/ })
  expect(await picture.textContent()).toContain(`median ${medianSeconds} s`)
  const durations = distribution!.map(({ count }) => `${count}`)
  const bins = await cellsOf(page, 'Completed runs by duration')
  expect(bins.map(cells => cells[1]!).filter(text => text !== '0')).toEqual(
    durations.filter(text => text !== '0'),
  )
  expect(bins.find(cells => cells[1] !== '0')![0]).toBe('20 s – 1 min')
  expect(await picture.locator('.of-completions').count()).toBe(
    bins.filter(cells => cells[1] !== '0').length,
  )

  await page.getByText('Show as a table').last().click()
  const days = await cellsOf(page, 'Runs that started each day, by outcome')
  const daily = days.map(cells => cells.slice(1, 4)).toReversed()
  expect(daily).toEqual(
    data.daily.map(day => [day.starts, day.completions, day.dismissals].map(String)),
  )
  expect(daily).toEqual(of('day').map(row => [row.starts!, row.completions!, row.dismissals!]))
  expect(noticed.complaints).toEqual([])
})

test('the bar of a step is beside its numbers, and its times are on one line', async () => {
  const { page } = await house.visit('/flows/welcome', { viewport: { width: 1_200, height: 900 } })
  await page.getByText('Where people leave').waitFor()
  const rows = (await page.evaluate(`[...document.querySelectorAll('.funnel tbody tr')].map(row => {
    const middle = element => {
      const { top, height } = element.getBoundingClientRect()
      return top + height / 2
    }
    const off = middle(row.querySelector('.parts-bar')) - middle(row.querySelector('.rate > :first-child'))
    return { isBeside: Math.abs(off) < 3, lines: row.querySelector('td:last-child bdi').getClientRects().length }
  })`)) as object[]
  expect(rows).toEqual(Array(3).fill({ isBeside: true, lines: 1 }))
})

test('days are grouped into weeks or months as the address says, and into weeks by default in a long range', async () => {
  const { page } = await house.visit('/flows/welcome?tz=UTC')
  await page.getByRole('heading', { name: 'Runs by day' }).waitFor()
  await page.getByText('Week', { exact: true }).click()
  await page.getByRole('heading', { name: 'Runs by week' }).waitFor()
  expect(new URL(page.url()).searchParams.get('interval')).toBe('week')
  await page.getByText(/this week, until \d\d:\d\d/).waitFor()
  await page.getByText('Show as a table').last().click()
  const { of, data } = await downloaded(page)
  const caption = 'Runs that started each week, by outcome'
  const rows = (await cellsOf(page, caption)).toReversed()
  const shown = rows.map(cells => [cells[1], cells[2], cells[3], cells[5]])
  expect(shown).toEqual(
    data.periods!.map(({ starts, completions, dismissals, uniqueUsers }) =>
      [starts, completions, dismissals, uniqueUsers].map(String),
    ),
  )
  expect(shown).toEqual(
    of('period').map(row => [row.starts, row.completions, row.dismissals, row.unique_users]),
  )
  expect(rows.at(-1)![0]).toContain('so far')
  await page.getByRole('slider', { name: /Runs by week/ }).focus()
  await page.getByText('Month', { exact: true }).click()
  await page.getByRole('heading', { name: 'Runs by month' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Runs by week' }).waitFor()

  const today = new Date().toISOString().slice(0, 10)
  const from = new Date(Date.now() - 150 * 86_400_000).toISOString().slice(0, 10)
  const longRange = `/flows/welcome?tz=UTC&from=${from}&to=${today}`
  await page.goto(house.at(`${longRange}&interval=day`))
  await page.getByRole('heading', { name: 'Runs by day' }).waitFor()
  await page.goto(house.at(longRange))
  await page.getByRole('heading', { name: 'Runs by week' }).waitFor()
})

test('the menu marks the selected range, and incomplete days can be left out', async () => {
  const { page } = await house.visit('/flows/welcome?tz=UTC')
  const params = () => new URL(page.url()).searchParams
  const menu = page.getByRole('button', { name: /UTC/ })
  const choose = async (name: string) => {
    await menu.click()
    await page.getByRole('button', { name, exact: true }).click()
  }
  const marked = (name: string) => page.getByRole('button', { name, exact: true, pressed: true })
  await page.getByText(/today, until \d\d:\d\d/).waitFor()
  const before = page.getByText(/^No runs in \d.+ nothing to compare with\.$/)
  await before.waitFor()
  await page.getByLabel('Compare with').selectOption('none')
  await before.waitFor({ state: 'detached' })
  await page.getByLabel('Complete days').click()
  await page.getByText(/today, until/).waitFor({ state: 'detached' })
  expect(params().get('days')).toBe('complete')
  await page.goBack()
  await page.getByText(/today, until/).waitFor()

  await menu.click()
  await marked('Last 30 days').waitFor()
  expect(await marked('Yesterday').count()).toBe(0)
  await page.keyboard.press('Escape')
  await choose('Yesterday')
  // A range of one day shows its date once.
  const day = /^\s*\d+ \w+ \d{4}\s*UTC\s*$/
  await menu.filter({ hasText: day }).waitFor()
  await menu.click()
  await marked('Yesterday').waitFor()
  expect(await page.locator('.presets [aria-pressed="true"]').count()).toBe(1)
  await page.keyboard.press('Escape')
  await page.getByLabel('Complete days').click()
  // Today is not over. Without it nothing would be left.
  await choose('Today')
  await page.getByText(/today, until \d\d:\d\d|No runs/).waitFor()
  await menu.filter({ hasText: day }).waitFor()
  expect(await page.getByLabel('Complete days').count()).toBe(0)
  await choose('This month')
  expect(params().get('from')).toMatch(/-01$/)
  expect(params().get('to')).toBeNull()
})

test('the selected time zone stays in the address from the overview to a flow', async () => {
  const { page } = await house.visit('/flows')
  await page.getByText('Last 30 days. Days start at midnight in Berlin.').waitFor()
  await page.goto(house.at('?tz=UTC'))
  await page.getByText('Days start at midnight in UTC.').waitFor()
  await page.getByRole('link', { name: 'Welcome tour' }).click()
  const menu = page.getByRole('button', { name: /UTC/ })
  await menu.click()
  await page.getByRole('button', { name: 'Last 7 days' }).click()
  await page.getByText(/95% intervals (overlap|do not overlap)/).waitFor()
  await menu.click()
  await page.getByRole('combobox', { name: 'Time zone of days' }).fill('Tokyo')
  await page.getByRole('option', { name: /Tokyo/ }).click()
  await page.getByRole('button', { name: 'Apply', exact: true }).click()
  await page.getByRole('button', { name: /Tokyo/ }).waitFor()
  expect(new URL(page.url()).searchParams.get('tz')).toBe('Asia/Tokyo')
  await page.getByText('Unfinished', { exact: true }).first().click()
  await page.getByText('Runs neither completed nor dismissed').first().waitFor()
})

test('with fewer than five runs there are no percentages, no medians and no chart of durations', async () => {
  const { page } = await house.visit('/flows/welcome?from=2026-01-01&to=2026-01-01&tz=UTC')
  await page.getByText('No runs in this period').waitFor()
  const day = house.lastDay
  await page.goto(house.at(`/flows/welcome?from=${day}&to=${day}&tz=UTC&compare=none`))
  await page.getByText('Where people leave').waitFor()
  await page.getByText('Rates and medians need at least 5 runs.').waitFor()
  expect(await page.locator('.figures').innerText()).not.toMatch(/%|9 in 10|\d s\b/)
  expect(await page.locator('table').first().innerText()).not.toMatch(/%|\d s/)
  await page.getByText('Needs at least 5 completed runs.').waitFor()
  expect(await page.getByRole('slider', { name: /Completed runs by duration/ }).count()).toBe(0)
})

const survey = `key: asks
steps:
  - { key: score, title: Would you recommend us?, question: { type: rating } }
  - { key: why, title: Why?, question: { type: text } }
`

test('scores are shown with their groups, and written answers are read on demand', async () => {
  await Bun.write(house.place.path('asks.yaml'), survey)
  await house.place.run(['flows', 'push', 'asks.yaml', '--publish'])
  const { id: flowId, steps } = await house.flow('asks')
  const send = (scores: readonly number[], first = 0) => {
    const events = scores.flatMap((answer, i) => {
      const who = { userId: `u${first + i}`, runId: `r${first + i}` }
      const of = { kind: 'question_answered', flowId, ...who }
      return [
        { ...of, stepId: steps[0]!.id, properties: { answer } },
        { ...of, stepId: steps[1]!.id, properties: { answer: `Because ${first + i}` } },
      ]
    })
    return house.send(events)
  }
  await send([10, 9, 7, 3])
  const { page, noticed } = await house.visit('/flows/asks')
  await page.getByRole('heading', { name: 'Answers' }).waitFor()
  const caption = 'Answers to “Would you recommend us?”'
  await page.getByRole('table', { name: caption }).waitFor()
  const cells = await cellsOf(page, caption)
  expect(cells.map(row => row[0])).toEqual([...Array(11).keys()].map(String))
  const score = page.locator('.survey-question', {
    has: page.getByRole('table', { name: caption }),
  })
  expect(await score.textContent()).toMatch(
    /NPS.*–.*Promoters \(9–10\)2.*Passives \(7–8\)1.*Detractors \(0–6\)1.*Average–/,
  )

  await send([10, 10], 4)
  await page.reload()
  await page.getByText(/^6 of \d+ runs$/).waitFor()
  expect(await score.textContent()).toMatch(
    /NPS.*50.*\(9–10\)4.*66.7%.*\(7–8\)1.*16.7%.*\(0–6\)1.*Average8.17/,
  )
  const widths = (bars: string) =>
    score.locator(bars).evaluateAll(all => all.map(bar => parseFloat(bar.getAttribute('width')!)))
  // The longest bar is as wide as the column: one answer of 9 beside three of 10.
  expect((await widths('.parts-bar rect:last-child')).slice(-2)).toEqual([(1 / 3) * 100, 100])
  await page.getByRole('link', { name: 'Read answers' }).click()
  await page.getByText('Because 3').waitFor()
  await requireSound(page, noticed)
})

const captionBy = (trait: string) => `Completion by ${trait}, as it was when each run started`

test('the figures of a selected trait match the API and the downloaded table', async () => {
  const { page, noticed } = await house.visit('/flows/welcome')
  await page.getByText('Compare what started the runs').waitFor()
  await page.getByLabel('Break down by').selectOption('plan')
  await page.getByText(captionBy('plan')).waitFor()
  expect(new URL(page.url()).searchParams.get('by')).toBe('plan')

  const { id } = await house.flow('welcome')
  const query = new URLSearchParams(new URL(page.url()).search)
  query.set('timezone', query.get('tz')!)
  query.set('segment', 'plan')
  for (const name of ['tz', 'by']) query.delete(name)
  const { segments } = await house.analytics<Analytics>(id, `${query}&distribution=1`)
  expect(segments!.map(({ value, starts }) => [value, starts])).toEqual([
    ['pro', 20],
    ['free', 10],
    [null, 10],
  ])
  const shown = await cellsOf(page, captionBy('plan'))
  expect(shown.map(cells => cells.slice(0, 5))).toEqual(
    segments!.map(segment => [
      segment.value ?? 'Not set',
      ...[segment.starts, segment.uniqueUsers, segment.completions, segment.dismissals].map(String),
    ]),
  )
  expect(shown.map(cells => cells[6])).toEqual(
    segments!.map(({ completionRate }) => `${(completionRate! * 100).toFixed(1)}%`),
  )
  const table = page.getByRole('table', { name: captionBy('plan') })
  const csv = await downloadedCsv(page, table.locator('+ .file-link'))
  expect(csv.name).toBe('welcome-by-plan.csv')
  expect(csv.rows.map(row => [row.plan, row.Starts])).toEqual(
    shown.map(([name, starts]) => [name, starts]),
  )
  await requireSound(page, noticed)
})

test('a value limits all charts to its runs, and the limit can be lifted', async () => {
  const { page } = await house.visit('/flows/welcome?by=plan')
  await page.getByRole('link', { name: 'pro', exact: true }).click()
  await page.getByText('Only runs with plan').waitFor()
  const starts = page.locator('.figure-value').first()
  await starts.filter({ hasText: /^\s*20\s*$/ }).waitFor()
  expect(new URL(page.url()).searchParams.get('segment')).toBe('plan:pro')
  // The table still compares all values.
  expect(await cellsOf(page, captionBy('plan'))).toHaveLength(3)
  await page.getByRole('link', { name: 'Show all runs' }).click()
  await starts.filter({ hasText: /^\s*40\s*$/ }).waitFor()
  await page.goBack()
  await page.getByText('Only runs with plan').waitFor()
  // A trait without a value limits nothing.
  await page.goto(house.at('/flows/welcome?segment=plan'))
  await starts.filter({ hasText: /^\s*40\s*$/ }).waitFor()
  expect(await page.getByText('Only runs with').count()).toBe(0)
})

test('a trait that nobody has is “Not set”, and an unlisted one is rejected', async () => {
  const { page } = await house.visit('/flows/welcome?by=role')
  await page.getByText(captionBy('role')).waitFor()
  expect((await cellsOf(page, captionBy('role'))).map(([name, starts]) => [name, starts])).toEqual([
    ['Not set', '40'],
  ])
  await page.goto(house.at('/flows/welcome?by=shoe'))
  await page.getByText('“shoe” is not a listed trait').waitFor()
})

const centre = `- key: centre
  kind: launcher
  launcher: { items: [{ key: docs, title: Docs, href: /docs }] }
- key: offered
  steps: [{ key: one, title: One }]
`

test('what started runs, and what was unread, is compared, selected and taken back', async () => {
  await Bun.write(house.place.path('centre.yaml'), centre)
  await house.place.run(['flows', 'push', 'centre.yaml', '--publish'])
  const begin = async (key: string, reasons: readonly (string | null)[]) => {
    const { id: flowId } = await house.flow(key)
    const events = reasons.map((reason, i) => ({
      ...{ kind: 'flow_started', flowId, userId: `${key}${i}`, runId: `${key}${i}` },
      ...(reason && { reason }),
    }))
    await house.send(events)
  }
  await begin('centre', ['unread', null, null])
  await begin('offered', ['launcher', 'launcher', 'code', null])

  const { page } = await house.visit('/flows/offered')
  await page.getByLabel('Break down by').selectOption('Started by')
  const started = 'Runs by what started them'
  await page.getByText(started).waitFor()
  const counts = async (caption: string) =>
    (await cellsOf(page, caption)).map(([name, starts]) => [name, starts])
  expect(await counts(started)).toEqual([
    ['Resource centre', '2'],
    ['Your code', '1'],
    ['Its own rules', '1'],
  ])
  await page.getByRole('link', { name: 'Resource centre', exact: true }).click()
  await page.getByText('Only runs with Started by Resource centre').waitFor()
  await page.locator('.figure-value').first().getByRole('link', { name: '2' }).click()
  await page.getByRole('link', { name: /^Started by: Resource centre/ }).waitFor()

  await page.goto(house.at('/flows/centre?by=%24start_reason'))
  expect(await page.getByLabel('Break down by').locator(':checked').textContent()).toBe(
    'Unread when opened',
  )
  const opened = 'Openings by whether announcements were unread'
  await page.getByText(opened).waitFor()
  expect(await counts(opened)).toEqual([
    ['Unread announcements', '1'],
    ['Nothing unread', '2'],
  ])
  await page.getByRole('heading', { name: 'Openings by day' }).waitFor()
  const table = page.getByRole('table', { name: opened })
  expect((await table.locator('th[scope=col]').allInnerTexts()).slice(1, 5)).toEqual([
    ...['Opened', 'People', 'Chose an item', 'Closed'],
  ])
})

test('a step without reports has no bars; the controls for comparing two versions fit on one line', async () => {
  await Bun.write(house.place.path('second.yaml'), flows.replace('Welcome tour', 'Welcome again'))
  await house.place.run(['flows', 'push', 'second.yaml', '--publish'])
  const { page } = await house.visit('/flows/welcome/health', {
    viewport: { width: 1280, height: 900 },
  })
  await page.getByText('No reports in this period.').first().waitFor()
  expect(await page.locator('[data-history] .slot').count()).toBe(0)
  // A range within one year, because dates of two years need more space.
  const week = (to: number) => [to - 7 * 86_400_000, to].map(at => new Date(at).toISOString())
  const last = week(Date.parse(house.lastDay))
  const newYear = Date.parse(`${last[1]!.slice(0, 4)}-01-01`)
  const [from, to] =
    last[0]!.slice(0, 4) === last[1]!.slice(0, 4) ? last : week(newYear - 86_400_000)
  const range = `from=${from!.slice(0, 10)}&to=${to!.slice(0, 10)}`
  await page.goto(house.at(`/flows/welcome?version=2&compare=v1&${range}`))
  await page.getByLabel('Version', { exact: true }).waitFor()
  // They are on one line if none starts below the end of another.
  await page.getByText('Where people leave').waitFor()
  const isOneLine = await page.evaluate(`(() => {
    const boxes = [...document.querySelectorAll('.filters > :not(.on-phone, .more-filters), .more-filters > *')].map(one => one.getBoundingClientRect())
    const [top, bottom] = [Math.max(...boxes.map(box => box.top)), Math.min(...boxes.map(box => box.bottom))]
    return boxes.length === 4 && top < bottom
  })()`)
  expect(isOneLine).toBe(true)
})

test('an owner lists traits; invalid ones are rejected, and ones that may name a person cause a warning', async () => {
  const { page, noticed } = await house.visit('/settings/traits')
  const field = page.getByLabel('Traits to store')
  await field.fill('plan\nrole\ncontact email')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('contact email may identify a person').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await field.fill('plan\na:b')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByText('“a:b”').waitFor()
  noticed.complaints.length = 0
  await field.fill('plan')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('No longer stored or shown: role.').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  expect(await house.place.json(['org', 'settings'])).toMatchObject({ traits: ['plan'] })
  expect(noticed.complaints).toEqual([])
})

test('if no trait is listed, the page says so and links an owner to the setting', async () => {
  await house.place.run(['org', 'unset', 'traits', '--org', 'harbor'])
  const { page } = await house.visit('/flows/welcome')
  await page.getByRole('link', { name: 'Choose traits' }).click()
  expect(await page.getByLabel('Traits to store').inputValue()).toBe('')
  await page.context().close()
  const { page: viewers } = await house.visit('/flows/welcome', { role: 'viewer' })
  await viewers.getByText('No traits yet.').waitFor()
  expect(await viewers.getByRole('link', { name: 'Choose traits' }).count()).toBe(0)
})
