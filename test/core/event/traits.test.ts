import { expect, test } from 'bun:test'
import { listedTraits, mayNameSomebody, traitIn } from '../../../src/core/event/traits.ts'

test('only listed traits are kept, as text', () => {
  const said = {
    plan: 'pro',
    seats: 12,
    trial: false,
    email: 'ann@example.com',
    company: { size: 40, name: 'Acme' },
    'team.size': 3,
  }
  const names = ['plan', 'seats', 'trial', 'company.size', 'team.size', 'missing']
  expect(listedTraits(names, said)).toEqual({
    ...{ plan: 'pro', seats: '12', trial: 'false' },
    ...{ 'company.size': '40', 'team.size': '3' },
  })
  expect(listedTraits([], said)).toBeNull()
})

test('a value that cannot be counted by is treated as absent', () => {
  const said = { a: null, b: {}, c: [1], d: '', e: undefined, f: () => 1 }
  expect(listedTraits(Object.keys(said), said)).toBeNull()
  // Nothing that every object inherits.
  expect(listedTraits(['constructor', 'toString'], {})).toBeNull()
  expect(traitIn({ plan: 'pro' }, 'constructor')).toBeNull()
})

test('a long value is cut to 64 characters, and no character is split', () => {
  const of = (plan: string) => listedTraits(['plan'], { plan })!.plan
  expect(of('x'.repeat(1_000_000))).toBe('x'.repeat(64))
  expect(of('😀'.repeat(70))).toBe('😀'.repeat(64))
  expect(of(`${'x'.repeat(63)}😀`)).toBe(`${'x'.repeat(63)}😀`)
})

test('names that may identify one person are recognised', () => {
  for (const name of [
    'email',
    'E-Mail',
    'user.name',
    'firstName',
    'phone',
    'user_id',
    'userId',
    'id',
  ]) {
    expect([name, mayNameSomebody(name)]).toEqual([name, true])
  }
  for (const name of ['plan', 'role', 'company.size', 'country', 'seats', 'paid', 'product']) {
    expect([name, mayNameSomebody(name)]).toEqual([name, false])
  }
})
