import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { OpenStore, Store } from './store.ts'
import { definitionOf, Tenant } from './tenant.ts'

const survey = definitionOf({
  key: 'survey',
  steps: [{ key: 'why', title: 'Why?', kind: 'modal', question: { type: 'text' } }],
})

/** A run knows only that there is an answer in words. The words are in the ledger. */
const inWords = '""'

export function answersConform(open: OpenStore): void {
  let store: Store
  let tenant: Tenant
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store.close())
  beforeEach(async () => {
    tenant = await Tenant.of(store)
    await tenant.publish(survey)
  })

  const said = (id: string, userId: string, text: string, at: number) =>
    tenant.event(id, {
      ...{ kind: 'question_answered', userId, runId: `run of ${userId}`, at },
      ...{ flowKey: 'survey', stepKey: 'why', answer: inWords },
      properties: JSON.stringify({ answer: text }),
    })
  const requested = { stepKey: 'why', max: 2, after: null, started: null, version: null }
  const written = (more: Partial<typeof requested> | { after: string } = {}, of = tenant) =>
    store.management.runs.writtenAnswers(of.ref, 'survey', { ...requested, ...more })
  const words = (read: Awaited<ReturnType<typeof written>>) =>
    read?.answers.map(({ person, text }) => [person, text])

  test('are read page by page, latest runs first, with the last answer of each run', async () => {
    const now = store.clock.now()
    await tenant.append([
      said('1', 'ann', 'Because.', now - 30),
      said('2', 'ben', 'Why not?', now - 20),
    ])
    await tenant.append([
      said('3', 'ann', 'I changed my mind.', now - 10),
      said('4', 'eve', 'Hm.', now),
    ])
    const first = await written()
    expect(first?.flowId).toBe(tenant.flowId('survey'))
    expect(words(first)).toEqual([
      ['ueve', 'Hm.'],
      ['uben', 'Why not?'],
    ])
    expect(words(await written({ after: first!.answers.at(-1)!.cursor }))).toEqual([
      ['uann', 'I changed my mind.'],
    ])
  })

  test('belong to one organisation, and go when the person is erased', async () => {
    const other = await Tenant.of(store)
    expect(await written({}, other)).toBeNull()
    await tenant.append([said('1', 'ann', 'A secret', store.clock.now())])
    expect(words(await written())).toEqual([['uann', 'A secret']])
    await tenant.erase('uann')
    const [left] = (await written())!.answers
    expect(left?.person).toMatch(/^.erased-/)
    expect(left?.text).not.toBe('A secret')
  })
}
