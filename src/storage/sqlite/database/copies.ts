import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Copies that are made of a database before its schema changes; the operator deletes them. */

/** A copy, and the schema that it has. */
export interface Copy {
  file: string
  schema: number
}

const pattern = /^before-schema-(\d{1,9})-\d{8}T\d{9}Z\.db$/

/** Absolute, because operators are told the path. */
export const copiesFolder = (dataDir: string) => resolve(dataDir, 'backups')

/** `before-schema-7-20261121T141602123Z.db`: the first schema step that it was made before, and when. */
export function copyFile(dataDir: string, firstStep: number, now: number): string {
  const at = new Date(now).toISOString().replace(/[-:.]/g, '')
  return join(copiesFolder(dataDir), `before-schema-${firstStep}-${at}.db`)
}

/** All copies that are there, the newest first. */
export function copiesIn(dataDir: string): Copy[] {
  let names: string[]
  try {
    names = readdirSync(copiesFolder(dataDir))
  } catch {
    return []
  }
  const timeOf = (name: string) => name.slice(name.lastIndexOf('-'))
  return names
    .filter(name => pattern.test(name))
    .sort((a, b) => timeOf(b).localeCompare(timeOf(a)))
    .map(name => ({
      file: join(copiesFolder(dataDir), name),
      schema: Number(pattern.exec(name)?.[1]) - 1,
    }))
}
