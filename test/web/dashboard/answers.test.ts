import { expect } from 'bun:test'
import { cellsOf, DashboardHouse, requireSound } from '../../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** The answers to questions on the page of results. */

const flow = `key: asks
steps:
  - { key: score, title: Would you recommend us?, question: { type: rating } }
  - { key: why, title: Why?, question: { type: text } }
`

let house: DashboardHouse
beforeAll(async () => {
  house = await DashboardHouse.open()
})
afterAll(() => house.close())

test('scores are shown with their groups, and written answers are read on demand', async () => {
  const { place, server, snippetKey } = house
  await Bun.write(`${place.folder}/asks.yaml`, flow)
  await place.run(['flows', 'push', 'asks.yaml', '--publish'])
  const headers = { authorization: `Bearer ${snippetKey}`, 'content-type': 'application/json' }
  const listed = await fetch(`${server.url}/api/v1/flows`, { headers })
  const { flows } = (await listed.json()) as {
    flows: { key: string; id: string; steps: { id: string }[] }[]
  }
  const { id: flowId, steps } = flows.find(({ key }) => key === 'asks')!
  const send = async (scores: readonly number[], first = 0) => {
    const events = scores.flatMap((answer, i) => {
      const who = { userId: `u${first + i}`, runId: `r${first + i}` }
      const of = { kind: 'question_answered', flowId, ...who }
      return [
        { ...of, stepId: steps[0]!.id, properties: { answer } },
        { ...of, stepId: steps[1]!.id, properties: { answer: `Because ${first + i}` } },
      ]
    })
    const body = JSON.stringify({ events })
    const sent = await fetch(`${server.url}/api/v1/events`, { method: 'POST', headers, body })
    expect(sent.status).toBe(202)
  }
  await send([10, 9, 7, 3])
  const { page, noticed } = await house.visit('/flows/asks')
  await page.getByRole('heading', { name: 'Answers' }).waitFor()
  const caption = 'What was answered to “Would you recommend us?”'
  const cells = await cellsOf(page, caption)
  expect(cells.map(row => row[0])).toEqual([...Array(11).keys()].map(String))
  const asked = page.locator('.asked', { has: page.getByRole('table', { name: caption }) })
  expect(await asked.textContent()).toMatch(
    /Under five answers.*NPS.*–.*Promoters2.*Passives1.*Detractors1.*Average.*–.*Median.*–/,
  )

  await send([10, 10], 4)
  await page.reload()
  await page
    .getByText(/^6 of \d+ runs/)
    .first()
    .waitFor()
  expect(await asked.textContent()).toMatch(
    /NPS.*50.*Promoters4.*66.7%.*Passives1.*16.7%.*Detractors1.*Average.*8.17.*Median.*9/,
  )
  expect(await asked.getByText('Under five answers').count()).toBe(0)
  const widths = (bars: string) =>
    asked.locator(bars).evaluateAll(all => all.map(bar => parseFloat(bar.getAttribute('width')!)))
  // The groups follow each other as their names above do. A whole rail is everybody who answered.
  expect(await widths('.nps-bar rect:not(.rail)')).toEqual([4, 1, 1].map(n => (n / 6) * 100))
  expect((await widths('.funnel-bar rect:last-child')).slice(-2)).toEqual([(1 / 6) * 100, 50])
  await page.getByRole('button', { name: 'Read the answers' }).click()
  await page.getByText('Because 3').waitFor()
  await requireSound(page, noticed)
  await page.context().close()
})
