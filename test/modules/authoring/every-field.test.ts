import { afterAll, expect, test } from 'bun:test'
import type { TObject, TSchema } from '@sinclair/typebox'
import { readFlowFile } from '../../../src/core/flow/file.ts'
import {
  Flow,
  FlowDefinition,
  Item,
  ItemDefinition,
  Step,
  StepDefinition,
} from '../../../src/core/flow/flow.ts'
import { pageFlow } from '../../../src/core/flow/forms.ts'
import { flowText } from '../../../src/core/flow/text.ts'
import { Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

/** Whatever field a flow has, no way that a flow goes through Cairn may lose it. */

const world = new World()
afterAll(() => world.close())

/** A value that a schema allows. A new field needs nothing more, unless a rule connects it with others. */
function sampleOf(schema: TSchema): unknown {
  const [branch] = (schema.anyOf ?? []) as TSchema[]
  if (branch) return branch.const ?? sampleOf(branch)
  const { type, properties = {}, required = [], minimum = 0, items } = schema
  if (type === 'object') {
    return Object.fromEntries(required.map((name: string) => [name, sampleOf(properties[name])]))
  }
  if (type === 'array') return items ? [sampleOf(items)] : []
  return { boolean: true, integer: minimum, number: minimum }[type as string] ?? 'x'
}

const filled = (schema: TObject, byHand: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(schema.properties).map(([name, field]) => [
      name,
      name in byHand ? byHand[name] : sampleOf(field),
    ]),
  )

const link = '/somewhere'
const rules = [{ attribute: 'plan', op: 'eq', value: 'pro' }]
const written = filled(FlowDefinition, {
  key: 'full',
  kind: 'tour',
  locale: 'en',
  targeting: {
    urls: [{ match: 'prefix', pattern: '/' }],
    audience: { match: 'any', rules },
  },
  schedule: { from: '2020-01-01', timezone: 'Europe/Berlin' },
  when: { delayMs: 5 },
  theme: { accent: '#1f6feb', background: null, text: null, radius: null },
  texts: { de: { title: 'Hallo' } },
  steps: [
    filled(StepDefinition, {
      key: 'one',
      media: { image: '/a.png', alt: 'A' },
      banner: { edge: 'bottom', layout: 'push' },
      question: { type: 'text' },
      page: { match: 'exact', pattern: '/' },
      navigate: '/',
      when: { match: 'all', rules },
      target: {
        ...{ selector: '#a', text: null, nth: null, waitMs: 5, required: true },
        onMissing: 'skip',
      },
      buttons: [{ label: 'Go', action: 'link', href: link }],
    }),
  ],
  checklist: {
    order: 'sequence',
    items: [filled(ItemDefinition, { key: 'first', href: link })],
  },
})

const onlyErrors = (problems: readonly { severity: string }[]) =>
  problems.filter(({ severity }) => severity === 'error')

test('a flow with every field goes through draft, editor, version, export and push unchanged', async () => {
  const { flows, problems } = readFlowFile(JSON.stringify(written), { format: 'json' })
  expect(onlyErrors(problems)).toEqual([])
  const definition = flows[0]!
  expect(Object.keys(definition)).toEqual(Object.keys(FlowDefinition.properties))
  expect(Object.keys(definition.steps[0]!)).toEqual(Object.keys(StepDefinition.properties))
  const items = definition.checklist!.items
  expect(Object.keys(items[0]!)).toEqual(Object.keys(ItemDefinition.properties))

  const tenant = await Tenant.of(world)
  const send = async (what: string, body?: unknown, headers?: Record<string, string>) => {
    const { status, body: response } = await tenant.answer(what, {
      ...{ asOperator: true, body },
      ...(headers && { headers }),
    })
    expect({ what, status, response }).toMatchObject({ what, status: 200 })
    return response
  }
  const draft = '/manage/flows/full/draft'
  await send(`PUT ${draft}`, written, { 'if-none-match': '*' })
  const { etag, text, ...read } = await send(`GET ${draft}?text=1`)
  expect(read.definition).toEqual(definition)

  const checked = await send('POST /manage/validate', { text, normalised: true })
  expect(checked.definitions).toEqual([definition])
  await send(`PUT ${draft}`, checked.definitions[0], { 'if-match': etag })
  await send('POST /manage/publish', { keys: ['full'] }, { 'if-match': '*' })
  const version = await send('GET /manage/flows/full/versions/1')
  expect(version.definition).toEqual(definition)

  const [listed] = (await send('GET /manage/flows?definitions=1')).flows
  expect(listed.published).toEqual(definition)
  const exported = flowText(listed.published)
  const again = readFlowFile(exported).flows
  expect(again).toEqual([definition])
  const pushed = await send('POST /manage/push', { flows: again })
  expect(pushed.flows).toMatchObject([{ outcome: 'unchanged' }])

  const shown = (await tenant.answer(`GET /flows/${listed.id}`)).body
  expect(Object.keys(shown)).toEqual(Object.keys(Flow.properties))
  expect(Object.keys(shown.steps[0])).toEqual(Object.keys(Step.properties))
  expect(Object.keys(shown.checklist.items[0])).toEqual(Object.keys(Item.properties))
  // Fields that only the server sets are ignored.
  await send('POST /manage/push', { flows: [shown] })
})

test('pages get the fields of their schema and no others', () => {
  const { flows } = readFlowFile(JSON.stringify(written), { format: 'json' })
  const noted = { ...flows[0]!, onlyForAuthors: 'Ask Ann' }
  const page = pageFlow({ version: 1, publishedAt: 0, definition: noted })
  expect(page).not.toHaveProperty('onlyForAuthors')
  // @ts-expect-error: what pages get is no definition, for fields of authors are missing in it
  const definition: FlowDefinition = page
  expect(definition).toBe(page as never)
})
