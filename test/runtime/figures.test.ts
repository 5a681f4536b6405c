import { describe, expect, test } from 'bun:test'
import { Exposition } from '../../src/runtime/exposition.ts'
import { figuresBetween, type Look, quantileBetween } from '../../src/runtime/figures.ts'

type Sample = readonly [name: string, value: number, labels?: Record<string, string>]

function page(...samples: Sample[]): Exposition {
  const page = new Exposition()
  for (const sample of samples) page.sample(...sample)
  return page
}

const look = (atMs: number, ...samples: Sample[]): Look => ({
  atMs,
  metrics: page(...samples),
  traffic: new Map(),
})

const counts = { requests: 0, limited: 0, accepted: 0, duplicates: 0, rejected: 0 }
const requests = 'cairn_http_requests_total'

describe('what happened between two looks', () => {
  test('rates are per second, totals since the start, and what never happened is left out', () => {
    const from = look(0, [requests, 100, { status: '200' }])
    const to = look(
      2_000,
      [requests, 300, { status: '200' }],
      [requests, 10, { status: '429' }],
      [requests, 0, { status: '500' }],
    )
    const { requests: answered, refusals } = figuresBetween(from, to)
    expect(answered).toEqual({ total: 310, perSecond: 105 })
    expect(refusals).toEqual([{ status: 429, total: 10, perSecond: 5 }])
  })

  test('organisations: busiest first, silent ones left out, and no negative rate after a reset', () => {
    const of = (slug: string, requests: number) =>
      [slug, { ...counts, id: slug, slug, requests }] as const
    const from = { ...look(0), traffic: new Map([of('a', 10), of('b', 10), of('c', 50)]) }
    const to = {
      ...look(2_000),
      traffic: new Map([of('a', 20), of('b', 10), of('c', 8), of('d', 30)]),
    }
    const rates = figuresBetween(from, to).organisations.map(o => [o.slug, o.requests])
    expect(rates).toEqual([
      ['d', 15],
      ['a', 5],
      ['c', 4],
    ])
  })

  test('quantiles cover what was observed in between, by the bucket that holds them', () => {
    const at = (...of: number[]) =>
      page(...of.map((n, i) => ['h_bucket', n, { le: ['0.1', '1', '+Inf'][i]! }] as const))
    const between = (share: number) =>
      quantileBetween(at(100, 100, 100), at(150, 198, 200), 'h', share)
    expect([0.5, 0.98, 0.999].map(between)).toEqual([0.1, 1, Number.POSITIVE_INFINITY])
    expect(quantileBetween(at(1, 1, 1), at(1, 1, 1), 'h', 0.5)).toBeNull()
  })
})
