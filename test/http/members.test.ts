import { afterAll, describe, expect, test } from 'bun:test'
import type { Role } from '../../src/core/organisation/access.ts'
import { dayMs, hourMs } from '../../src/core/time/durations.ts'
import type { CreatedInvitation, MemberList } from '../../src/modules/members/schema.ts'
import { linkCode, Visitor } from '../support/dashboard-visitor.ts'
import { Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/** Who may sign in to the dashboard: invitations, roles, and what ends with a member. */

const world = new World()
afterAll(() => world.close())

/** An organisation with an owner who is signed in. */
async function organisation() {
  const tenant = await Tenant.of(world)
  tenant.limit({ manage: 1e6 })
  return { tenant, ann: await Visitor.of(tenant, 'owner', 'Ann') }
}

const asked = async (visitor: Visitor, what: string, body?: unknown) => {
  await visitor.refresh()
  const response = await visitor.api(`${what}`, {}, body)
  const text = await response.text()
  return { status: response.status, body: text === '' ? null : JSON.parse(text) }
}

const list = async (visitor: Visitor): Promise<MemberList> =>
  (await asked(visitor, 'GET /manage/members')).body

const memberNamed = async (visitor: Visitor, name: string) =>
  (await list(visitor)).members.find(member => member.name === name)!

const invite = async (visitor: Visitor, role: Role, name?: string): Promise<CreatedInvitation> => {
  const body = { role, ...(name !== undefined && { name }) }
  const { status, body: invitation } = await asked(
    visitor,
    'POST /manage/members/invitations',
    body,
  )
  expect(status).toBe(201)
  return invitation
}

async function enter(tenant: Tenant, code: string): Promise<Visitor> {
  const visitor = new Visitor(tenant)
  expect((await visitor.redeem({ code })).status).toBe(200)
  await visitor.refresh()
  return visitor
}

const invited = async (tenant: Tenant, owner: Visitor, role: Role, name: string) =>
  enter(tenant, (await invite(owner, role, name)).code)

/** What the log says, newest first. */
const auditOf = async (visitor: Visitor) =>
  ((await asked(visitor, 'GET /manage/audit')).body as { lines: Record<string, unknown>[] }).lines

const errorOf = ({ status, body }: { status: number; body: { code?: string } | null }) => [
  status,
  body?.code,
]

describe('an invitation', () => {
  test('makes one person a member, once, within seven days', async () => {
    const { tenant, ann } = await organisation()
    const { code, ...invitation } = await invite(ann, 'editor', 'Ben')
    expect(invitation).toMatchObject({ name: 'Ben', role: 'editor', createdBy: 'Ann' })
    expect((await list(ann)).invitations).toEqual([invitation] as never)
    const ben = await enter(tenant, code)
    expect((await new Visitor(tenant).redeem({ code })).status).toBe(401)
    const { members, invitations } = await list(ann)
    expect(invitations).toEqual([])
    expect(members.map(({ name, role, method }) => [name, role, method])).toEqual([
      ['Ann', 'owner', 'link'],
      ['Ben', 'editor', 'invitation'],
    ])
    expect((await asked(ben, 'GET /manage/me')).body).toMatchObject({ name: 'Ben' })
    const late = await invite(ann, 'viewer')
    world.clock.advance(7 * dayMs)
    expect((await new Visitor(tenant).redeem({ code: late.code })).status).toBe(401)
  })

  test('without a name asks the person, once, and takes no name that another member has', async () => {
    const { tenant, ann } = await organisation()
    const visitor = await enter(tenant, (await invite(ann, 'viewer')).code)
    const person = async () => ((await visitor.ask('token')).body as { person: object }).person
    expect(await person()).toMatchObject({ isNamed: false })
    for (const name of ['Ann', 'ＡＮＮ', ' Cem', 'C\u200bem', '', 'x'.repeat(101)]) {
      expect([name, (await visitor.ask('name', { name })).status]).toEqual([name, 422])
    }
    expect((await visitor.ask('name', { name: 'Cem' })).status).toBe(200)
    expect((await visitor.ask('name', { name: 'Dan' })).status).toBe(422)
    expect(await person()).toMatchObject({ name: 'Cem', isNamed: true })
    expect((await auditOf(ann))[0]).toMatchObject({
      action: 'member.name',
      actor: 'invited by Ann',
      subject: 'Cem',
    })
  })

  test('can be revoked until it is used', async () => {
    const { tenant, ann } = await organisation()
    const { id, code } = await invite(ann, 'owner', 'Ben')
    const revoke = () => asked(ann, `DELETE /manage/members/invitations/${id}`)
    expect((await revoke()).status).toBe(204)
    expect(errorOf(await revoke())).toEqual([404, 'not_found'])
    expect((await new Visitor(tenant).redeem({ code })).status).toBe(401)
  })

  test('and all that follows is in the audit log by name, its code nowhere', async () => {
    const { tenant, ann } = await organisation()
    const { code } = await invite(ann, 'editor', 'Ben')
    const ben = await enter(tenant, code)
    const { id } = await memberNamed(ann, 'Ben')
    await asked(ann, `PATCH /manage/members/${id}`, { role: 'viewer' })
    await asked(ann, `DELETE /manage/members/${id}`)
    expect((await auditOf(ann)).slice(0, 4)).toMatchObject([
      { actor: 'Ann', action: 'member.remove', subject: 'Ben', before: { role: 'viewer' } },
      {
        actor: 'Ann',
        action: 'member.role',
        subject: 'Ben',
        before: { role: 'editor' },
        after: { role: 'viewer' },
      },
      { actor: 'Ben', action: 'dashboard.sign_in', after: { role: 'editor', by: 'invitation' } },
      { actor: 'Ann', action: 'member.invite', subject: 'Ben', after: { role: 'editor' } },
    ])
    const tables = ['audit_log', 'members', 'dashboard_links', 'dashboard_sessions']
    const dump = JSON.stringify(
      tables.map(table => world.database.query(`select * from ${table}`).all()),
    )
    for (const secret of [code, ben.cookie!.split('=')[1]!]) expect(dump).not.toContain(secret)
  })

  test('is refused once there are five hundred members and invitations', async () => {
    const { ann } = await organisation()
    await ann.refresh()
    const create = () =>
      ann.api('POST /manage/members/invitations', {}, { role: 'viewer', name: 'Ben' })
    for (let count = 1; count < 500; count++) expect((await create()).status).toBe(201)
    expect(
      errorOf(await asked(ann, 'POST /manage/members/invitations', { role: 'viewer' })),
    ).toEqual([409, 'too_many_members'])
  })
})

describe('nobody gains what they were not given', () => {
  test('viewers and editors see, invite, change and remove nobody', async () => {
    const { tenant, ann } = await organisation()
    const { id } = await memberNamed(ann, 'Ann')
    for (const role of ['viewer', 'editor'] as const) {
      const visitor = await invited(tenant, ann, role, `a ${role}`)
      const own = await memberNamed(ann, `a ${role}`)
      const attempts: [string, unknown?][] = [
        ['GET /manage/members'],
        ['POST /manage/members/invitations', { role: 'owner' }],
        [`PATCH /manage/members/${own.id}`, { role: 'owner' }],
        [`POST /manage/members/${id}/links`, undefined],
        [`DELETE /manage/members/${id}`],
        ['DELETE /manage/members/invitations/x'],
      ]
      for (const [what, body] of attempts) {
        expect([what, ...errorOf(await asked(visitor, what, body))]).toEqual([
          what,
          403,
          'forbidden',
        ])
      }
    }
  })

  test('an owner makes nobody operator, and neither changes nor becomes one', async () => {
    const { tenant, ann } = await organisation()
    await Visitor.of(tenant, 'operator', 'Root')
    const { id } = await memberNamed(ann, 'Root')
    const own = await memberNamed(ann, 'Ann')
    const attempts: [string, unknown, number][] = [
      ['POST /manage/members/invitations', { role: 'operator' }, 422],
      [`PATCH /manage/members/${own.id}`, { role: 'operator' }, 422],
      [`PATCH /manage/members/${id}`, { role: 'viewer' }, 403],
      [`POST /manage/members/${id}/links`, undefined, 403],
      [`DELETE /manage/members/${id}`, undefined, 403],
    ]
    for (const [what, body, status] of attempts) {
      expect([what, (await asked(ann, what, body)).status]).toEqual([what, status])
    }
  })

  test('a management token gives no role with scopes that it lacks', async () => {
    const { tenant, ann } = await organisation()
    const credential = await tenant.managementToken(
      'settings:write',
      'flows:read',
      'analytics:read',
    )
    const { id } = await memberNamed(ann, 'Ann')
    const as = (what: string, body?: unknown) =>
      tenant.answer(what, { credential, body: body as never })
    expect((await as('POST /manage/members/invitations', { role: 'viewer' })).status).toBe(201)
    for (const answer of [
      await as('POST /manage/members/invitations', { role: 'editor' }),
      await as(`PATCH /manage/members/${id}`, { role: 'editor' }),
      await as(`POST /manage/members/${id}/links`),
    ]) {
      expect(errorOf(answer)).toEqual([403, 'forbidden'])
    }
  })

  test('members and invitations of another organisation are not there', async () => {
    const { tenant, ann } = await organisation()
    const { ann: stranger } = await organisation()
    const { id } = await invite(ann, 'viewer', 'Ben')
    await invited(tenant, ann, 'viewer', 'Cem')
    const cem = await memberNamed(ann, 'Cem')
    for (const [what, body] of [
      [`DELETE /manage/members/invitations/${id}`],
      [`PATCH /manage/members/${cem.id}`, { role: 'owner' }],
      [`POST /manage/members/${cem.id}/links`],
      [`DELETE /manage/members/${cem.id}`],
    ] as [string, unknown?][]) {
      expect(errorOf(await asked(stranger, what, body))).toEqual([404, 'not_found'])
    }
    expect(await list(ann)).toMatchObject({ members: [{ name: 'Ann' }, { role: 'viewer' }] })
  })
})

describe('a role', () => {
  test('changes at the next request', async () => {
    const { tenant, ann } = await organisation()
    const ben = await invited(tenant, ann, 'viewer', 'Ben')
    const { id } = await memberNamed(ann, 'Ben')
    expect((await ben.api('GET /manage/audit')).status).toBe(403)
    await asked(ann, `PATCH /manage/members/${id}`, { role: 'owner' })
    expect((await ben.api('GET /manage/audit')).status).toBe(200)
    await asked(ann, `PATCH /manage/members/${id}`, { role: 'editor' })
    expect((await ben.api('GET /manage/audit')).status).toBe(403)
  })

  test('of the last owner stays, unless the operator changes it', async () => {
    const { tenant, ann } = await organisation()
    await invited(tenant, ann, 'editor', 'Ben')
    const { id } = await memberNamed(ann, 'Ann')
    const demote = [`PATCH /manage/members/${id}`, { role: 'editor' }] as const
    expect(errorOf(await asked(ann, ...demote))).toEqual([409, 'last_owner'])
    expect(errorOf(await asked(ann, `DELETE /manage/members/${id}`))).toEqual([409, 'last_owner'])
    const [what, body] = demote
    expect((await tenant.answer(what, { asOperator: true, body })).status).toBe(204)
    expect((await ann.api('GET /manage/audit')).status).toBe(403)
  })

  test('of two owners who demote each other at once, one stays', async () => {
    const { tenant, ann } = await organisation()
    const ben = await invited(tenant, ann, 'owner', 'Ben')
    const [annId, benId] = [(await memberNamed(ann, 'Ann')).id, (await memberNamed(ann, 'Ben')).id]
    await Promise.all([ann.refresh(), ben.refresh()])
    const answers = await Promise.all([
      ann.api(`PATCH /manage/members/${benId}`, {}, { role: 'viewer' }),
      ben.api(`PATCH /manage/members/${annId}`, {}, { role: 'viewer' }),
    ])
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
  })
})

describe('with a member who is removed', () => {
  test('their sessions, tokens, invitations and links end at once', async () => {
    const { tenant, ann } = await organisation()
    const ben = await invited(tenant, ann, 'owner', 'Ben')
    const again = await asked(
      ann,
      `POST /manage/members/${(await memberNamed(ann, 'Ben')).id}/links`,
    )
    const fromBen = await invite(ben, 'owner', 'Cem')
    const token = { name: 'CI', scopes: ['flows:read'], expiresInDays: 9 }
    const made = (await asked(ben, 'POST /manage/tokens', token)).body as { token: string }
    const byToken = () => tenant.answer('GET /manage/me', { credential: made.token })
    expect((await byToken()).status).toBe(200)
    expect(await memberNamed(ann, 'Ben')).toMatchObject({ tokens: 1 })
    const { id } = await memberNamed(ann, 'Ben')
    expect((await asked(ann, `DELETE /manage/members/${id}`)).status).toBe(204)
    expect((await ben.api('GET /manage/me')).status).toBe(401)
    expect((await ben.ask('token')).status).toBe(401)
    expect((await byToken()).status).toBe(401)
    for (const code of [fromBen.code, again.body.code]) {
      expect((await new Visitor(tenant).redeem({ code })).status).toBe(401)
    }
    expect((await list(ann)).members.map(({ name }) => name)).toEqual(['Ann'])
    expect((await auditOf(ann)).slice(0, 2)).toMatchObject([
      { action: 'token.revoke', note: 'Created by Ben' },
      { action: 'member.remove', subject: 'Ben' },
    ])
  })

  test('or loses a role, only tokens that may do more end', async () => {
    const { tenant, ann } = await organisation()
    const ben = await invited(tenant, ann, 'owner', 'Ben')
    const create = async (...scopes: string[]) => {
      const body = { name: scopes.join(), scopes, expiresInDays: 9 }
      return ((await asked(ben, 'POST /manage/tokens', body)).body as { token: string }).token
    }
    const [reads, manages] = [await create('flows:read'), await create('settings:write')]
    const { id } = await memberNamed(ann, 'Ben')
    await asked(ann, `PATCH /manage/members/${id}`, { role: 'viewer' })
    const statusOf = async (credential: string) =>
      (await tenant.answer('GET /manage/me', { credential })).status
    expect([await statusOf(reads), await statusOf(manages)]).toEqual([200, 401])
  })
})

describe('a sign-in link for a member', () => {
  test('keeps the person, name and role, and replaces the one before', async () => {
    const { tenant, ann } = await organisation()
    await invited(tenant, ann, 'editor', 'Ben')
    const { id } = await memberNamed(ann, 'Ben')
    const link = async () => (await asked(ann, `POST /manage/members/${id}/links`)).body.code
    const replaced = await link()
    const code = await link()
    expect((await list(ann)).invitations).toEqual([])
    expect((await new Visitor(tenant).redeem({ code: replaced })).status).toBe(401)
    await asked(ann, `PATCH /manage/members/${id}`, { role: 'viewer' })
    // Less access revokes links, too.
    expect((await new Visitor(tenant).redeem({ code })).status).toBe(401)
    const ben = await enter(tenant, await link())
    expect((await ben.ask('token')).body).toMatchObject({ role: 'viewer', person: { name: 'Ben' } })
    expect(await memberNamed(ann, 'Ben')).toMatchObject({ id, role: 'viewer' })
  })

  test('is for nobody who signs in with a session token', async () => {
    const { tenant, ann } = await organisation()
    const { token } = await world.tokens.issue(tenant.organisation.id, 3_600)
    await new Visitor(tenant).redeem({ token })
    const { id } = await memberNamed(ann, 'session token')
    expect(errorOf(await asked(ann, `POST /manage/members/${id}/links`))).toEqual([
      409,
      'cannot_change_member',
    ])
    expect((await asked(ann, `PATCH /manage/members/${id}`, { role: 'owner' })).status).toBe(409)
  })
})

test('who was invited stays signed in for a week without a request, and for a month at most', async () => {
  const { tenant, ann } = await organisation()
  const stays = await invited(tenant, ann, 'viewer', 'Ben')
  const leaves = await invited(tenant, ann, 'viewer', 'Cem')
  const statusOf = async (visitor: Visitor) => (await visitor.ask('token')).status
  for (let days = 6; days < 30; days += 6) {
    world.clock.advance(6 * dayMs)
    expect([days, await statusOf(stays)]).toEqual([days, 200])
  }
  expect(await statusOf(leaves)).toBe(401)
  world.clock.advance(6 * dayMs - hourMs)
  expect(await statusOf(stays)).toBe(200)
  world.clock.advance(hourMs)
  expect(await statusOf(stays)).toBe(401)
})

test('a link without a name is the operator’s own, and asks for the name once', async () => {
  const { tenant, ann } = await organisation()
  const first = await enter(tenant, await linkCode(tenant, 'editor'))
  expect((await first.ask('name', { name: 'Dan' })).status).toBe(200)
  const second = await enter(tenant, await linkCode(tenant, 'editor'))
  expect((await second.ask('token')).body).toMatchObject({ person: { name: 'Dan', isNamed: true } })
  expect((await list(ann)).members.map(({ name }) => name)).toEqual(['Ann', 'Dan'])
})
