import { expect, test } from 'bun:test'
import { drawnOrder } from '../../../src/web/author/build/buttons.ts'
import { marked, markOf, marks } from '../../../src/web/author/build/marks.ts'

/** How the builder marks words, and which of a flow's buttons a card has where. */

const mark = (label: string) => marks.find(one => one.label === label)!
/** With the chosen words in brackets, before and after. */
function after(text: string, label: string): string {
  const [start, end] = [text.indexOf('['), text.indexOf(']') - 1]
  const plain = text.replace(/[[\]]/g, '')
  const { text: next, from, to } = marked(plain, start, end, mark(label))
  return `${next.slice(0, from)}|${next.slice(from, to)}|${next.slice(to)}`
}

test.each([
  ['some [words]', 'Bold', 'some **|words|**'],
  ['some []', 'Bold', 'some **||**'],
  ['[some] words', 'Italic', '_|some|_ words'],
  ['see [this] page', 'Link', 'see [this](|https://|) page'],
  ['see []', 'Link', 'see [|link text|](https://)'],
  ['[one\ntwo]', 'List', '- |one\n- two|'],
  ['all: [one]', 'List', 'all: \n- |one|'],
  ['a\n[]', 'Image', 'a\n![|description|](https://)'],
])('%p marked as %s', (text, label, expected) => {
  expect(after(text, label)).toBe(expected)
})

test('the keys of a field mark words only with Ctrl or Command', () => {
  const key = (name: string, more = {}) => ({ key: name, ...more }) as KeyboardEvent
  expect(markOf(key('b'))).toBeUndefined()
  expect(markOf(key('B', { ctrlKey: true }))).toBe(mark('Bold'))
  expect(markOf(key('k', { metaKey: true }))).toBe(mark('Link'))
  expect(markOf(key('z', { ctrlKey: true }))).toBeUndefined()
})

test('the button that leads on is drawn last', () => {
  const order = (...actions: ('next' | 'back' | 'dismiss' | 'link')[]) =>
    drawnOrder(actions.map(action => ({ action })))
  expect(order('next', 'dismiss')).toEqual([1, 0])
  expect(order('next', 'link', 'back')).toEqual([0, 2, 1])
  expect(order('back', 'dismiss')).toEqual([0, 1])
  expect(order()).toEqual([])
})
