import { expect, test } from 'bun:test'
import { readFlowFile } from '../../../src/core/flow/file.ts'
import { keyFor } from '../../../src/web/dashboard/templates/new-draft.ts'
import { templates } from '../../../src/web/dashboard/templates/templates.ts'

/** Flows that authors begin with. */

test('there are eleven, each with an id and a goal of its own', () => {
  expect(templates).toHaveLength(11)
  expect(new Set(templates.map(({ id }) => id)).size).toBe(11)
  expect(new Set(templates.map(({ goal }) => goal)).size).toBe(11)
})

test.each(templates.map(template => [template.goal, template] as const))(
  '%s is one flow without errors and warnings, and says what is to be picked',
  (_, { text, todo }) => {
    const { flows, problems } = readFlowFile(text, { format: 'yaml' })
    expect(problems).toEqual([])
    expect(flows).toHaveLength(1)
    const pointsAtElements = flows[0]!.steps.some(({ target }) => target !== null)
    expect(/pick/i.test(todo ?? '')).toBe(pointsAtElements)
  },
)

test('a name becomes a key that is free', () => {
  const flows = [{ key: 'welcome-tour' }, { key: 'welcome-tour-2' }, { key: 'flow' }]
  expect(keyFor('What’s new', flows)).toBe('what-s-new')
  expect(keyFor('Welcome tour', flows)).toBe('welcome-tour-3')
  expect(keyFor('你好', flows)).toBe('flow-2')
  expect(keyFor('x'.repeat(200), flows)).toHaveLength(58)
})
