/** Serves the gallery until Ctrl-C, to look at it in a browser. Run by scripts/snippet. */

import { serveGallery } from '../support/gallery.ts'

const { origin } = serveGallery(Number(process.argv[2] ?? 8_082))
console.log(`  ${origin}/gallery`)
