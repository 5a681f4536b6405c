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
  const answers = [10, 9, 7, 3].flatMap((answer, i) => {
    const of = { kind: 'question_answered', flowId, userId: `u${i}`, runId: `r${i}` }
    return [
      { ...of, stepId: steps[0]!.id, properties: { answer } },
      { ...of, stepId: steps[1]!.id, properties: { answer: `Because ${i}` } },
    ]
  })
  const body = JSON.stringify({ events: answers })
  const sent = await fetch(`${server.url}/api/v1/events`, { method: 'POST', headers, body })
  expect(sent.status).toBe(202)
  const { page, noticed } = await house.visit('/flows/asks')
  await page.getByRole('heading', { name: 'Answers' }).waitFor()
  const cells = await cellsOf(page, 'What was answered to “Would you recommend us?”')
  expect(cells.map(row => row[0])).toEqual([...Array(11).keys()].map(String))
  expect(await page.locator('.nps').textContent()).toMatch(
    /NPS.*25.*Promoters2.*Passives1.*Detractors1/,
  )
  await page.getByRole('button', { name: 'Read the answers' }).click()
  await page.getByText('Because 3').waitFor()
  await requireSound(page, noticed)
  await page.context().close()
})
