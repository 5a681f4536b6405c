import { expect, test } from 'bun:test'
import type { OpenStore, Store } from './store.ts'
import { actor, always, auditOf, definitionOf, requestedRuns, Tenant } from './tenant.ts'

const list = definitionOf({
  key: 'list',
  steps: [{ key: 'a', title: 'A', kind: 'modal' }],
  checklist: { items: [{ key: 'one', title: 'One', completeOn: { event: 'did_one' } }] },
})

const ann = { userId: 'ann', anonymousId: null }
const range = { from: '2026-11-01', to: '2026-11-30' }

/** Makes an organisation, and stores a little of every kind of data in it. */
async function lived(store: Store): Promise<Tenant> {
  const tenant = await Tenant.of(store)
  const { ref: orgRef } = tenant
  const at = store.clock.now()
  await tenant.publish(list)
  await tenant.append([
    tenant.event('start', { kind: 'flow_started', flowKey: 'list', userId: 'ann', runId: 'r' }),
    tenant.event('did', { kind: 'custom', name: 'did_one', userId: 'ann' }),
  ])
  await tenant.complete('list', ann, { runId: 'r' })
  const step = { orgRef, stepRef: tenant.stepRef('list', 'a'), version: 1, at }
  const nothing = { url: null, snippetVersion: null }
  await store.stores.steps.recordHealth({
    ...{ ...step, ...nothing, person: 'uann', outcome: 'found', selector: null, matchCount: 1 },
    ...{ waitMs: null, message: 'words of ann' },
  })
  await store.stores.presence.recordSnippetVersion(orgRef, '1.2.3', at)
  store.stores.presence.mark(orgRef, 'heartbeat', at)
  await store.management.seen.write()
  const release = await store.refuse('bad')
  await tenant.append([tenant.event('bad', { kind: 'custom', name: 'bad', userId: 'ann' })])
  await release()
  await store.management.access.createToken(
    orgRef,
    {
      ...{ id: `token_${tenant.slug}`, name: 'CI', scopes: ['flows:read'] },
      ...{ createdAt: at, expiresAt: at + 1, sha256: `of ${tenant.slug}` },
    },
    auditOf('token.create'),
  )
  return tenant
}

/** All that one organisation can ask, also with the flow and step of another. */
async function told(tenant: Tenant, of = tenant) {
  const { store, ref } = tenant
  const { stores, management } = store
  const now = store.clock.now()
  const [flow, step] = [of.flowRef('list'), of.stepRef('list', 'a')]
  const entry = await of.flow('list')
  const { versions } = entry
  const runs = { orgRef: ref, flowRef: flow, versions }
  const columns = await Array.fromAsync(stores.analytics.columns(runs, always))
  const { ticked, completedAt } = await stores.checklists.progress(ref, flow, ann)
  return {
    runs: (await Array.fromAsync(stores.analytics.runs(ref, flow, always))).flat(),
    events: (await Array.fromAsync(stores.analytics.events(ref, flow, always))).flat(),
    counted: columns.reduce((sum, { starts }) => sum + starts.length, 0),
    lastStart: await stores.analytics.lastStart(ref, flow),
    ticked: [...ticked.values()],
    completedAt,
    histories: [...(await stores.people.histories(ref, [flow], ann)).values()],
    health: await stores.steps.healthCounts(ref, step, 1, 0),
    evidence: await management.evidence.evidence(ref, step, 1, now),
    baseline: await management.evidence.baseline(ref, step),
  }
}

