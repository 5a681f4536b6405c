import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packed } from '../../core/text/packed.ts'

/**
 * Reads the viewer of the API page. Runs while Cairn is built (and, from the sources, when the importing
 * file is loaded): packed it has a third of its size.
 */

const viewerPackage = join(import.meta.dir, '../../../node_modules/swagger-ui-dist')

/** The viewer's files by the names that the page knows. Licences have to accompany it wherever it goes. */
const viewerFiles = {
  'viewer.css': 'swagger-ui.css',
  'viewer.js': 'swagger-ui-bundle.js',
  'viewer-licence.txt': 'LICENSE',
  'viewer-parts-licences.txt': 'swagger-ui-bundle.js.LICENSE.txt',
} as const

export type ViewerFile = keyof typeof viewerFiles

/** The viewer's texts by name, packed. */
export const packedViewer = () =>
  packed(
    Object.fromEntries(
      Object.entries(viewerFiles).map(([name, file]) => [
        name,
        readFileSync(join(viewerPackage, file), 'utf8'),
      ]),
    ),
  )
