import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import fc from 'fast-check'
import { readFlowFile } from '../../../src/core/flow/file.ts'
import { Flow, type FlowDefinition } from '../../../src/core/flow/flow.ts'
import { flowText } from '../../../src/core/flow/text.ts'
import { flowWorkHere } from '../../../src/core/flow/work.ts'
import { auditor } from '../../../src/core/organisation/audit.ts'
import { maxFlows, newestDefinition } from '../../../src/modules/authoring/rules.ts'
import {
  type Authoring,
  publishFlows,
  pushFlows,
  putDraft,
  unlockFlow,
  withdrawFlows,
} from '../../../src/modules/authoring/service.ts'
import { rightFlow } from '../../support/any-flow.ts'
import type { OpenStore, Rounds, Store } from './store.ts'
import { actor, auditOf, definitionOf, Tenant } from './tenant.ts'

export function authoringConforms(open: OpenStore, rounds: Rounds): void {
  let store: Store
  let tenant: Tenant
  let other: Tenant
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store.close())
  beforeEach(async () => {
    tenant = await Tenant.of(store)
    other = await Tenant.of(store)
  })

  const stepOf = (key: string) => ({ key, title: key })
  const tour = (...steps: string[]) => definitionOf({ key: 'tour', steps: steps.map(stepOf) })

  const authoring = (of = tenant): Authoring => ({
    store: store.management.flows,
    flowWork: flowWorkHere,
    orgRef: of.ref,
    audit: auditor(actor, store.clock.now()),
    now: store.clock.now(),
    note: null,
  })
  const push = (...flows: FlowDefinition[]) => pushFlows(authoring(), flows)
  const pushAndPublish = (...flows: FlowDefinition[]) =>
    pushFlows(authoring(), flows, { publish: true })
  const publish = (...keys: string[]) => publishFlows(authoring(), keys)
  const withdraw = (key: string, to: 'draft' | 'archived') => withdrawFlows(authoring(), [key], to)
  const outcomes = (changes: { outcome: string }[]) => changes.map(({ outcome }) => outcome)
  const flows = async () => (await store.management.flows.read(tenant.ref)).flows

  /** The newest version that callers get; null if they get none. */
  async function seen(key = 'tour', of = tenant): Promise<Flow | null> {
    const { text } = await store.stores.catalogue().publishedFlows(await of.organisation())
    return JSON.parse(text).flows.find((flow: Flow) => flow.key === key) ?? null
  }

  describe('pushing', () => {
    test('makes a draft that no caller sees, whose steps are known as unpublished', async () => {
      const [pushed] = await push(tour('a'))
      expect(pushed).toMatchObject({ outcome: 'created', before: null })
      expect(await flows()).toMatchObject([{ key: 'tour', status: 'draft', newest: null }])
      expect(await seen()).toBeNull()
      const entry = (await store.stores.catalogue().flow(pushed!.flow.id))!
      expect(entry).toMatchObject({ key: 'tour', status: 'draft', versions: [], latest: null })
      expect(await store.stores.catalogue().publishedFlow(entry)).toBeNull()
      const [step] = [...entry.stepRefs.keys()]
      expect(await store.stores.catalogue().step(step!)).toMatchObject({ isPublished: false })
    })

    test('over a published flow does not change what callers see', async () => {
      await pushAndPublish(tour('a'))
      const before = await seen()
      expect(outcomes(await push(tour('a', 'b')))).toEqual(['updated'])
      expect(await flows()).toMatchObject([{ draft: tour('a', 'b') }])
      expect(await seen()).toEqual(before)
    })

    test('a flow equal to the newest version leaves no draft; the same draft twice changes nothing', async () => {
      await pushAndPublish(tour('a'))
      await push(tour('b'))
      expect(outcomes(await push(tour('b')))).toEqual(['unchanged'])
      expect(outcomes(await push(tour('a')))).toEqual(['unchanged'])
      expect(await flows()).toMatchObject([{ draft: null }])
      expect(outcomes(await publish('tour'))).toEqual(['already published'])
    })

    test('records where flows come from until a push says otherwise, and which are locked there', async () => {
      const source = { repository: 'acme/site', commit: '1a2b3c4', path: 'flows/tour.yaml' }
      const origins = new Map([['tour', { source, isLocked: true }]])
      await pushFlows(authoring(), [tour('a')], { publish: true, origins })
      expect(await flows()).toMatchObject([{ source, isLocked: true, draft: null }])
      const edit = () => putDraft(authoring(), tour('b'), () => {})
      await expect(edit()).rejects.toMatchObject({ code: 'flow_locked' })
      await unlockFlow(authoring(), 'tour')
      await edit()
      expect(await flows()).toMatchObject([{ source, isLocked: false, draft: tour('b') }])
      await push(tour('b'))
      expect(await flows()).toMatchObject([{ source, isLocked: false }])
      const none = new Map([['tour', { source: null, isLocked: false }]])
      expect(outcomes(await pushFlows(authoring(), [tour('b')], { origins: none }))).toEqual([
        'unchanged',
      ])
      expect(await flows()).toMatchObject([{ source: null, isLocked: false, draft: tour('b') }])
    })

    test('a key that another organisation uses makes a separate flow', async () => {
      const [ours] = await push(tour('a'))
      const [theirs] = await pushFlows(authoring(other), [tour('a')])
      expect(theirs?.outcome).toBe('created')
      expect(theirs?.flow.id).not.toBe(ours?.flow.id)
      expect(await flows()).toHaveLength(1)
    })

    test('several flows is all or nothing', async () => {
      const broken = { ...tour('a'), key: null } as unknown as FlowDefinition
      await expect(push(tour('a'), broken)).rejects.toThrow()
      expect(await flows()).toEqual([])
    })
  })

  describe('publishing', () => {
    test('freezes the flow of the contract, with ids and positions, and each id finds it', async () => {
      const items = [{ key: 'i', title: 'I', href: '/i', completeOn: { event: 'did_i' } }]
      await pushAndPublish(
        definitionOf({ key: 'tour', name: 'Tour', steps: [stepOf('a'), stepOf('b')] }),
        definitionOf({ key: 'list', checklist: { items } }),
      )
      const [flow, list] = [(await seen())!, (await seen('list'))!]
      expect([...Value.Errors(Flow, flow)]).toEqual([])
      const publishedAt = new Date(store.clock.now()).toISOString()
      expect(flow).toMatchObject({ version: 1, publishedAt })
      expect(flow.steps.map(({ key, position }) => [key, position])).toEqual([
        ['a', 0],
        ['b', 1],
      ])
      const [item] = list.checklist!.items
      expect(item).toMatchObject({ key: 'i', position: 0 })

      const catalogue = store.stores.catalogue()
      const entry = (await catalogue.flow(flow.id))!
      expect(entry).toMatchObject({ id: flow.id, name: 'Tour', status: 'published', latest: flow })
      expect(entry.organisation.id).toBe(tenant.id)
      expect([...entry.steps.values()]).toMatchObject(
        flow.steps.map(({ id, key, title }) => ({ id, key, title })),
      )
      expect(JSON.parse((await catalogue.publishedFlow(entry))!.text)).toEqual(flow)
      const step = (await catalogue.step(flow.steps[1]!.id))!
      expect([step.flow.id, step.isPublished]).toEqual([flow.id, true])
      expect(entry.stepRefs.get(step.id)).toBe(step.ref)
      expect((await catalogue.item(item!.id))?.flow.id).toBe(list.id)
      const organisation = await tenant.organisation()
      const completed = await catalogue.itemsCompletedBy(organisation, 'did_i')
      expect(completed.map(({ id }) => id)).toEqual([item!.id])
      expect(await catalogue.itemsCompletedBy(organisation, 'did_j')).toEqual([])
      for (const look of ['flow', 'step', 'item'] as const) {
        expect(await catalogue[look](`${look}_${'0'.repeat(18)}`)).toBeNull()
      }
    })

    test('is visible at once, ordered by priority and then key, with a new list version each time', async () => {
      const list = async () => store.stores.catalogue().publishedFlows(await tenant.organisation())
      const priorities = { b: 0, a: 0, c: 5 }
      const versions = [(await list()).version]
      for (const [key, priority] of Object.entries(priorities)) {
        await pushAndPublish(definitionOf({ ...tour('s'), key, priority }))
        const { version, count, text, remembered } = await list()
        versions.push(version)
        expect(text).toContain(`"version":"${version}"`)
        expect(remembered).toHaveLength(count)
      }
      expect(new Set(versions).size).toBe(4)
      const { text, hash } = await list()
      expect(JSON.parse(text).flows.map(({ key }: Flow) => key)).toEqual(['c', 'a', 'b'])
      expect((await list()).hash).toBe(hash)
      await withdraw('a', 'archived')
      expect(await seen('a')).toBeNull()
    })

    test('keeps the ids of steps and items that are renamed, moved, or gone for a while', async () => {
      const list = (...items: object[]) =>
        definitionOf({ key: 'tour', checklist: { items }, steps: [...items] })
      const after = async (...items: object[]) => {
        await pushAndPublish(list(...items))
        const { steps, checklist } = (await seen())!
        return [steps, checklist!.items].map(parts =>
          Object.fromEntries(parts.map(({ key, id }) => [key, id])),
        )
      }
      const [steps, items] = await after(stepOf('a'), stepOf('b'))
      const renamed = await after({ key: 'b', title: 'Renamed' }, stepOf('c'))
      expect(renamed).toMatchObject([{ b: steps!.b }, { b: items!.b }])
      const [c, ofItem] = [renamed[0]!.c!, renamed[1]!.c!]
      expect(await after(stepOf('c'), stepOf('b'), stepOf('a'))).toEqual([
        { ...steps!, c },
        { ...items!, c: ofItem },
      ])
      const parts = await store.management.flows.publishedParts(tenant.ref, 'tour')
      expect(parts.stepKeys.toSorted()).toEqual(['a', 'b', 'c'])
      expect(parts.itemKeys.toSorted()).toEqual(['a', 'b', 'c'])
    })

    test('together with pushing is all or nothing', async () => {
      expect(await pushAndPublish(tour('a'))).toMatchObject([
        { outcome: 'created', publication: 'published', before: null },
      ])
      const broken = { ...tour('a'), key: null } as unknown as FlowDefinition
      await expect(pushAndPublish(tour('b'), broken)).rejects.toThrow()
      expect((await seen())?.steps.map(({ key }) => key)).toEqual(['a'])
      expect(await flows()).toMatchObject([{ draft: null, newest: { version: 1 } }])
    })

    test('numbers versions from 1, freezes older ones, and dates each later, even if clocks step back', async () => {
      await pushAndPublish(tour('a'))
      const { flows } = store.management
      const first = await flows.version(tenant.ref, 'tour', 1)
      const by = { publishedBy: { name: actor.name, via: 'command line' as const }, note: null }
      const now = store.clock.now()
      store.clock.wallMs -= 60_000
      await pushAndPublish(tour('b'))
      store.clock.wallMs += 60_000
      expect(await flows.versions(tenant.ref, 'tour')).toEqual([
        { version: 2, publishedAt: now + 1, stepCount: 1, itemCount: 0, ...by },
        { version: 1, publishedAt: now, stepCount: 1, itemCount: 0, ...by },
      ])
      expect(await flows.version(tenant.ref, 'tour', 1)).toEqual(first)
      expect(first).toEqual({ version: 1, publishedAt: now, definition: tour('a') })
      expect((await seen())?.publishedAt).toBe(new Date(now + 1).toISOString())
      expect(await flows.version(tenant.ref, 'tour', 3)).toBeNull()
      expect(await flows.version(other.ref, 'tour', 1)).toBeNull()
      expect(await flows.versions(other.ref, 'tour')).toEqual([])
    })

    test('rejects all flows if validate reports an error in one', async () => {
      const pointless = {
        ...tour('a'),
        key: 'bad',
        steps: tour('a').steps.map(step => ({ ...step, kind: 'tooltip' as const })),
      }
      const shapeless = { ...tour('a'), key: 'odd', priority: 'high' } as unknown as FlowDefinition
      await push(tour('a'), pointless, shapeless)
      await expect(publish('tour', 'bad', 'odd')).rejects.toMatchObject({
        code: 'validation_failed',
        details: [
          {
            path: '/bad/steps/0/target',
            message:
              'A tooltip points at an element: add target with a selector, or make it a modal, banner or slideout',
          },
          {
            path: '/odd/priority',
            message: 'This does not have the shape that a flow has now: push its file again',
          },
        ],
      })
      expect((await flows()).map(({ status }) => status)).toEqual(['draft', 'draft', 'draft'])
      // A withdrawn version that has an error by today's rules is not published again.
      await tenant.publish({ ...pointless, key: 'old' })
      expect(outcomes(await publish('old'))).toEqual(['already published'])
      await withdraw('old', 'draft')
      await expect(publish('old')).rejects.toMatchObject({
        details: [{ path: '/old/steps/0/target' }],
      })
      // What validate only warns about is published.
      await push({ ...tour('a'), steps: [{ ...tour('a').steps[0]!, body: '<b>x</b>' }] })
      expect(outcomes(await publish('tour'))).toEqual(['published'])
    })

    test('without a newer draft brings a withdrawn flow back, without a new version', async () => {
      await pushAndPublish(tour('a'))
      for (const to of ['draft', 'archived'] as const) {
        expect(outcomes(await withdraw('tour', to))).toEqual(['changed'])
        expect(outcomes(await withdraw('tour', to))).toEqual(['unchanged'])
        expect(await seen()).toBeNull()
        expect(outcomes(await publish('tour'))).toEqual(['published again'])
        expect((await seen())?.version).toBe(1)
      }
      expect(outcomes(await publish('tour'))).toEqual(['already published'])
    })

    test('an unknown flow, or one of another organisation, is not found, and nothing is done', async () => {
      await push(tour('a'))
      await expect(publish('tour', 'nope')).rejects.toThrow('Flow not found: nope')
      expect(await seen()).toBeNull()
      await pushFlows(authoring(other), [definitionOf({ ...tour('a'), key: 'theirs' })])
      await expect(publish('theirs')).rejects.toThrow('Flow not found')
    })
  })

  test('an organisation has at most as many flows as its pages can be expected to load', async () => {
    const many = (count: number, name = 'T') =>
      Array.from({ length: count }, (_, i) => ({ ...tour('a'), key: `flow-${i}`, name }))
    const refused = {
      code: 'too_many_flows',
      message: `An organisation can have at most ${maxFlows} flows that are not archived, and this would make ${maxFlows + 1}. Archive some, or leave some out`,
    }
    await expect(push(...many(maxFlows + 1))).rejects.toMatchObject(refused)
    await push(...many(maxFlows))
    await expect(push(tour('a'))).rejects.toMatchObject(refused)
    expect(outcomes(await push(...many(2, 'New')))).toEqual(['updated', 'updated'])
    await pushFlows(authoring(other), [tour('a')])
    await withdraw('flow-0', 'archived')
    expect(outcomes(await push(tour('a')))).toEqual(['created'])
    await expect(publish('flow-0')).rejects.toMatchObject(refused)
    await expect(withdraw('flow-0', 'draft')).rejects.toMatchObject(refused)
    const { inUse, flows } = await store.management.flows.read(tenant.ref, ['tour', 'none'])
    expect([inUse, flows.length]).toEqual([maxFlows, 1])
  })

  test('the text of any stored flow, pushed again, changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(rightFlow, fc.boolean(), async (flow, isPublished) => {
        // Examples have no prototype, which query libraries cannot handle.
        await push(structuredClone(flow))
        if (isPublished) await publish(flow.key)
        const { flows: read } = await store.management.flows.read(tenant.ref, [flow.key])
        const { flows } = readFlowFile(flowText(newestDefinition(read[0]!)))
        expect(outcomes(await push(...flows))).toEqual(['unchanged'])
      }),
      { numRuns: rounds(25) },
    )
  })

  describe('a change of flows', () => {
    const change = (revision: number, name: string, audit = [auditOf('flow.edit', 'tour', 5)]) =>
      store.management.flows.change(tenant.ref, {
        revision,
        changes: [{ key: 'tour', status: 'draft', draft: { ...tour('a'), name }, publish: null }],
        audit,
      })
    const revision = async () => (await store.management.flows.read(tenant.ref, [])).revision

    test('is made once if two are decided at the same time; the other is rejected and does nothing', async () => {
      const read = await revision()
      const changed = await Promise.all([change(read, 'One'), change(read, 'Other')])
      expect(changed.filter(stored => stored === null)).toHaveLength(1)
      const [one] = await flows()
      expect(one?.draft?.name).toBe(changed[0] === null ? 'Other' : 'One')
      expect(
        await store.management.access.audit(tenant.ref, { subject: 'tour', most: 9 }),
      ).toHaveLength(1)
      expect(await revision()).toBeGreaterThan(read)
      expect(await change(read, 'Later')).toBeNull()
    })

    test('and its lines of the audit log are stored together, or neither is', async () => {
      expect(await store.management.flows.lastChange(tenant.ref, 'tour')).toBeNull()
      await change(await revision(), 'One')
      const before = [await revision(), await flows()]
      const broken = auditOf(null as never, 'tour')
      await expect(change(before[0] as number, 'Other', [broken])).rejects.toThrow()
      expect([await revision(), await flows()]).toEqual(before)
      const lines = await store.management.access.audit(tenant.ref, { subject: 'tour', most: 9 })
      expect(lines).toMatchObject([{ action: 'flow.edit', at: 5, actor }])
      expect(await store.management.flows.lastChange(tenant.ref, 'tour')).toEqual({
        by: actor.name,
        at: 5,
      })
    })

    test('succeeds for each of many at once, because the service decides again', async () => {
      const keys = Array.from({ length: 8 }, (_, i) => `flow-${i}`)
      await Promise.all(keys.map(key => push(definitionOf({ ...tour('a'), key }))))
      expect((await flows()).map(({ key }) => key)).toEqual(keys)
    })
  })
}
