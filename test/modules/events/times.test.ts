import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { storedEvents } from '../../support/ledger.ts'
import { Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

const world = new World({ retentionDays: 90 })
afterAll(() => world.close())

let tenant: Tenant
beforeEach(async () => {
  tenant = await Tenant.of(world)
})

const day = 86_400_000
const hour = 3_600_000
const now = () => world.clock.now()
const iso = (at: number) => new Date(at).toISOString()

/** The stored times of one event, or the code that it was refused by. */
async function times(occurredAt: unknown, sentAt?: unknown) {
  const event = { id: 'e', kind: 'custom', name: 'x', userId: 'u', occurredAt }
  const { status, body } = await tenant.send([event], { sentAt })
  if (status !== 202) return body.results[0].code
  const [stored] = storedEvents(world.database, tenant.row)
  return [stored?.occurredAt, stored?.reportedAt, stored?.receivedAt]
}

describe('without sentAt', () => {
  test('a time in the future becomes the time of receipt; the raw one is kept', async () => {
    expect(await times(iso(now() + 1))).toEqual([now(), now() + 1, now()])
    const year9999 = Date.UTC(9999, 11, 31)
    tenant = await Tenant.of(world)
    expect(await times('9999-12-31T00:00:00Z')).toEqual([now(), year9999, now()])
  })

  test('the retention’s last millisecond is accepted, the one before it is too old', async () => {
    const oldest = now() - 90 * day
    expect(await times(oldest - 1)).toBe('too_old')
    expect(await times(oldest)).toEqual([oldest, oldest, now()])
  })
})

describe('with sentAt', () => {
  test('a clock an hour slow is corrected by the whole difference', async () => {
    const sentAt = iso(now() - hour)
    expect(await times(iso(now() - hour - 5_000), sentAt)).toEqual([
      now() - 5_000,
      now() - hour - 5_000,
      now(),
    ])
  })

  test('a clock an hour fast is corrected too', async () => {
    expect(await times(now() + hour - 5_000, now() + hour)).toEqual([
      now() - 5_000,
      now() + hour - 5_000,
      now(),
    ])
  })

  test('up to 60 s count as network delay, and nothing is corrected', async () => {
    expect((await times(now() - 70_000, now() - 60_000))[0]).toBe(now() - 70_000)
    tenant = await Tenant.of(world)
    expect((await times(now() - 70_000, now() - 60_001))[0]).toBe(now() - 9_999)
  })

  test('an event without a time is not corrected: it occurred now', async () => {
    expect(await times(undefined, now() - hour)).toEqual([now(), null, now()])
  })

  test('a time corrected past the retention is too old, and past the receipt is the receipt', async () => {
    expect(await times(now() - 90 * day, now() + hour)).toBe('too_old')
    expect((await times(now(), now() - hour))[0]).toBe(now())
  })

  test('what is too old by sentAt alone is refused with a word about it', async () => {
    const why = async (occurredAt: number) => {
      const event = { kind: 'custom', name: 'x', userId: 'u', occurredAt }
      return (await tenant.send([event], { sentAt: Date.UTC(2099, 0) })).body.results[0]
    }
    expect(await why(now())).toMatchObject({
      code: 'too_old',
      message: expect.stringMatching(/^By sentAt, .*: correct sentAt, or leave it out$/),
    })
    expect(await why(now() - 91 * day)).toMatchObject({
      code: 'too_old',
      message: 'This occurred longer ago than events are kept',
    })
  })
})
