import { expect, test } from 'bun:test'
import { flowsShowing } from '../../../src/modules/images/service.ts'
import type { AuthoredFlow } from '../../../src/storage/interfaces/authoring.ts'

const id = '5f3a9c1e0b7d42685f3a9c1e0b7d4268'
const address = `https://cairn.example.com/images/${id}.png`

const flow = (key: string, draft: object | null, published: object | null) =>
  ({
    ...{ key, draft: draft && { name: `Draft of ${key}`, ...draft } },
    newest: published && { definition: { name: `Flow ${key}`, ...published } },
  }) as unknown as AuthoredFlow

test('an image is shown by flows that have its address in their draft or newest version', () => {
  const media = { steps: [{ media: { image: address } }] }
  const text = { steps: [{ body: `See ![chart](${address})` }] }
  const flows = [
    flow('published', null, media),
    flow('drafted', text, { steps: [] }),
    flow('removed-in-draft', { steps: [] }, media),
    flow('another', null, { steps: [{ media: { image: address.replace('5f3a', '0000') } }] }),
  ]
  expect(flowsShowing({ id }, flows)).toEqual([
    { key: 'published', name: 'Flow published' },
    { key: 'drafted', name: 'Draft of drafted' },
    { key: 'removed-in-draft', name: 'Draft of removed-in-draft' },
  ])
})
