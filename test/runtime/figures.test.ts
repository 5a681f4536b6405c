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
    const { requests: answered, refusals } = figuresBetween(from, to, () => null)
    expect(answered).toEqual({ total: 310, perSecond: 105 })
    expect(refusals).toEqual([{ status: 429, total: 10, perSecond: 5 }])
  })

  test('organisations: busiest first, silent ones left out, by id and row together', () => {
    const requests = (ofA: number, ofB: number) =>
      [
        ['a', { requests: ofA, limited: 0 }],
        ['b', { requests: ofB, limited: 0 }],
      ] as const
    const from = { ...look(0), traffic: new Map<string | number, object>(requests(10, 10)) }
    const to = {
      ...look(2_000),
      traffic: new Map<string | number, object>([
        ...requests(20, 10),
        ['d', { requests: 30, limited: 0 }],
        [4, { accepted: 8, duplicates: 0, rejected: 2 }],
      ]),
    }
    const nameOf = (key: string | number) => {
      const slug = key === 4 ? 'd' : `${key}`
      return { id: slug, slug }
    }
    const rates = figuresBetween(from, to, nameOf).organisations
    const none = { limited: 0, duplicates: 0 }
    expect(rates).toEqual([
      { slug: 'd', requests: 15, accepted: 4, rejected: 1, ...none },
      { slug: 'a', requests: 5, accepted: 0, rejected: 0, ...none },
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
