import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { Image, ListedImage } from '../modules/images/schema.ts'
import type { Command } from './command.ts'
import { CommandFailure } from './failure.ts'
import { print } from './output.ts'
import { addGroup, type Row, row } from './table.ts'

function fileAt(path: string): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(readFileSync(path))
  } catch (error) {
    throw new CommandFailure(`${path} cannot be read (${(error as { code?: string }).code})`)
  }
}

const sizeOf = ({ width, height }: Image) => `${width} × ${height}`
const addressOf = ({ url, path }: Image) => url ?? path

const rows: Row[] = [
  row<Image>({
    name: 'upload',
    about: 'upload a PNG, JPEG, GIF or WebP of at most 1 MiB, and print its address',
    args: { '<file>': 'the image' },
    route: 'POST /images',
    bytes: ({ file }) => fileAt(file),
    query: ({ file }) => ({ name: basename(file).slice(0, 100) }),
    show: image => print(addressOf(image)),
    examples: ['cairn images upload welcome.png'],
  }),
  {
    name: 'list',
    about: 'list the images of an organisation, newest first',
    route: 'GET /images',
    part: 'images',
    columns: {
      id: 'id',
      name: 'name',
      size: sizeOf,
      bytes: 'bytes',
      'shown by': ({ flows }: ListedImage) => flows.map(({ key }) => key),
      address: addressOf,
      uploaded: 'createdAt',
    },
    none: 'No images. Upload one with "cairn images upload FILE".',
    examples: ['cairn images list'],
  },
  {
    name: 'delete',
    about: 'delete an image: steps that show it have none from then on',
    args: { '<id>': 'as "cairn images list" shows it' },
    route: 'DELETE /images/:id',
    show: (_, { id }) => print(`Deleted ${id}.`),
    examples: ['cairn images delete 5f3a9c1e0b7d42685f3a9c1e0b7d4268'],
  },
]

export function addImages(cairn: Command): void {
  addGroup(
    cairn,
    {
      name: 'images',
      about: 'images for steps, served by Cairn',
      examples: ['cairn images upload welcome.png', 'cairn images list'],
    },
    rows,
  )
}
