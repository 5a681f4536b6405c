import { stringify } from 'yaml'
import { hasUnseen, withEscapes } from '../text/unseen.ts'
import type { FlowDefinition } from './flow.ts'
import { minimalFlow } from './minimal.ts'
import { isMapping, type Mapping, type Plain } from './plain.ts'

/**
 * A flow's canonical text: minimal YAML, the same for the same definition. Reading it with `readFlowFile`
 * gives exactly the definition, so two flows are equal if their texts are.
 */
export function flowText(definition: FlowDefinition): string {
  return fieldsText(minimalFlow(definition))
}

/** A mapping as flows are written. */
export const fieldsText = (fields: Mapping): string => `${fieldLines(fields, '').join('\n')}\n`

/** The width, in columns, to which text is broken where that is possible. */
const width = 80

/** A list or mapping with no more entries than this stays on one line. */
const maxInline = 4

function fieldLines(fields: Mapping, indent: string): string[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    valueLines(`${indent}${name}:`, value, indent),
  )
}

/** A field or list entry. `head` is the text before the value, including its indent. */
export function valueLines(head: string, value: Plain, indent: string): string[] {
  const below = `${indent}  `
  if (typeof value === 'string') return textLines(head, value, below)
  const inline = `${head} ${inlined(value)}`
  if (typeof value !== 'object' || value === null || isShort(value, inline)) return [inline]
  if (!Array.isArray(value)) return [head, ...fieldLines(value, below)]
  return [head, ...entryLines(value, below)]
}

/** The first field of a mapping is beside the dash. Steps and items have an empty line between them. */
function entryLines(entries: Plain[], indent: string): string[] {
  const inline = entries.map(entry => `${indent}- ${inlined(entry)}`)
  // All entries or none, so that they look alike.
  if (entries.every((entry, i) => isMapping(entry) && isShort(entry, inline[i]!))) return inline
  return entries.flatMap((entry, i) => {
    const isOfFields = isMapping(entry) && Object.keys(entry).length > 0
    if (!isOfFields) return valueLines(`${indent}-`, entry, indent)
    const [first = '', ...rest] = fieldLines(entry, `${indent}  `)
    const room = i > 0 && 'key' in entry ? [''] : []
    return [...room, `${indent}- ${first.trimStart()}`, ...rest]
  })
}

/**
 * Whether a value reads better on one line: it has few plain values, and is not a step or item, which has a
 * key.
 */
function isShort(value: Mapping | Plain[], inline: string): boolean {
  const entries = Object.values(value)
  if (entries.length === 0) return true
  if (inline.length > width) return false
  if (!Array.isArray(value) && ('key' in value || entries.length > maxInline)) return false
  return entries.every(
    entry =>
      isWord(entry) || (Array.isArray(entry) && !Array.isArray(value) && entry.every(isWord)),
  )
}

const isWord = (value: Plain) =>
  value === null || (typeof value === 'string' ? !value.includes('\n') : typeof value !== 'object')

/** A value on one line, in a form that is also valid within brackets. */
function inlined(value: Plain): string {
  if (typeof value === 'string') return inlinedText(value)
  if (Array.isArray(value)) return `[${value.map(inlined).join(', ')}]`
  if (!isMapping(value)) return String(value)
  const fields = Object.entries(value).map(([name, field]) => `${name}: ${inlined(field)}`)
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
}

const inlinedText = (text: string) =>
  hasUnseen(text) || text.includes('\n')
    ? quotedText(text)
    : stringify([text], { collectionStyle: 'flow', lineWidth: 0 }).slice(2, -3)

/** A text after the name of its field: plain, in quotes, or as a block below. */
function textLines(head: string, text: string, below: string): string[] {
  if (hasUnseen(text)) return [`${head} ${quotedText(text)}`]
  if (text.includes('\n')) {
    const lines = text.replace(/\n$/, '').split('\n')
    if (!isBlock(lines)) return [`${head} ${quotedText(text)}`]
    const header = text.endsWith('\n') ? '|' : '|-'
    return [`${head} ${header}`, ...lines.map(line => line && below + line)]
  }
  const line = `${head} ${stringify({ _: text }, { lineWidth: 0 }).slice('_: '.length, -1)}`
  if (line.length <= width || !isFoldable.test(text)) return [line]
  return [`${head} >-`, ...folded(text, below)]
}

/** YAML may lose lines that begin with blanks, consist only of blanks, or are empty at the end. */
const isBlock = (lines: readonly string[]) =>
  !/^[ \t]/.test(lines[0]!) &&
  lines[0] !== '' &&
  lines.at(-1) !== '' &&
  lines.every(line => line === '' || line.trim() !== '')

/** Words with single spaces between them: YAML reads a line break in place of a space as that space. */
const isFoldable = /^\S+(?: \S+)+$/

function folded(text: string, indent: string): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line === undefined || line.length + 1 + word.length > width) lines.push(indent + word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines
}

/** In double quotes, by JSON's rules. YAML has the same, except for characters of two UTF-16 units. */
const quotedText = (text: string) =>
  withEscapes(JSON.stringify(text), char => {
    const code = char.codePointAt(0)!.toString(16)
    return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`
  })
