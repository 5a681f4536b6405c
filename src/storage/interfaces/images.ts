import { type StaticDecode, Type } from '@sinclair/typebox'
import { type ImageType, imageTypes } from '../../core/image.ts'
import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { Instant, OneOf, OrNull } from '../../core/shapes.ts'

/** What an organisation may store. */
export const maxImages = 200
export const maxImagesBytes = 50 * 1024 ** 2

/** An uploaded image without its content. */
export const StoredImage = Type.Object({
  id: Type.String({ examples: ['5f3a9c1e0b7d42685f3a9c1e0b7d4268'] }),
  type: OneOf(Object.keys(imageTypes) as ImageType[], { examples: ['image/png'] }),
  width: Type.Integer({ minimum: 1, description: 'In pixels.', examples: [640] }),
  height: Type.Integer({ minimum: 1, description: 'In pixels.', examples: [360] }),
  bytes: Type.Integer({ minimum: 1, description: 'Size of the file.', examples: [48210] }),
  name: OrNull(Type.String(), 'Name of the uploaded file. Null if none was given.', 'welcome.png'),
  createdAt: Instant('When it was uploaded.'),
})
export type StoredImage = StaticDecode<typeof StoredImage>

export interface ImageContent {
  type: ImageType
  content: Uint8Array<ArrayBuffer>
}

/** What images need from storage. */
export interface ImageStore {
  /** Newest first. */
  list(orgRef: OrganisationRef): Promise<StoredImage[]>
  /**
   * Stores an image once: with the same id, the one that is stored already is returned, and nothing is written.
   * Null if the organisation has too many.
   */
  add(
    orgRef: OrganisationRef,
    image: StoredImage,
    content: Uint8Array,
    audit: AuditEntry,
  ): Promise<StoredImage | null>
  /** False if the organisation has no such image. */
  remove(orgRef: OrganisationRef, id: string, audit: AuditEntry): Promise<boolean>
  /** What anyone may see who knows the id, of whatever organisation. */
  content(id: string): Promise<ImageContent | null>
}
