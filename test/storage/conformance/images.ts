import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  maxImages,
  maxImagesBytes,
  type StoredImage,
} from '../../../src/storage/interfaces/images.ts'
import type { OpenStore, Store } from './store.ts'
import { auditOf, Tenant } from './tenant.ts'

const image = (id: string, more: Partial<StoredImage> = {}): StoredImage => ({
  ...{ id, type: 'image/png', width: 2, height: 1, bytes: 4, name: null, createdAt: 1 },
  ...more,
})

/** Bytes of every value, among them those that are no text. */
const content = Uint8Array.from({ length: 256 }, (_, i) => i)

export function imagesConform(open: OpenStore): void {
  let store: Store
  let made = 0
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store.close())

  const images = () => store.management.images
  const newId = () => `${++made}`.padStart(32, '0')
  const add = ({ ref }: Tenant, one: StoredImage, bytes = content) =>
    images().add(ref, one, bytes, auditOf('image.upload', one.id))
  const lines = async ({ ref }: Tenant) =>
    (await store.management.access.audit(ref, { most: 9 }))
      .map(({ action }) => action)
      .filter(action => action.startsWith('image'))

  test('are returned as they were stored, once, to their organisation and to browsers', async () => {
    const tenant = await Tenant.of(store)
    const other = await Tenant.of(store)
    const first = image(newId(), { name: 'first.png' })
    const second = image(newId(), { createdAt: 2, type: 'image/webp' })
    expect(await add(tenant, first)).toEqual(first)
    expect(await add(tenant, second)).toEqual(second)
    expect(await add(tenant, { ...first, name: 'again.png', createdAt: 3 })).toEqual(first)
    expect(await images().list(tenant.ref)).toEqual([second, first])
    expect(await images().list(other.ref)).toEqual([])
    const stored = await images().content(second.id)
    expect(stored?.type).toBe('image/webp')
    expect([...stored!.content]).toEqual([...content])
    expect(await lines(tenant)).toEqual(['image.upload', 'image.upload'])
  })

  test('are deleted by their organisation alone', async () => {
    const tenant = await Tenant.of(store)
    const other = await Tenant.of(store)
    const { id } = (await add(tenant, image(newId())))!
    const remove = ({ ref }: Tenant) => images().remove(ref, id, auditOf('image.delete', id))
    expect(await remove(other)).toBe(false)
    expect(await images().content(id)).not.toBeNull()
    expect(await remove(tenant)).toBe(true)
    expect(await remove(tenant)).toBe(false)
    expect(await images().content(id)).toBeNull()
    expect(await lines(tenant)).toEqual(['image.delete', 'image.upload'])
    expect(await lines(other)).toEqual([])
  })

  test('are bounded in number and in size, by organisation', async () => {
    const tenant = await Tenant.of(store)
    const large = image(newId(), { bytes: maxImagesBytes - maxImages })
    expect(await add(tenant, large)).toEqual(large)
    expect(await add(tenant, image(newId(), { bytes: maxImages + 1 }))).toBeNull()
    const others = Array.from({ length: maxImages - 1 }, () => image(newId(), { bytes: 1 }))
    expect(await Promise.all(others.map(one => add(tenant, one)))).toEqual(others)
    expect(await add(tenant, image(newId(), { bytes: 1 }))).toBeNull()
    expect(await add(tenant, large)).toEqual(large)
    expect(await add(await Tenant.of(store), image(newId()))).not.toBeNull()
  })
}
