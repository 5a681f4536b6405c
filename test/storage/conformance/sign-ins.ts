import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newId } from '../../../src/core/organisation/ids.ts'
import { newDashboardSecret } from '../../../src/core/organisation/sessions.ts'
import type {
  NewcomerOrMember,
  NewLink,
  NewSession,
} from '../../../src/storage/interfaces/dashboard.ts'
import type { OpenStore, Store } from './store.ts'
import { auditOf, Tenant } from './tenant.ts'

const minute = 60_000
const provider = 'https://id.example'

export function signInsConform(open: OpenStore): void {
  let store: Store
  let tenant: Tenant
  let other: Tenant
  beforeAll(async () => {
    store = await open()
    tenant = await Tenant.of(store)
    other = await Tenant.of(store)
  })
  afterAll(() => store.close())

  type Begun = NewSession & NewcomerOrMember
  const session = (more: Partial<Begun> = {}): Begun => ({
    ...{ sha256: newDashboardSecret(), role: 'editor', name: 'Ann', isNamed: true },
    ...{ subject: 'ann', issuer: provider, method: 'provider', sid: 'one', isReadOnly: false },
    ...{ createdAt: 60_000, lastSeenAt: 60_000, idleMs: minute, endsAt: 9_000_000 },
    ...more,
  })
  const partsOf = (begun: Begun): [NewcomerOrMember, NewSession] => {
    const { sha256, isReadOnly, sid, createdAt, lastSeenAt, idleMs, endsAt, ...who } = begun
    return [who, { sha256, isReadOnly, sid, createdAt, lastSeenAt, idleMs, endsAt }]
  }
  const newLink = (sha256: string, more: Partial<NewLink>): NewLink => ({
    ...{ sha256, id: newId('invitation'), issuer: 'invitation', subject: sha256 },
    ...{ name: 'Ben', isNamed: true, method: 'invitation', role: 'owner' },
    ...{ createdBy: 'Ann', createdById: null, createdAt: 1, expiresAt: 99 },
    ...more,
  })
  const signIns = () => store.management.signIns
  const find = (sha256: string) => store.management.dashboardSessions.find(sha256)
  const audit = () => auditOf('dashboard.sign_in', 'dashboard')
  const begin = async (more: Partial<Begun> = {}, of = tenant) => {
    const begun = session(more)
    await signIns().beginSession(of.ref, ...partsOf(begun), audit())
    return begun.sha256
  }
  const standing = async (...ones: string[]) =>
    (await Promise.all(ones.map(find))).map(found => found !== null)
  const lines = (of: Tenant) => store.management.access.audit(of.ref, { most: 50 })

  test('a session is found by its hash, with its owner', async () => {
    const begun = session()
    await signIns().beginSession(tenant.ref, ...partsOf(begun), audit())
    const { isReadOnly: _, sid: __, subject: ___, method: ____, ...seen } = begun
    expect(await find(begun.sha256)).toEqual({
      ...seen,
      memberId: expect.any(String),
      organisation: tenant.id,
    } as never)
    expect(await find('of nobody')).toBeNull()
    await store.reopen()
    expect(await find(begun.sha256)).toMatchObject({ name: 'Ann' })
  })

  test('a link is used up by one session, which has its line in the audit log', async () => {
    const sha256 = newDashboardSecret()
    await signIns().createLink(tenant.ref, newLink(sha256, {}), auditOf('dashboard.link', 'x'))
    const link = { method: 'invitation', expiresAt: 99 } as const
    expect(await signIns().link(sha256)).toEqual({ ...link, organisation: tenant.id })
    const before = (await lines(tenant)).length
    const sessions = Array.from({ length: 4 }, () => partsOf(session())[1])
    const redeemed = await Promise.all(
      sessions.map(one => signIns().redeemLink(sha256, one, audit())),
    )
    expect(redeemed.filter(Boolean)).toHaveLength(1)
    const found = await standing(...sessions.map(one => one.sha256))
    expect(found).toEqual(redeemed)
    expect(await find(sessions[redeemed.indexOf(true)]!.sha256)).toMatchObject({
      ...{ organisation: tenant.id, name: 'Ben', role: 'owner' },
    })
    expect(await lines(tenant)).toHaveLength(before + 1)
    expect(await signIns().link(sha256)).toBeNull()
    expect(await signIns().link('of nobody')).toBeNull()
  })

  test('a session that cannot be written is not begun, and its link is not used up', async () => {
    const sha256 = newDashboardSecret()
    const link = newLink(sha256, { name: 'Cem' })
    const broken = auditOf(null as never, 'x')
    await expect(signIns().createLink(tenant.ref, link, broken)).rejects.toThrow()
    expect(await signIns().link(sha256)).toBeNull()
    await signIns().createLink(tenant.ref, link, auditOf('dashboard.link', 'x'))
    const [, begun] = partsOf(session())
    await expect(signIns().redeemLink(sha256, begun, broken)).rejects.toThrow()
    expect(await signIns().link(sha256)).toMatchObject({ expiresAt: 99 })
    expect(await find(begun.sha256)).toBeNull()
  })

  describe('a session ends', () => {
    test('alone, and only by its own organisation', async () => {
      const [one, two] = [await begin({ subject: 'dan' }), await begin({ subject: 'dan' })]
      await signIns().endSession(other.ref, one, true)
      expect(await standing(one, two)).toEqual([true, true])
      await signIns().endSession(tenant.ref, one, false)
      expect(await standing(one, two)).toEqual([false, true])
    })

    test('with all others of the same person in the organisation', async () => {
      const dan = await begin({ subject: 'dan' })
      const alike = [
        await begin({ subject: 'dan', sid: 'two' }),
        await begin({ subject: 'dan', issuer: 'link' }),
        await begin({ subject: 'eve' }),
        await begin({ subject: '' }),
        await begin({ subject: 'dan' }, other),
      ]
      await signIns().endSession(tenant.ref, dan, true)
      expect(await standing(dan, ...alike)).toEqual([false, false, true, true, true, true])
    })

    test('with no other if nobody knows whose it is', async () => {
      const [one, two] = [await begin({ subject: '' }), await begin({ subject: '' })]
      await signIns().endSession(tenant.ref, one, true)
      expect(await standing(one, two)).toEqual([false, true])
    })

    test('if the provider ends its person or its sid, in any organisation, unless it is newer', async () => {
      const fay = { subject: 'fay', sid: 'fay 1' }
      const [first, second, theirs, newer, elsewhere] = [
        await begin(fay),
        await begin({ ...fay, sid: 'fay 2' }),
        await begin({ ...fay, sid: 'fay 3' }, other),
        await begin({ ...fay, createdAt: 70_000 }),
        await begin({ ...fay, issuer: 'https://other.example' }),
      ]
      const said = { issuer: provider, begunBy: 60_000 }
      const bySid = { ...said, subject: null, sid: 'fay 1' }
      expect(await signIns().endSessionsOf({ ...bySid, subject: 'eve' })).toBe(0)
      expect(await signIns().endSessionsOf(bySid)).toBe(1)
      expect(await standing(first, second, theirs)).toEqual([false, true, true])
      expect(await signIns().endSessionsOf({ ...said, subject: 'fay', sid: null })).toBe(2)
      expect(await standing(second, theirs, newer, elsewhere)).toEqual([false, false, true, true])
    })

    test('if it was not seen for longest and its organisation has more than a thousand', async () => {
      const crowded = await Tenant.of(store)
      const oldest = await begin({ lastSeenAt: 50_000 }, crowded)
      const young = await begin({}, crowded)
      await Promise.all(Array.from({ length: 998 }, () => begin({}, crowded)))
      expect(await standing(oldest, young)).toEqual([true, true])
      const last = await begin({}, crowded)
      expect(await standing(oldest, young, last)).toEqual([false, true, true])
    })
  })

  test('a member is removed in the transaction that ends sessions, links and tokens of theirs', async () => {
    const own = await Tenant.of(store)
    const { members, access, managementTokens } = store.management
    const begun = await begin({ subject: 'gil', name: 'Gil', role: 'owner' }, own)
    const stays = await begin({ subject: 'hal', name: 'Hal', role: 'owner' }, own)
    const [gil] = await members.members(own.ref, 1)
    const sha256 = newDashboardSecret()
    const link = newLink(sha256, { createdById: gil!.id })
    expect(await members.invite(own.ref, link, auditOf('member.invite', 'x'))).toBe(true)
    const token = {
      id: newId('token'),
      sha256: newDashboardSecret(),
      name: 'CI',
      createdById: gil!.id,
    }
    const times = { scopes: ['flows:read' as const], createdAt: 1, expiresAt: 9e12 }
    await access.createToken(own.ref, { ...token, ...times }, auditOf('token.create', 'x'))
    const broken = auditOf(null as never, 'x')
    await expect(members.removeMember(own.ref, gil!.id, false, broken)).rejects.toThrow()
    expect(await standing(begun, stays)).toEqual([true, true])
    const remove = (id: string, of = own) =>
      members.removeMember(of.ref, id, false, auditOf('member.remove', 'x'))
    expect(await remove(gil!.id, other)).toBe('not_found')
    expect(await remove(gil!.id)).toBeNull()
    expect(await standing(begun, stays)).toEqual([false, true])
    expect(await signIns().link(sha256)).toBeNull()
    expect((await managementTokens.find(token.sha256))?.revokedAt).not.toBeNull()
    const [hal, ...more] = await members.members(own.ref, 1)
    expect([hal?.name, more]).toEqual(['Hal', []])
    expect(await remove(hal!.id)).toBe('last_owner')
  })

  test('a member gets a name once, another role, and links, only within the organisation', async () => {
    const own = await Tenant.of(store)
    const { members } = store.management
    await begin({ subject: 'ida', name: 'Ida', role: 'owner' }, own)
    const invited = { issuer: 'invitation', method: 'invitation', role: 'viewer' } as const
    await begin({ ...invited, subject: 'jon', name: 'A link', isNamed: false }, own)
    const listed = await members.members(own.ref, 1)
    const jon = listed.find(({ method }) => method === 'invitation')!
    const ida = listed.find(({ method }) => method === 'provider')!
    const name = (text: string) =>
      signIns().nameMember(own.ref, jon.id, text, auditOf('member.name', jon.id))
    const nameNow = async () =>
      (await members.members(own.ref, 1)).find(({ id }) => id === jon.id)?.name
    // Until a name is given, the member has that of the newest link.
    await begin({ ...invited, subject: 'jon', name: 'Another link', isNamed: false }, own)
    expect(await nameNow()).toBe('Another link')
    expect(await name('Ida')).toBe('taken')
    expect(await name('Jon')).toBe('named')
    await begin({ ...invited, subject: 'jon', name: 'A third link', isNamed: false }, own)
    expect(await nameNow()).toBe('Jon')
    expect(await name('Jo')).toBe('named_before')
    const change = (of: Tenant) =>
      members.changeRole(of.ref, jon.id, 'editor', false, auditOf('member.role', jon.id))
    expect(await change(other)).toBe('not_found')
    expect(await change(own)).toBeNull()
    const named = (await members.members(own.ref, 1)).find(({ id }) => id === jon.id)
    expect(named).toMatchObject({ name: 'Jon', role: 'editor' })
    const {
      issuer: _,
      subject: __,
      name: ___,
      isNamed: ____,
      method: _____,
      role: ______,
      ...link
    } = newLink(newDashboardSecret(), {})
    const linked = (id: string) => members.linkMember(own.ref, id, link, auditOf('member.link', id))
    expect(await linked(ida.id)).toBe('no_links')
    expect(await linked(jon.id)).toBeNull()
    expect(await signIns().link(link.sha256)).toMatchObject({ method: 'invitation' })
  })

  test('an invitation that is revoked works no longer', async () => {
    const own = await Tenant.of(store)
    const { members } = store.management
    const link = newLink(newDashboardSecret(), {})
    await members.invite(own.ref, link, auditOf('member.invite', link.id))
    expect(await members.invitations(own.ref, 1)).toMatchObject([{ id: link.id, name: 'Ben' }])
    const revoke = (of: Tenant) =>
      members.revokeInvitation(of.ref, link.id, auditOf('member.invite_revoke', link.id))
    expect(await revoke(other)).toBe(false)
    expect(await revoke(own)).toBe(true)
    expect(await signIns().link(link.sha256)).toBeNull()
    expect(await members.invitations(own.ref, 1)).toEqual([])
  })

  test('the minute in which somebody was seen is recorded', async () => {
    const sha256 = await begin()
    for (const at of [minute + 30_000, 2 * minute + 5, 3 * minute + 7]) {
      store.management.dashboardSessions.seen(sha256, at)
    }
    // Nobody waits for this write, but later writes wait for their turn behind it.
    await begin()
    await begin()
    expect(await find(sha256)).toMatchObject({ lastSeenAt: 3 * minute })
  })
}
