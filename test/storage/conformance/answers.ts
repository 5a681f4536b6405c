import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { OpenStore, Store } from './store.ts'
import { definitionOf, requestedRuns, Tenant } from './tenant.ts'

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
  /** Who wrote what, latest run first, and the cursor of the last run. */
  const written = async (after: string | null = null, of = tenant) => {
    const { runs } = store.management
    const read = await runs.runs(of.ref, 'survey', requestedRuns({ after, max: 2, answered: true }))
    if (!read) return null
    const answers = read.runs.flatMap(({ key, answers }) =>
      answers.map(({ stepId: stepRef, at }) => ({ key, stepRef, at })),
    )
    const texts = await runs.writtenTexts(of.ref, 'survey', answers)
    return {
      words: read.runs.map(({ person }, i) => [person, texts[i]]),
      last: read.runs.at(-1)!.cursor,
    }
  }

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
    expect(first?.words).toEqual([
      ['ueve', 'Hm.'],
      ['uben', 'Why not?'],
    ])
    expect((await written(first!.last))?.words).toEqual([['uann', 'I changed my mind.']])
  })

  test('belong to one organisation, and go when the person is erased', async () => {
    const other = await Tenant.of(store)
    expect(await written(null, other)).toBeNull()
    await tenant.append([said('1', 'ann', 'A secret', store.clock.now())])
    expect((await written())?.words).toEqual([['uann', 'A secret']])
    await tenant.erase('uann')
    const [left] = (await written())!.words
    expect(left?.[0]).toMatch(/^.erased-/)
    expect(left?.[1]).not.toBe('A secret')
  })
}
