import { describe, expect, test } from 'bun:test'
import type { Segment } from '../../../src/storage/interfaces/segments.ts'
import type { OpenStore } from './store.ts'
import { auditOf, Tenant } from './tenant.ts'

const segment = (id: string, more: Partial<Segment> = {}): Segment => ({
  ...{ id, name: id, filter: {}, revision: 1, changedAt: 0 },
  ...more,
})

export function segmentsConform(open: OpenStore): void {
  describe('segments', () => {
    test('are one organisation’s, have names of their own, and a limit', async () => {
      const store = await open()
      const [tenant, other] = [await Tenant.of(store), await Tenant.of(store)]
      const { segments } = store.management
      const audit = auditOf('segment.create')
      const id = (name: string) => `${name}-${tenant.slug}`
      const ours = segment(id('b'), { name: 'b', filter: { flows: [{ flow: 'tour' }] } })
      expect(await segments.create(tenant.ref, ours, 2, audit)).toBe('created')
      const sameName = segment(id('c'), { name: 'b' })
      expect(await segments.create(tenant.ref, sameName, 2, audit)).toBe('name taken')
      const theirs = segment(id('d'), { name: 'b' })
      expect(await segments.create(other.ref, theirs, 2, audit)).toBe('created')
      const second = segment(id('a'), { name: 'a' })
      expect(await segments.create(tenant.ref, second, 2, audit)).toBe('created')
      expect(await segments.create(tenant.ref, segment(id('e')), 2, audit)).toBe('too many')
      expect(await segments.list(tenant.ref)).toEqual([second, ours])

      const changed = { ...ours, filter: {}, revision: 2, changedAt: 5 }
      expect(await segments.change(other.ref, changed, 1, audit)).toBe('changed')
      expect(await segments.change(tenant.ref, { ...changed, name: 'a' }, 1, audit)).toBe(
        'name taken',
      )
      expect(await segments.change(tenant.ref, changed, 1, audit)).toBe('done')
      expect(await segments.change(tenant.ref, changed, 1, audit)).toBe('changed')
      expect(await segments.remove(other.ref, changed, audit)).toBe(false)
      expect(await segments.remove(tenant.ref, ours, audit)).toBe(false)
      expect(await segments.remove(tenant.ref, second, audit)).toBe(true)
      expect(await segments.list(tenant.ref)).toEqual([changed])
      expect(await segments.list(other.ref)).toEqual([theirs])
    })
  })
}
