import { describe, expect, test } from 'bun:test'
import { rejectionCodes } from '../../../src/core/event/event.ts'
import { type Evidence, findingsOf } from '../../../src/modules/installation/findings.ts'
import { presenceMarks } from '../../../src/storage/interfaces/gate.ts'
import type { Presence } from '../../../src/storage/interfaces/installation.ts'

const now = Date.UTC(2026, 10, 20, 9, 30)
const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

const seenAt = (ago = minute) => ({ firstAt: now - 30 * day, lastAt: now - ago })
const nothing: Presence = {
  seen: Object.fromEntries(presenceMarks.map(mark => [mark, null])) as Presence['seen'],
  snippetVersion: null,
  skews: [],
  rejections: {},
  erased: 0,
  rejectedOrigins: 0,
  limitedMinutes: {},
  userHashes: { valid: 0, outdated: 0, invalid: 0, missing: 0 },
}
const well: Presence = {
  ...nothing,
  seen: {
    key_used: seenAt(),
    flows_fetched: seenAt(),
    heartbeat: seenAt(),
    events_flowing: seenAt(),
    old_key_used: null,
  },
  snippetVersion: '1.4.0',
}

interface Told extends Omit<Partial<Evidence>, 'presence'> {
  presence?: Partial<Omit<Presence, 'seen'>> & { seen?: Partial<Presence['seen']> }
}

/** Findings of an installation that is well except for the given evidence. */
const findings = ({ presence = {}, ...rest }: Told, base = well) =>
  findingsOf({
    skewMsMedian: null,
    publishedFlows: 1,
    oldKeysEndAt: null,
    identity: null,
    ownVersion: '1.4.0',
    now,
    since: null,
    ...rest,
    presence: { ...base, ...presence, seen: { ...base.seen, ...presence.seen } },
  })

const codes = (told: Told, base = well) =>
  findings(told, base).map(({ severity, code }) => `${severity} ${code}`)

test('an installation that is well has no findings', () => {
  expect(findings({})).toEqual([])
})

const userHashes = { valid: 90, outdated: 0, invalid: 4, missing: 6 }
const table: [string, Told, string[]][] = [
  [
    'hashes of users are required, and many have none',
    { identity: { isEnforced: true }, presence: { userHashes } },
    ['warning identity_refused'],
  ],
  [
    'hashes of users are required, and nobody has one',
    { identity: { isEnforced: true }, presence: { userHashes: { ...userHashes, valid: 0 } } },
    ['error identity_refused'],
  ],
  [
    'hashes of users are required, and a few have none',
    { identity: { isEnforced: true }, presence: { userHashes: { ...userHashes, valid: 1_000 } } },
    [],
  ],
  [
    'hashes of users are only counted',
    { identity: { isEnforced: false }, presence: { userHashes } },
    [],
  ],
  ['nothing used the key', { presence: nothing, publishedFlows: 0 }, ['info snippet_not_seen']],
  [
    'only a back end uses the key',
    { presence: { seen: { flows_fetched: null, heartbeat: null } } },
    ['info snippet_not_seen'],
  ],
  [
    'a heartbeat alone is a snippet',
    { presence: { seen: { flows_fetched: null, events_flowing: null } } },
    [],
  ],
  ['no flow is published', { publishedFlows: 0 }, ['warning nothing_published']],
  [
    'no flow is published, so no event is missed',
    { publishedFlows: 0, presence: { seen: { events_flowing: null } } },
    ['warning nothing_published'],
  ],
  ['no events', { presence: { seen: { events_flowing: null } } }, ['warning no_events']],
  [
    'no events but refused ones',
    { presence: { seen: { events_flowing: null }, rejections: { invalid: 3 } } },
    ['warning no_events', 'warning events_rejected'],
  ],
  [
    'a wrong origin, where others got through',
    { presence: { rejectedOrigins: 3 } },
    ['warning origin_not_allowed'],
  ],
  [
    'wrong origins alone',
    { presence: { rejectedOrigins: 3, seen: { flows_fetched: null, heartbeat: null } } },
    ['error origin_not_allowed'],
  ],
  [
    'limits of two buckets',
    { presence: { limitedMinutes: { events: 4, status: 1 } } },
    ['warning limit_reached', 'warning limit_reached'],
  ],
  [
    'an old key that works and is used',
    { oldKeysEndAt: now + hour, presence: { seen: { old_key_used: seenAt() } } },
    ['warning old_key_used'],
  ],
  [
    'an old key that nobody has used for a day',
    { oldKeysEndAt: now + hour, presence: { seen: { old_key_used: seenAt(day + 1) } } },
    [],
  ],
  [
    'an old key that was last used before its end',
    { oldKeysEndAt: now - hour, presence: { seen: { old_key_used: seenAt(2 * hour) } } },
    [],
  ],
  [
    'an old key that is refused, while the new one is used too',
    { oldKeysEndAt: now - hour, presence: { seen: { old_key_used: seenAt() } } },
    ['warning old_key_used'],
  ],
  [
    'an old key that is refused, and nothing else comes',
    {
      oldKeysEndAt: now - hour,
      presence: { seen: { old_key_used: seenAt(), key_used: seenAt(2 * hour) } },
    },
    ['error old_key_used'],
  ],
  [
    'clocks off in the middle',
    { skewMsMedian: -90_000, presence: { skews: Array(5).fill(-90_000) } },
    ['warning clock_skew'],
  ],
  [
    'the latest of few batches off, such as one that was typed by hand',
    { skewMsMedian: 3 * hour, presence: { skews: [3 * hour, 3 * hour] } },
    [],
  ],
  [
    'all of a few batches off',
    { skewMsMedian: 90_000, presence: { skews: [90_000, 90_000, 90_000, 90_000] } },
    ['info sender_clock_skew'],
  ],
  [
    'clocks off that do not agree by how much',
    { skewMsMedian: 3 * hour, presence: { skews: [0, 90_000, 3 * hour, 5 * hour, 9 * hour] } },
    ['info sender_clock_skew'],
  ],
  [
    'clocks off that agree within a minute, but for some',
    {
      skewMsMedian: 3 * hour,
      presence: { skews: [0, 0, 3 * hour - minute, 3 * hour, 3 * hour + minute] },
    },
    ['warning clock_skew'],
  ],
  [
    'some clocks off',
    { skewMsMedian: 0, presence: { skews: [0, 0, 0, 0, 90_000, -90_000, 3 * hour] } },
    ['info sender_clock_skew'],
  ],
  ['two clocks off', { skewMsMedian: 0, presence: { skews: [0, 0, 0, 90_000, 90_000] } }, []],
  ['an older snippet', { presence: { snippetVersion: '1.3.9' } }, ['warning snippet_outdated']],
  [
    'a snippet from before the release',
    { presence: { snippetVersion: '1.4.0-rc.1' } },
    ['warning snippet_outdated'],
  ],
  [
    'the snippet of a build whose version has its commit, which the snippet leaves out',
    { presence: { snippetVersion: '1.5.0-dev' }, ownVersion: '1.5.0-dev+ff25f2d0caf7' },
    [],
  ],
  [
    'one in the making beside its release',
    { presence: { snippetVersion: '1.5.0-dev' }, ownVersion: '1.5.0+ff25f2d0caf7' },
    ['warning snippet_outdated'],
  ],
  ['a newer snippet', { presence: { snippetVersion: '1.10.0' } }, []],
  ['a snippet of unknown version', { presence: { snippetVersion: null } }, []],
  [
    'a version that is none',
    { presence: { snippetVersion: 'latest' } },
    ['info snippet_version_unknown'],
  ],
  ['a server without a version', { presence: { snippetVersion: '1.3.9' }, ownVersion: 'dev' }, []],
]

