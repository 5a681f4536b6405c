import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The dashboard's styles and what uses them: neither names a class that the other does not know. */

const folder = join(import.meta.dir, '../../../src/web/dashboard')

const textsOf = (end: RegExp) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => end.test(name))
    .map(name => readFileSync(join(folder, name), 'utf8'))
    .join('\n')

const styles = textsOf(/\.css$/).replace(/\/\*[\s\S]*?\*\/|url\([^)]*\)|@import.*/g, '')
const selectors = [...styles.matchAll(/([^{}]+)\{/g)].map(([, selector]) => selector).join('\n')
const styled = new Set([...selectors.matchAll(/\.([a-z][\w-]*)/gi)].map(([, name]) => name!))

/** Parts of names that a rule is for, such as those of all keys of charts. */
const parts = [...selectors.matchAll(/\[class[$^*]="([^"]+)"\]/g)].map(([, part]) => part!)
const hasStyle = (name: string) => styled.has(name) || parts.some(part => name.includes(part))

const source = textsOf(/\.tsx?$/)
/** Every word of a text in the source: names of classes are often put together. */
const texts = [...source.matchAll(/'[^'\n]*'|"[^"\n]*"|`[^`]*`/g)].map(([text]) => text)
const words = new Set(texts.flatMap(text => text.match(/[a-z][\w-]*/gi) ?? []))

test('every class that has a style is used', () => {
  expect([...styled].filter(name => !words.has(name))).toEqual([])
})

test('every class that is used has a style, or is looked up', () => {
  const used = [...source.matchAll(/class="([^"]*)"/g)].flatMap(([, names]) => names!.split(' '))
  const lookedUp = (name: string) => source.includes(`.${name}`)
  expect(used.filter(name => !hasStyle(name) && !lookedUp(name))).toEqual([])
})
