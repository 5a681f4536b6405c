import { type StaticDecode, Type } from '@sinclair/typebox'
import { text } from '../../core/flow/values.ts'
import { OrNull, Text } from '../../core/shapes.ts'
import { maxImages, maxImagesBytes, StoredImage } from '../../storage/interfaces/images.ts'

/** The largest file. */
export const maxImageBytes = 1024 ** 2

export const UploadQuery = Type.Object({
  name: Type.Optional(text(1, 100, { description: 'Name of the file, for lists of images.' })),
})

export const Image = Type.Object(
  {
    ...StoredImage.properties,
    path: Text(
      'Path of the image, relative to the address of the server.',
      'images/5f3a9c1e0b7d42685f3a9c1e0b7d4268.png',
    ),
    url: OrNull(
      Type.String(),
      'Address of the image, for steps. Null if the public URL of the server is not configured.',
      'https://cairn.example.com/images/5f3a9c1e0b7d42685f3a9c1e0b7d4268.png',
    ),
  },
  { title: 'Image' },
)
export type Image = StaticDecode<typeof Image>

export const ListedImage = Type.Object({
  ...Image.properties,
  flows: Type.Array(
    Type.Object({
      key: Type.String({ examples: ['welcome'] }),
      name: Type.String({ examples: ['Welcome tour'] }),
    }),
    { description: 'Flows that show it, in their draft or their newest version.' },
  ),
})

export type ListedImage = StaticDecode<typeof ListedImage>

export const ImageList = Type.Object(
  {
    images: Type.Array(ListedImage, {
      description: `At most ${maxImages}, and ${maxImagesBytes / 1024 ** 2} MiB together.`,
    }),
  },
  { title: 'ImageList' },
)