/** What an organisation can ask only about itself. */
async function own(tenant: Tenant) {
  const { store, ref, id } = tenant
  const { stores, management } = store
  const catalogue = stores.catalogue()
  const organisation = await tenant.organisation()
  return {
    organisation,
    published: (await catalogue.publishedFlows(organisation)).text,
    completedBy: (await catalogue.itemsCompletedBy(organisation, 'did_one')).map(({ id }) => id),
    analytics: await tenant.analytics('list', range),
    ledger: await tenant.events(),
    flows: await management.flows.read(ref),
    runs: await management.runs.runs(ref, 'list', requestedRuns({ max: 9 })),
    versions: await management.flows.versions(ref, 'list'),
    parts: await management.flows.publishedParts(ref, 'list'),
    explained: (await management.explaining.read(ref)).inUse,
    tokens: await management.access.tokens(ref),
    audit: await management.access.audit(ref, { most: 99 }),
    settings: await management.organisations.read(ref, store.clock.now()),
    letters: await management.operations.deadLetters(ref, 99),
    presence: await stores.presence.read(ref, store.clock.now()),
    stored: await tenant.stored('uann'),
    named: (await management.organisations.list({ named: id }, 9)).organisations,
  }
}

export function tenancyConforms(open: OpenStore): void {
  test('no port tells one organisation anything about another', async () => {
    const store = await open()
    const [one, other] = [await lived(store), await lived(store)]
    const empty = await Tenant.of(store)
    await empty.publish(list)
    // Asking with another's flow and step gives the same as asking where nothing is stored.
    const nothing = await told(empty)
    expect(nothing).toMatchObject({ runs: [], events: [], counted: 0, ticked: [], histories: [] })
    expect(await told(empty, one)).toEqual(nothing)
    expect(await told(other, one)).toEqual(nothing)
    expect((await told(one)).counted).toBe(1)

    const before = [await told(one), await own(one)]
    const texts = JSON.stringify([await told(other), await own(other)])
    const itsOwn = [one.id, one.slug, one.snippetKey, one.flowId('list')]
    const parts = await one.flow('list')
    itsOwn.push(...parts.stepRefs.keys(), ...parts.itemRefs.keys())
    expect(itsOwn.filter(text => texts.includes(text))).toEqual([])

    // Nor does anything that another organisation does, to everything it can name, change it.
    const { access, flows, operations, people } = store.management
    const ids = (await operations.deadLetterIds(one.ref)).map(({ id }) => id)
    const audit = { at: 0, actor, action: 'test', subject: 'dead letters', note: null }
    expect(await operations.dropDeadLetters(other.ref, ids, audit)).toBe(0)
    expect(await access.revokeToken(other.ref, `token_${one.slug}`, auditOf('t'))).toBe(false)
    expect(await flows.version(empty.ref, 'other', 1)).toBeNull()
    const { subject, ...erasing } = auditOf('person.erase')
    await people.erase(other.named('uann'), { compact: false }, erasing, () => {})
    await other.withdraw('list', 'archived')
    await other.change({ settings: { retentionDays: 1 } })
    store.clock.advance(2 * 86_400_000)
    await store.retain(90)
    store.clock.advance(-2 * 86_400_000)
    expect([await told(one), await own(one)]).toEqual(before)
    await store.close()
  })

  test('a store that is closed and opened again knows the same, and goes on from there', async () => {
    const store = await open()
    const tenants = [await lived(store), await lived(store)]
    await store.settle()
    const known = async () => {
      const all = []
      for (const tenant of tenants) all.push([await told(tenant), await own(tenant)])
      return all
    }
    const before = await known()
    for (let time = 0; time < 2; time++) {
      await store.reopen()
      expect(await known()).toEqual(before)
    }
    const [tenant] = tenants as [Tenant, Tenant]
    expect(await tenant.complete('list', ann)).toMatchObject({ alreadyCompleted: true })
    const again = tenant.event('start', { kind: 'flow_started', flowKey: 'list', userId: 'ann' })
    expect(await tenant.append([again])).toMatchObject({ duplicates: [0] })
    await tenant.publish({ ...list, name: 'Second' })
    expect((await tenant.flow('list')).versions.map(({ version }) => version)).toEqual([1, 2])
    await store.close()
  })
}
