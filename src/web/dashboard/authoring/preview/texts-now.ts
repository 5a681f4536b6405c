import { isError, parseSource } from '../../../../core/flow/edit/source.ts'
import type { Flow } from '../../../../core/flow/flow.ts'

/** A longer text would slow down the person who types it. */
const longest = 100_000

type Written = Readonly<Record<string, unknown>>

const isMap = (value: unknown): value is Written => typeof value === 'object' && value !== null

/** What is known, with those of the fields that are written as texts taken from the new text. */
function over<Known extends object>(
  known: Known,
  written: unknown,
  fields: (keyof Known)[],
): Known {
  if (!isMap(written)) return known
  const texts = fields
    .map(name => [name, written[name as string]] as const)
    .filter(([, value]) => typeof value === 'string')
  return { ...known, ...Object.fromEntries(texts) }
}

const listIn = (written: unknown, name: string): unknown[] => {
  const list = isMap(written) ? written[name] : null
  return Array.isArray(list) ? list : []
}

const withKey = (list: unknown[], key: string) => list.find(one => isMap(one) && one.key === key)

/**
 * A flow with the current titles, bodies and labels of its known parts from the text. Everything else
 * waits until the server has judged the text, a moment after it was typed. Null if it cannot be read.
 */
export function withTextsOf(flow: Flow, text: string): Flow | null {
  if (text.length > longest) return flow
  const read = parseSource(text)
  if (isError(read)) return null
  const written = read.value
  const steps = listIn(written, 'steps')
  const items = listIn(isMap(written) ? written.checklist : null, 'items')
  return {
    ...over(flow, written, ['name', 'title']),
    steps: flow.steps.map(step => {
      const now = withKey(steps, step.key)
      const labels = listIn(now, 'buttons')
      const buttons = step.buttons.map((button, i) => over(button, labels[i], ['label']))
      return { ...over(step, now, ['title', 'body']), buttons }
    }),
    checklist: flow.checklist && {
      ...flow.checklist,
      items: flow.checklist.items.map(item =>
        over(item, withKey(items, item.key), ['title', 'description']),
      ),
    },
  }
}
