import type { Database } from 'bun:sqlite'
import { and, desc, eq, getTableColumns, sum } from 'drizzle-orm'
import type { AuditEntry } from '../../../core/organisation/audit.ts'
import {
  type ImageContent,
  maxImages,
  maxImagesBytes,
  type StoredImage,
} from '../../interfaces/images.ts'
import { countOf, inTransaction, tables } from '../catalogue/change.ts'
import { images } from '../database/schema.ts'
import { writeAudit } from './audit-log.ts'

const { content, orgId, ...described } = getTableColumns(images)

/** See `ImageStore.list`. */
export const listImages = (database: Database, orgRow: number): StoredImage[] =>
  tables(database)
    .select(described)
    .from(images)
    .where(eq(orgId, orgRow))
    .orderBy(desc(images.createdAt), images.id)
    .all()

/** See `ImageStore.add`. */
export function addImage(
  database: Database,
  orgRow: number,
  image: StoredImage,
  bytes: Uint8Array,
  audit: AuditEntry,
): StoredImage | null {
  return inTransaction(database, tx => {
    const isOwn = eq(orgId, orgRow)
    const isIt = and(isOwn, eq(images.id, image.id))
    const known = tx.select(described).from(images).where(isIt).get()
    if (known) return known
    const { stored } = tx
      .select({ stored: sum(images.bytes).mapWith(Number) })
      .from(images)
      .where(isOwn)
      .get()!
    if (countOf(tx, images, isOwn) >= maxImages || (stored ?? 0) + image.bytes > maxImagesBytes) {
      return null
    }
    tx.insert(images)
      .values({ ...image, orgId: orgRow, content: new Uint8Array(bytes) })
      .run()
    writeAudit(database, orgRow, [audit])
    return image
  })
}

/** See `ImageStore.remove`. */
export function removeImage(
  database: Database,
  orgRow: number,
  id: string,
  audit: AuditEntry,
): boolean {
  return inTransaction(database, tx => {
    const isIt = and(eq(orgId, orgRow), eq(images.id, id))
    if (tx.delete(images).where(isIt).returning({ id: images.id }).all().length === 0) return false
    writeAudit(database, orgRow, [audit])
    return true
  })
}

/** See `ImageStore.content`. Of any organisation: browsers load images without a credential. */
export const imageContent = (database: Database, id: string): ImageContent | null =>
  database.query<ImageContent, [string]>('select type, content from images where id = ?').get(id)
