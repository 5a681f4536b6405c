import { describe, expect, test } from 'bun:test'
import { noHistory } from '../../../src/core/flow/decision.ts'
import { createHistory, ended, mergedHistory, started } from '../../../src/web/snippet/history.ts'
import type { BrowserStore } from '../../../src/web/snippet/parts.ts'

/** What a browser and the server know together of a person and a flow. */

const here = { ...noHistory }
const there = { ...noHistory }

test.each([
  ['nothing', {}, {}, {}],
  [
    'what the server alone knows',
    {},
    { runs: 2, startedAt: 20, completedAt: 30, dismissedAt: 10 },
    { runs: 2, startedAt: 20, completedAt: 30, dismissedAt: 10 },
  ],
  [
    'what this browser alone knows, or knows already',
    { runs: 2, startedAt: 20, completedAt: 30, dismissedAt: 10 },
    {},
    { runs: 2, startedAt: 20, completedAt: 30, dismissedAt: 10 },
  ],
  [
    'of each time the later, of counts the larger',
    { runs: 3, startedAt: 20, completedAt: 30, dismissedAt: null },
    { runs: 2, startedAt: 25, completedAt: 29, dismissedAt: 5 },
    { runs: 3, startedAt: 25, completedAt: 30, dismissedAt: 5 },
  ],
  [
    'the run that is open elsewhere',
    { runs: 1, startedAt: 1, dismissedAt: 2, endedRunId: 'mine' },
    { runs: 2, startedAt: 5, openRunId: 'theirs' },
    {
      runs: 2,
      startedAt: 5,
      dismissedAt: 2,
      openRunId: 'theirs',
      inProgress: true,
      endedRunId: 'mine',
    },
  ],
  [
    'none that has ended here, of which the server does not know yet',
    { runs: 1, startedAt: 1, dismissedAt: 2, endedRunId: 'mine' },
    { runs: 1, startedAt: 1, openRunId: 'mine' },
    { runs: 1, startedAt: 1, dismissedAt: 2, endedRunId: 'mine' },
  ],
  [
    'none that was open elsewhere and is no more',
    { runs: 1, startedAt: 1, openRunId: 'theirs' },
    { runs: 1, startedAt: 1, completedAt: 4 },
    { runs: 1, startedAt: 1, completedAt: 4 },
  ],
])('%s', (_, known, told, together) => {
  expect(mergedHistory({ ...here, ...known }, { ...there, ...told })).toEqual({
    ...noHistory,
    ...together,
  })
})

describe('in a browser', () => {
  const memory = () => {
    const values = new Map<string, unknown>()
    return {
      get: name => (values.get(name) as never) ?? null,
      set: (name, value) => values.set(name, structuredClone(value)),
    } as Partial<BrowserStore> as BrowserStore
  }
  const told = (more: object) => ({
    runs: 1,
    startedAt: '2026-11-20T09:30:00.000Z',
    completedAt: null,
    dismissedAt: null,
    openRunId: null,
    ...more,
  })

  test('what the server told is kept by person and flow, beside what happened here', () => {
    const history = createHistory(memory())
    history.change('uann', 'tour', started(5))
    history.learn('uann', { tour: told({ openRunId: 'theirs' }), news: told({}) })
    expect(history.of('uann')).toMatchObject({
      tour: { runs: 1, startedAt: Date.UTC(2026, 10, 20, 9, 30), openRunId: 'theirs' },
      news: { runs: 1 },
    })
    expect(history.of('ubob')).toEqual({})
    history.change('uann', 'tour', ended('dismissed', 'theirs', 9))
    history.learn('uann', { tour: told({ openRunId: 'theirs' }) })
    expect(history.of('uann').tour).toMatchObject({ dismissedAt: 9, openRunId: null })
  })

  test('what a visitor has done is passed on to the user that they turn out to be', () => {
    const history = createHistory(memory())
    history.change('avisitor', 'tour', started(5))
    history.change('avisitor', 'tour', ended('completed', 'one', 6))
    history.change('avisitor', 'news', started(7))
    history.change('uann', 'tour', ended('dismissed', 'two', 3))
    history.adopt('avisitor', 'uann')
    expect(history.of('uann')).toMatchObject({
      tour: { runs: 1, startedAt: 5, completedAt: 6, dismissedAt: 3 },
      news: { runs: 1, startedAt: 7 },
    })
  })

  test('a user who was a visitor for a while does not continue what they had ended before', () => {
    const history = createHistory(memory())
    history.change('uann', 'tour', ended('dismissed', 'one', 5))
    history.change('avisitor', 'news', started(7))
    history.adopt('avisitor', 'uann')
    history.learn('uann', { tour: told({ openRunId: 'one' }) })
    expect(history.of('uann').tour).toMatchObject({ dismissedAt: 5, openRunId: null })
    history.change('avisitor', 'tour', started(8))
    history.adopt('avisitor', 'uann')
    history.learn('uann', { tour: told({ openRunId: 'one' }) })
    expect(history.of('uann').tour).toMatchObject({ openRunId: null })
  })
})
