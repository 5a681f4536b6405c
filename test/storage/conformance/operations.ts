import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { AppError } from '../../../src/core/errors.ts'
import { auditor } from '../../../src/core/organisation/audit.ts'
import { retryDeadLetters } from '../../../src/modules/operations/service.ts'
import type { OpenStore, Store } from './store.ts'
import { actor, definitionOf, rebuilt, Tenant } from './tenant.ts'

const operation = { at: 7, actor, action: 'test', subject: 'database', note: null }

const flow = definitionOf({
  key: 'tour',
  steps: [{ key: 'a', kind: 'modal', title: 'A' }],
  checklist: { items: [{ key: 'one', title: 'One' }] },
})

export function operationsConform(open: OpenStore): void {
  let store: Store
  let tenant: Tenant
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store.close())
  beforeEach(async () => {
    tenant = await Tenant.of(store)
    await tenant.publish(flow)
  })

  const event = (id: string, userId = id) =>
    tenant.event(id, {
      ...{ kind: 'flow_started', flowKey: 'tour', userId },
      ...{ url: `https://app.example/${id}`, properties: `{"of":"${id}"}` },
    })

  const operations = () => store.management.operations
  const deadLetterIds = async () =>
    (await operations().deadLetterIds(tenant.ref)).map(({ id }) => id)
  const retry = async (ids: number[]) => {
    const audit = auditor(actor, store.clock.now())
    const retried = await retryDeadLetters(operations(), tenant.ref, { ids }, audit)
    return retried.map(({ verdict }) => verdict)
  }
  const stored = async () => (await tenant.events()).map(({ id }) => id)

  /** Sends events whose ids contain "bad" together with a good one, so that they become dead letters. */
  async function addDeadLetters(...ids: string[]): Promise<number[]> {
    const release = await store.refuse('bad')
    const { deadLetters } = await tenant.append([event('good'), ...ids.map(id => event(id))])
    expect(deadLetters).toEqual(ids.map((_, i) => i + 1))
    await release()
    return deadLetterIds()
  }

  test('the nodes that share the database, if any do, are known, and none is ahead of the last change', async () => {
    const seen = await operations().nodes()
    if (!seen.isShared) return
    expect(seen.nodes).not.toEqual([])
    for (const { state, change } of seen.nodes) {
      expect(state).toBeOneOf(['running', 'behind'])
      expect(change).toBeLessThanOrEqual(seen.change)
    }
  })

  describe('what the database rejects', () => {
    test('affects nothing else in its transaction, of any organisation, and leaves its id free', async () => {
      const other = await Tenant.of(store)
      const release = await store.refuse('bad')
      const outcomes = await Promise.all([
        tenant.append([event('a'), event('bad'), event('c')]),
        tenant.append([event('d')]),
        other.append([other.event('e', { kind: 'custom', name: 'x', userId: 'u' })]),
      ])
      await release()
      expect(outcomes.map(({ deadLetters }) => deadLetters)).toEqual([[1], [], []])
      expect(await stored()).toEqual(['a', 'c', 'd'])
      expect(await tenant.runs('tour')).toHaveLength(3)
      expect(await other.events()).toHaveLength(1)
      expect(await tenant.append([event('bad')])).toMatchObject({ deadLetters: [], duplicates: [] })
    })

    test('is found in a group of hundreds', async () => {
      const release = await store.refuse('bad')
      const outcomes = await Promise.all(
        Array.from({ length: 300 }, (_, i) => tenant.append([event(i === 150 ? 'bad' : `${i}`)])),
      )
      await release()
      const refused = outcomes.flatMap(({ deadLetters }, i) => (deadLetters.length > 0 ? [i] : []))
      expect(refused).toEqual([150])
      expect(await stored()).toHaveLength(299)
    })

    test('is listed with its time, kind and reason, and without anybody’s name', async () => {
      const [id] = (await addDeadLetters('bad-1')) as [number]
      const { letters, count } = await operations().deadLetters(tenant.ref, 10)
      expect([letters, count]).toEqual([
        [
          {
            ...{ id, organisation: tenant.id, receivedAt: store.clock.now(), eventId: 'bad-1' },
            ...{ kind: 'flow_started', reason: expect.any(String) },
          },
        ],
        1,
      ])
      await addDeadLetters('bad-2')
      expect(await operations().deadLetters(tenant.ref, 1)).toMatchObject({
        letters: [{ id }],
        count: 2,
      })
    })

    test('is stored once when it is retried, complete and with its original time of receipt', async () => {
      const receivedAt = store.clock.now()
      const ids = await addDeadLetters('bad-1', 'bad-2')
      store.clock.advance(86_400_000)
      expect(await retry(ids)).toEqual(['stored', 'stored'])
      expect(await deadLetterIds()).toEqual([])
      expect((await tenant.events()).find(({ id }) => id === 'bad-2')).toMatchObject({
        ...{ userId: 'bad-2', url: 'https://app.example/bad-2', properties: '{"of":"bad-2"}' },
        ...{ occurredAt: receivedAt, receivedAt, source: 'events' },
      })
      expect(await tenant.runs('tour')).toHaveLength(3)
      expect(await rebuilt(store)).toBe(0)
      expect(await tenant.append([event('bad-1')])).toMatchObject({ duplicates: [0] })
    })

    test('is retried in full, even if it is more than one transaction takes', async () => {
      const ids = await addDeadLetters(...Array.from({ length: 110 }, (_, i) => `bad-${i}`))
      expect(new Set(await retry(ids))).toEqual(new Set(['stored']))
      expect(await deadLetterIds()).toEqual([])
      expect(await stored()).toHaveLength(111)
    })

    test('is a duplicate, and gone, if it was sent again before the retry', async () => {
      const ids = await addDeadLetters('bad-1')
      await tenant.append([event('bad-1', 'other')])
      expect(await retry(ids)).toEqual(['duplicate'])
      expect(await deadLetterIds()).toEqual([])
      expect((await tenant.events()).map(({ userId }) => userId)).toEqual(['good', 'other'])
    })

    test('stays if it is rejected again, and its neighbours are stored', async () => {
      const ids = await addDeadLetters('bad-1', 'bad-2', 'bad-3')
      const release = await store.refuse('bad-2')
      expect(await retry(ids)).toEqual(['stored', 'refused', 'stored'])
      await release()
      expect((await operations().deadLetters(tenant.ref, 10)).letters).toMatchObject([
        { eventId: 'bad-2' },
      ])
      expect(await stored()).toEqual(['good', 'bad-1', 'bad-3'])
      expect(await rebuilt(store)).toBe(0)
    })

    test('is retried and dropped by its own organisation alone, with a line in the audit log', async () => {
      const ids = await addDeadLetters('bad-1', 'bad-2')
      const other = await Tenant.of(store)
      const audit = { at: 7, actor, action: 'test', subject: 'dead letters', note: null }
      expect(await operations().dropDeadLetters(other.ref, ids, audit)).toBe(0)
      expect(await operations().retryDeadLetters(other.ref, ids, audit)).toEqual([])
      expect(await operations().dropDeadLetters(tenant.ref, ids.slice(0, 1), audit)).toBe(1)
      expect(await deadLetterIds()).toEqual(ids.slice(1))
      const [line] = await store.management.access.audit(tenant.ref, { most: 1 })
      expect(line).toMatchObject({ at: 7, actor, action: 'test', subject: 'dead letters' })
      const broken = { ...audit, action: null as never }
      await expect(operations().dropDeadLetters(tenant.ref, ids, broken)).rejects.toThrow()
      await expect(operations().retryDeadLetters(tenant.ref, ids, broken)).rejects.toThrow()
      expect(await deadLetterIds()).toEqual(ids.slice(1))
      expect(await stored()).toEqual(['good'])
    })

    test('is listed for all organisations if none is named', async () => {
      const [id] = (await addDeadLetters('bad-1')) as [number]
      const all = await operations().deadLetterIds(null)
      expect(all).toContainEqual({ id, orgRef: tenant.ref })
      expect((await operations().deadLetters(null, 1_000)).count).toBe(all.length)
    })

    test('fails for its caller if it came alone, is kept under its own kind, and is done by a retry', async () => {
      const release = await store.refuse('bad')
      const person = { userId: 'bad', anonymousId: null }
      await expect(tenant.complete('tour', person, { at: 7 })).rejects.toThrow()
      await expect(tenant.tick('tour', person, { one: true })).rejects.toThrow()
      await release()
      const { letters } = await operations().deadLetters(tenant.ref, 10)
      expect(letters.map(({ kind, eventId }) => [kind, eventId])).toEqual([
        ['complete', null],
        ['tick', null],
      ])
      expect((await tenant.stored('ubad')).deadLetters).toMatchObject([
        { report: { type: 'complete', flowId: tenant.flowId('tour') } },
        { report: { type: 'tick', flowId: tenant.flowId('tour') } },
      ])
      expect(await retry(letters.map(({ id }) => id))).toEqual(['stored', 'stored'])
      expect(await tenant.progress('tour', person)).toEqual({
        ticked: { one: store.clock.now() },
        completedAt: 7,
      })
    })

    test('of an erased person is deleted with them, and nobody else’s is', async () => {
      const release = await store.refuse('bad')
      await tenant.append([event('bad-ada'), event('bad-bob')])
      await release()
      const receipt = await tenant.erase('ubad-ada')
      expect(receipt.erased).toMatchObject({ deadLetters: 1 })
      expect((await operations().deadLetters(tenant.ref, 9)).letters).toMatchObject([
        { eventId: 'bad-bob' },
      ])
      expect(await store.traces(['bad-ada', 'bad-bob'])).toEqual(['bad-bob'])
    })

    test('loses the id of an erased person that stands beside another’s', async () => {
      const release = await store.refuse('bad')
      await tenant.append([
        tenant.event('bad', {
          kind: 'custom',
          name: 'x',
          userId: 'bob',
          anonymousId: 'browser-7d1f',
        }),
      ])
      await release()
      await tenant.erase('abrowser-7d1f')
      expect(await retry(await deadLetterIds())).toEqual(['stored'])
      expect(await tenant.events()).toMatchObject([{ userId: 'bob', anonymousId: null }])
      expect(await store.traces(['browser-7d1f'])).toEqual([])
    })
  })

  test('a rebuild reports its progress flow by flow, and changes nothing', async () => {
    await tenant.append([event('a'), event('b')])
    const own = await open()
    const tenants = [await Tenant.of(own), await Tenant.of(own)]
    for (const one of tenants) {
      await one.publish(flow)
      await one.append([one.event('a', { kind: 'flow_started', flowKey: 'tour', userId: 'u' })])
    }
    const told: unknown[] = []
    const done = await own.management.operations.rebuild(operation, progress => told.push(progress))
    expect(done).toEqual({ flows: 2, events: 2, changed: 0 })
    expect(told).toMatchObject([
      { flow: 'tour', flows: 2, flowsDone: 1 },
      { flow: 'tour', flows: 2, flowsDone: 2 },
    ])
    for (const { ref } of tenants) {
      const [line] = await own.management.access.audit(ref, { most: 1 })
      expect(line).toMatchObject(operation)
    }
    await own.close()
  })

  test('compacting the whole database is rejected while a server runs', async () => {
    await expect(operations().compact(operation)).rejects.toBeInstanceOf(AppError)
  })
}
