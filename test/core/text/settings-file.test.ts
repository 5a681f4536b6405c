import { describe, expect, test } from 'bun:test'
import { readSettingsFile } from '../../../src/core/text/settings-file.ts'

const valuesOf = (text: string) => {
  const { settings, faults } = readSettingsFile(text)
  expect(faults).toEqual([])
  return Object.fromEntries(settings.map(({ name, value }) => [name, value]))
}

test('lines are settings, except for blank ones and comments', () => {
  const text = '# a comment\n; another\n\nA=1\r\n  B = 2'.replace('B = 2', 'B=2')
  expect(valuesOf(text)).toEqual({ A: '1', B: '2' })
})

test.each([
  ['A=', ''],
  ['A=a b', 'a b'],
  ['A=a=b#c', 'a=b#c'],
  ['A=$HOME `x` \\n', '$HOME `x` \\n'],
  ['A="a b"', 'a b'],
  ['A="a \\"b\\" \\\\"', 'a "b" \\'],
  ['A=\'a "b" \\\'', 'a "b" \\'],
  ['\ufeffA=1', '1'],
])('%p is %p', (line, value) => {
  expect(valuesOf(line)).toEqual({ A: value })
})

describe('a line that is not a setting is reported with what to do, and never shown', () => {
  test.each([
    ['export A=secret', 'leave out "export"'],
    ['A =secret', 'leave no space before "="'],
    ['secret', 'write NAME=value, or begin a comment with #'],
    ['A="secret', 'put all of the value of A in one pair of quotes, or none'],
    ["A=secret'", 'put all of the value of A in one pair of quotes, or none'],
    ['A="secret" # comment', 'put all of the value of A in one pair of quotes, or none'],
  ])('%p', (line, advice) => {
    const { settings, faults } = readSettingsFile(`\n${line}\nB=1`)
    expect(faults).toEqual([{ line: 2, advice }])
    expect(JSON.stringify(faults)).not.toContain('secret')
    expect(settings.map(({ name }) => name)).toEqual(['B'])
  })

  test('a name that is set twice', () => {
    expect(readSettingsFile('A=1\nA=2').faults).toEqual([
      { line: 2, advice: 'A stands in line 1 already: remove one' },
    ])
  })
})