test.each(table)('%s', (_, told, expected) => {
  expect(codes(told)).toEqual(expected)
})

describe('refused events', () => {
  test('have a finding for each code, with advice of its own, the most frequent first', () => {
    const rejections = Object.fromEntries(rejectionCodes.map((code, i) => [code, i + 1]))
    const found = findings({ presence: { rejections } })
    expect(found.map(({ message }) => /as (\w+) /.exec(message)?.[1])).toEqual(
      rejectionCodes.toReversed(),
    )
    const advice = new Set(found.map(({ fix }) => fix))
    expect(advice.size).toBe(rejectionCodes.length)
  })
})

test('findings about clocks say whether they are behind or ahead', () => {
  const off = (skewMs: number) =>
    findings({ skewMsMedian: skewMs, presence: { skews: Array(5).fill(skewMs) } })
  const [behind] = off(90_400)
  const [ahead] = off(-90_400)
  const [far] = off(Date.UTC(2026, 0) - Date.UTC(2099, 0))
  expect(far?.message).toContain("73 years ahead of the server's")
  expect(behind?.message).toContain("1 minute behind the server's")
  expect(ahead?.message).toContain("1 minute ahead of the server's")
})

test('each finding is in whole sentences', () => {
  for (const [, told] of table) {
    for (const { message, fix } of findings(told)) {
      expect(message).toMatch(/^[A-Z].*\.$/)
      expect(fix).toMatch(/^[A-Z].*\.$/)
    }
  }
})

test('every command that a finding names exists', async () => {
  const { program } = await import('../../../src/cli/program.ts')
  const all = table.flatMap(([, told]) => findings(told).map(({ fix }) => fix))
  const named = all.flatMap(fix => [...fix.matchAll(/"cairn ([a-z]+) ([a-z]+)([^"]*)"/g)])
  expect(named.length).toBeGreaterThan(5)
  const { commands } = await program()
  for (const [, group, verb, rest = ''] of named) {
    const command = commands
      .find(one => one.name() === group)
      ?.commands.find(one => one.name() === verb)
    expect(command).toBeDefined()
    for (const [flag] of rest.matchAll(/--[a-z-]+/g)) {
      expect(command?.options.map(({ long }) => long)).toContain(flag)
    }
  }
})
