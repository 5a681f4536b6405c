import { bundledGallery } from './bundle.ts' with { type: 'macro' }

/** The script of one picture of the demo's gallery; made while Cairn is built. */
export const galleryScript = bundledGallery()
