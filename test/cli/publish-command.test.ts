import { expect, test } from 'bun:test'
import { publishCommand } from '../../src/cli/flows/records.ts'

test('the command that publishes a flow can be copied, whatever its key begins with', () => {
  expect(publishCommand('welcome', ' --org harbor')).toBe(
    'cairn flows publish welcome --org harbor',
  )
  expect(publishCommand('-x', ' --org harbor')).toBe('cairn flows publish --org harbor -- -x')
})
