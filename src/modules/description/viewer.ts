import { unpacked } from '../../core/text/packed.ts'
import { packedViewer } from './viewer-bundle.ts' with { type: 'macro' }
import type { ViewerFile } from './viewer-bundle.ts'

const viewer = packedViewer()

/** A text of the viewer. It is unpacked each time, so that it stays in memory only while it is needed. */
export const viewerText = (name: ViewerFile) => unpacked<Record<ViewerFile, string>>(viewer)[name]
