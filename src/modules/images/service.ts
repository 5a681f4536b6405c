import { AppError } from '../../core/errors.ts'
import { imageFormatOf, imageTypes } from '../../core/image.ts'
import type { Auditor } from '../../core/organisation/audit.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import type { AuthoredFlow } from '../../storage/interfaces/authoring.ts'
import {
  type ImageContent,
  type ImageStore,
  maxImages,
  maxImagesBytes,
  type StoredImage,
} from '../../storage/interfaces/images.ts'
import { newestDefinition } from '../authoring/rules.ts'
import type { Image } from './schema.ts'

/** On each side, pixels. A small file can otherwise take gigabytes of memory in a visitor's browser. */
const maxSide = 4_096

const pathOf = ({ id, type }: Pick<StoredImage, 'id' | 'type'>) =>
  `images/${id}.${imageTypes[type]}`

/** An image with its address. @param publicUrl where browsers reach this server; null if unknown */
export function addressed(image: StoredImage, publicUrl: string | null): Image {
  const path = pathOf(image)
  return { ...image, path, url: publicUrl && `${publicUrl}/${path}` }
}

/** The flows whose draft or newest version has an image's address, in a step's media or in a text. */
export function flowsShowing({ id }: Pick<StoredImage, 'id'>, flows: readonly AuthoredFlow[]) {
  const isShown = (definition: object | null | undefined) =>
    definition != null && JSON.stringify(definition).includes(`images/${id}.`)
  return flows
    .filter(({ draft, newest }) => isShown(draft) || isShown(newest?.definition))
    .map(flow => ({ key: flow.key, name: newestDefinition(flow).name }))
}

/** The same for all uploads of these bytes by the organisation, and for nothing else. */
const idOf = (organisation: Organisation, bytes: Uint8Array) =>
  new Bun.CryptoHasher('sha256')
    .update(`${organisation.id}\0`)
    .update(bytes)
    .digest('hex')
    .slice(0, 32)

/** Stores an image. @throws AppError `unsupported_image`, `too_many_images` */
export async function uploadImage(
  store: ImageStore,
  organisation: Organisation,
  { bytes, name }: { bytes: Uint8Array; name: string | null },
  audit: Auditor,
): Promise<StoredImage> {
  const format = imageFormatOf(bytes)
  if (format === null) {
    throw unsupported('The file is not a PNG, JPEG, GIF or WebP image: convert it to one of these')
  }
  const { width, height } = format
  if (Math.min(width, height) === 0) throw unsupported('The image has no pixels')
  if (Math.max(width, height) > maxSide) {
    throw unsupported(
      `The image has ${width} × ${height} pixels: scale it down to at most ${maxSide} on each side`,
    )
  }
  const id = idOf(organisation, bytes)
  const facts = { ...format, bytes: bytes.byteLength, name }
  const entry = audit('image.upload', id, { after: facts })
  const image = { id, ...facts, createdAt: entry.at }
  const stored = await store.add(organisation.ref, image, bytes, entry)
  if (stored) return stored
  const megabytes = maxImagesBytes / 1024 ** 2
  const message = `An organisation can store ${maxImages} images of ${megabytes} MiB together: delete some that no flow shows`
  throw new AppError('too_many_images', message)
}

const unsupported = (message: string) => new AppError('unsupported_image', message)

/** @throws AppError `not_found` */
export async function deleteImage(
  store: ImageStore,
  { ref }: Organisation,
  id: string,
  audit: Auditor,
): Promise<void> {
  if (await store.remove(ref, id, audit('image.delete', id))) return
  throw new AppError('not_found', 'Image not found. It may have been deleted.')
}

/** @param file the last part of an image's address @throws AppError `not_found` */
export async function imageFile(store: ImageStore, file: string): Promise<ImageContent> {
  const [, id = ''] = /^([0-9a-f]{32})\.[a-z]+$/.exec(file) ?? []
  const found = id === '' ? null : await store.content(id)
  // Each image has one address, under which caches keep it for good.
  if (found && file === `${id}.${imageTypes[found.type]}`) return found
  throw new AppError('not_found', 'Nothing exists at this path')
}
