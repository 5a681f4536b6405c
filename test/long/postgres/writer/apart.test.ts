import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'bun:test'
import { mostByStatement } from '../../../../src/storage/postgres/rows/lines.ts'
import { Tenant } from '../../../storage/conformance/tenant.ts'
import { describe, PostgresServer, test } from '../../../support/postgres.ts'
import { PostgresWorld } from '../../../support/postgres-world.ts'

describe('a group that PostgreSQL rejects in whole or in part', () => {
  let server: PostgresServer
  let world: PostgresWorld
  let tenant: Tenant
  beforeAll(async () => {
    server = await PostgresServer.open()
  })
  beforeEach(async () => {
    world = await PostgresWorld.open(await server.newDatabase())
    tenant = await Tenant.of(world as never)
  })
  afterEach(() => world.close())
  afterAll(() => server?.close())

  const event = (id: string, name = 'x') => tenant.event(id, { kind: 'custom', name, userId: 'u' })
  const send = (...events: ReturnType<typeof event>[]) => tenant.append(events)
  /** Makes PostgreSQL answer an event of this name with an error of this SQLSTATE. */
  const refuse = (name: string, state: string) =>
    world.storage.postgres.script(
      `create function refuse_${name}() returns trigger language plpgsql as $$
        begin raise exception 'refused' using errcode = '${state}'; end $$;
      create trigger refuse_${name} before insert on events for each row
        when (new.name = '${name}') execute function refuse_${name}()`,
    )
  const allow = (name: string) =>
    world.storage.postgres.run(`drop trigger refuse_${name} on events`)
  const ids = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `e${from + i}`)
  const stored = async () => (await tenant.events()).map(({ id }) => id)
  const letters = async () => {
    const found = await world.storage.postgres.get<{ count: number }>(
      'select count(*) from dead_letters',
    )
    return found!.count
  }
  const codeOf = (work: Promise<unknown>) =>
    work.then(
      () => null,
      ({ code }) => code as string,
    )

  const [ofRow, passing, ofStatement] = ['22000', '53300', '42P01']

  test('sets a faulty event aside among more than a statement takes, and keeps the others', async () => {
    await refuse('poison', ofRow)
    const many = ids(mostByStatement + 1)
    const poison = many.length - 2
    const events = many.map((id, i) => event(id, i === poison ? 'poison' : 'x'))
    expect(await send(...events)).toMatchObject({ duplicates: [], deadLetters: [poison] })
    expect(await stored()).toEqual(many.toSpliced(poison, 1))
    expect(await letters()).toBe(1)
  })

  test('is reported as in doubt, and not as rejected, if a part of it is kept', async () => {
    await refuse('poison', ofRow)
    await refuse('later', passing)
    const events = [event('a'), event('b', 'poison'), event('c', 'later'), event('d')]
    expect(await codeOf(send(...events))).toBe('in_doubt')
    expect(await stored()).toEqual(['a'])
    await allow('poison')
    await allow('later')
    expect(await send(...events)).toMatchObject({ duplicates: [0], deadLetters: [] })
    expect(await stored()).toEqual(['a', 'b', 'c', 'd'])
  })

  test('is rejected as a whole if a statement is invalid, and nothing goes to the dead letters', async () => {
    await refuse('strange', ofStatement)
    expect(await codeOf(send(event('a'), event('b', 'strange')))).toBe('overloaded')
    expect(await stored()).toEqual([])
    expect(await letters()).toBe(0)
    await allow('strange')
    expect(await send(event('a'), event('b', 'strange'))).toMatchObject({ duplicates: [] })
    expect(await stored()).toEqual(['a', 'b'])
  })
})
