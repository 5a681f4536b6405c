import { expect, test } from 'bun:test'
import { mostPageBytes, snippetSizes } from '../support/snippet-sizes.ts'

test('what every page loads of the snippet is at most 15 KiB, gzipped', () => {
  const [page] = snippetSizes()
  expect(page?.what).toBe('on every page')
  expect(page?.gzip).toBeLessThanOrEqual(mostPageBytes)
})
