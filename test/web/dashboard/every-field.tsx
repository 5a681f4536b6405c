import type { TSchema } from '@sinclair/typebox'
import { render } from 'preact'
import { FlowDefinition } from '../../../src/core/flow/flow.ts'
import { FlowForm } from '../../../src/web/dashboard/authoring/form/flow-form.tsx'
import { pointerOf } from '../../../src/web/dashboard/authoring/form/form.ts'

/** Runs in a page: tells at which fields of a flow the form does not show what is wrong with them. */

type Place = readonly (string | number)[]

const branchesOf = (schema: TSchema) => (schema.anyOf ?? []) as TSchema[]

/** A value such as the schema allows; of a mapping, one without fields. */
function sampleOf(schema: TSchema): unknown {
  const [branch] = branchesOf(schema)
  if (branch) return branch.const ?? sampleOf(branch)
  const { type, items } = schema
  if (type === 'array') return [items.properties ? { key: 'x' } : 'x']
  return { object: {}, boolean: true, integer: 1, string: 'x' }[type as string]
}

/** Every field that a file can have, each with a flow that has little else. */
function* fieldsIn(
  schema: TSchema,
  at: Place,
  around: (value: unknown) => unknown,
): Iterable<{ at: Place; flow: unknown }> {
  if (at.length > 0) yield { at, flow: around(sampleOf(schema)) }
  if (at.at(-1) === 'fingerprint') return
  const holder = branchesOf(schema).find(({ type }) => type === 'object') ?? schema
  const { items, properties = {} } = holder
  const isStep = 'key' in properties && at.length > 0
  if (items?.properties) yield* fieldsIn(items, [...at, 0], inner => around([inner]))
  for (const [name, field] of Object.entries<TSchema>(properties)) {
    const beside = isStep && name !== 'key' ? { key: 'x' } : {}
    yield* fieldsIn(field, [...at, name], value => around({ ...beside, [name]: value }))
  }
}

const drawn = () => new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)))

async function lookAt(path: string, flow: unknown): Promise<string[]> {
  const root = document.body.appendChild(document.createElement('div'))
  const problem = { severity: 'error', code: 'bad', path, message: 'Bad!', line: 1, column: 1 }
  const nothing = () => {}
  render(
    <FlowForm
      flow={flow as never}
      problems={[problem as never]}
      isLocked={false}
      isNew={false}
      part={null}
      onPart={nothing}
      change={nothing}
    />,
    root,
  )
  await drawn()
  const find = <Found extends Element>(selector: string) => [
    ...root.querySelectorAll<Found>(selector),
  ]
  const isShown = () => find('.detail .field-problems').some(found => found.checkVisibility())
  const faults: string[] = []
  const inList = find('.outline .field-problems').length > 0
  const signs = find<HTMLElement>('.outline-link').filter(link => link.querySelector('.wrong'))
  if (!inList && signs.length !== 1) faults.push(`${path}: ${signs.length} parts have a sign`)
  signs[0]?.click()
  await drawn()
  if (!inList && !isShown()) faults.push(`${path}: not shown`)
  render(null, root)
  root.remove()
  return faults
}

/** What is wrong, and the number of fields that were looked at. */
async function lookAtAll(): Promise<{ count: number; faults: string[] }> {
  const fields = [...fieldsIn(FlowDefinition, [], value => value)]
  const faults: string[] = []
  for (const { at, flow } of fields) faults.push(...(await lookAt(pointerOf(at), flow)))
  return { count: fields.length, faults }
}

Object.assign(globalThis, { lookAtAll })
