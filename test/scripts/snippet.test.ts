import { expect, test } from 'bun:test'
import { maxPageBytes, maxStageBytes, snippetSizes } from '../support/snippet-sizes.ts'

test('what every page loads of the snippet is at most 16 KiB, gzipped', () => {
  const [page] = snippetSizes()
  expect(page?.what).toBe('on every page')
  expect(page?.gzip).toBeLessThanOrEqual(maxPageBytes)
})

test('what is loaded for the first flow is within its bound, gzipped', () => {
  const stage = snippetSizes().find(({ what }) => what === 'the renderer, on demand')
  expect(stage?.gzip).toBeLessThanOrEqual(maxStageBytes)
})
