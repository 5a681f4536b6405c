import { describe, expect, test } from 'bun:test'
import { type ServerState, warningsOf, whyNotReady } from '../../src/runtime/readiness.ts'

const mib = 2 ** 20

const seen = {
  freeBytes: 500 * mib,
  totalBytes: 10_000 * mib,
  databaseBytes: 1,
  walBytes: 1,
  fault: null,
}

const good: ServerState = {
  phase: 'serving',
  node: null,
  monotonicMs: 100_000,
  preparing: null,
  dataDir: '/data',
  syncingMs: 0,
  buffer: { isRejecting: false, hasRoom: true },
  disk: { seen, waitingMs: 3 },
}

const withDisk = (more: Partial<Omit<typeof seen, 'fault'>> & { fault?: 'gone' | 'replaced' }) => ({
  disk: { waitingMs: 0, seen: { ...seen, ...more } },
})

const cases: [string, Partial<ServerState>, RegExp[]][] = [
  ['all is well', {}, []],
  ['it starts', { phase: 'starting' }, [/^starting: wait/]],
  ['it erases', { phase: 'starting', preparing: 'erasing: x' }, [/^erasing: x$/]],
  ['it stops, whatever else', { phase: 'stopping', preparing: 'erasing: x' }, [/^stop/]],
  [
    'storage refuses, and so the buffer fills',
    { buffer: { isRejecting: true, hasRoom: false } },
    [/^storage rejects writes: /, /^the ingest buffer is full: /],
  ],
  [
    'the database of all nodes is away, which is no reason to send traffic elsewhere',
    {
      node: { leasedUntil: 90_000, answersUntil: 99_000, followedAt: 50_000, clockAhead: 0 },
      buffer: { isRejecting: true, hasRoom: false },
    },
    [],
  ],
  [
    'a node has its database, and does not know what was changed',
    { node: { leasedUntil: 110_000, answersUntil: 99_000, followedAt: 88_000, clockAhead: 0 } },
    [/^this node has not checked for changes for 12 s: restart/],
  ],
  [
    'a node has its database, and the clock of one of them is wrong',
    {
      node: {
        leasedUntil: 110_000,
        answersUntil: 140_000,
        followedAt: 99_900,
        clockAhead: -61_000,
      },
    },
    [/^the clock of this machine is 61 s behind the database's, so writes get 503: correct it/],
  ],
  ['the disk hangs', { disk: { seen: null, waitingMs: 8_000 } }, [/has not responded for 8 s: /]],
  ['the disk takes long to sync', { syncingMs: 4_000 }, []],
  ['a sync hangs', { syncingMs: 8_000 }, [/^the disk of .* has not responded for 8 s: check/]],
  ['the disk was not looked at yet', { disk: { seen: null, waitingMs: 10 } }, []],
  [
    'the disk is full',
    withDisk({ freeBytes: 63 * mib }),
    [/has 63 MiB free, less than 64 MiB: free/],
  ],
  ['a small disk has room', withDisk({ totalBytes: 100 * mib, freeBytes: 6 * mib }), []],
  [
    'a small disk is full',
    withDisk({ totalBytes: 100 * mib, freeBytes: 4 * mib }),
    [/4\.0 MiB free/],
  ],
  ['the database was deleted', withDisk({ fault: 'gone' }), [/is gone: stop/]],
  ['the database was replaced', withDisk({ fault: 'replaced' }), [/was replaced .*: restart/]],
]

describe('not ready', () => {
  test.each(cases)('%s', (_, state, sentences) => {
    const reasons = whyNotReady({ ...good, ...state })
    expect(reasons).toHaveLength(sentences.length)
    for (const [i, sentence] of sentences.entries()) expect(reasons[i]).toMatch(sentence)
  })
})

test('a node whose database is away is ready, and warns of it while it serves', () => {
  const node = { leasedUntil: 90_000, answersUntil: 99_000, followedAt: 88_000, clockAhead: 0 }
  expect(whyNotReady({ ...good, node })).toEqual([])
  expect(warningsOf({ ...good, node })).toEqual([
    expect.stringMatching(/^the database has not answered for 12 s: writes get 503, and reads/),
  ])
  expect(warningsOf({ ...good, node, phase: 'starting' })).toEqual([])
  expect(warningsOf({ ...good, node: { ...node, followedAt: 99_000 } })).toEqual([])
  expect(warningsOf(good)).toEqual([])
})
