import { Type } from '@sinclair/typebox'
import { type ImageType, imageTypes } from '../../core/image.ts'
import { auditOf, management, toJson } from '../../http/management.ts'
import { json } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import type { FlowStore } from '../../storage/interfaces/authoring.ts'
import type { ImageStore } from '../../storage/interfaces/images.ts'
import { Image, ImageList, maxImageBytes, UploadQuery } from './schema.ts'
import { addressed, deleteImage, flowsShowing, imageFile, uploadImage } from './service.ts'

/** The file never changes under its address, and can do nothing if it is opened as a page. */
const headersOf = (type: string) => ({
  'Content-Type': type,
  'Cache-Control': 'public, max-age=31536000, immutable',
  'Content-Security-Policy': "default-src 'none'; sandbox",
  // Pages that isolate themselves (COEP) load nothing from another origin without this.
  'Cross-Origin-Resource-Policy': 'cross-origin',
})

const headers = Object.fromEntries(
  Object.keys(imageTypes).map(type => [type, headersOf(type)]),
) as Record<ImageType, ReturnType<typeof headersOf>>

/** Routes for images that authors upload, and for the browsers that show them. */
export const imageRoutes = ({
  images: store,
  flows,
  publicUrl,
}: {
  images: ImageStore
  flows: Pick<FlowStore, 'read'>
  publicUrl: string | null
}): Route[] => [
  management('flows:read').get(
    '/manage/images',
    'listImages',
    'List uploaded images, newest first',
    { returns: ImageList },
    async ({ org }) => {
      const authored = (await flows.read(org.ref)).flows
      return {
        images: (await store.list(org.ref)).map(image => ({
          ...addressed(image, publicUrl),
          flows: flowsShowing(image, authored),
        })),
      }
    },
  ),
  route({
    ...managing('flows:write'),
    method: 'POST',
    path: '/manage/images',
    operation: 'uploadImage',
    summary: 'Upload an image',
    description:
      'The body is the file itself: a PNG, JPEG, GIF or WebP, which is recognised by its content. ' +
      'Uploading the same file again returns the stored image.',
    binaryBody: true,
    bodyLimitBytes: maxImageBytes,
    query: UploadQuery,
    errors: ['unsupported_image', 'too_many_images'],
    responses: { 201: { description: 'The image with its address.', schema: Image } },
    async handle(call) {
      const upload = { bytes: call.bytes, name: call.query.name ?? null }
      const image = await uploadImage(store, call.org, upload, auditOf(call))
      return json(201, toJson(Image, addressed(image, publicUrl)))
    },
  }),
  management('flows:write').remove(
    '/manage/images/:image_id',
    'deleteImage',
    'Delete an image: steps that show it have none from then on',
    { errors: ['not_found'], response: 'Image deleted.' },
    call => deleteImage(store, call.org, call.params.image_id ?? '', auditOf(call)),
  ),
  route({
    method: 'GET',
    path: '/images/:file',
    operation: 'getImage',
    tag: 'Description',
    summary: 'Get an uploaded image',
    caller: 'anyone',
    isProductFile: true,
    responses: {
      200: { description: 'The image.', schema: Type.String(), example: '', type: '*/*' },
    },
    async handle({ params }) {
      const { type, content } = await imageFile(store, params.file ?? '')
      return { status: 200, body: content, headers: headers[type] }
    },
  }),
]
