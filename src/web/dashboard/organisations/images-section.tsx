import { useSignal } from '@preact/signals'
import type { StaticEncode } from '@sinclair/typebox'
import type { ImageList as ListShape } from '../../../modules/images/schema.ts'
import { server } from '../api/base.ts'
import { readAgain, useRead } from '../api/read.ts'
import { act } from '../api/request.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { formatCount, formatDateTime, none } from '../parts/format.ts'
import { type Column, Table } from '../parts/table.tsx'
import { addressOf } from '../shell/address.ts'
import { Notice, Reading } from '../shell/states.tsx'

type ImageList = StaticEncode<typeof ListShape>
type Image = ImageList['images'][number]

const imagesPath = '/manage/images'

const nameOf = ({ name, width, height }: Image) => name ?? `Image of ${width} × ${height} pixels`

const columnsWith = (remove: (image: Image) => void): Column<Image>[] => [
  {
    name: 'Image',
    isTitle: true,
    cell: image => (
      <>
        <a href={`${server}/${image.path}`} target="_blank" rel="noreferrer">
          {nameOf(image)}
        </a>
        <span class="row-note fine">
          {image.width} × {image.height} pixels, {formatCount(Math.ceil(image.bytes / 1024))} KiB
        </span>
      </>
    ),
  },
  {
    name: 'Shown by',
    cell: ({ flows }) =>
      flows.length === 0
        ? none
        : flows.map(({ key, name }, i) => (
            <span key={key}>
              {i > 0 && ', '}
              <a href={addressOf(['flows', key])}>{name}</a>
            </span>
          )),
  },
  { name: 'Uploaded', cell: ({ createdAt }) => formatDateTime(createdAt) },
  {
    head: <span class="unseen">Delete</span>,
    name: '',
    isNumber: true,
    cell: image => (
      <Button look="quiet" aria-label={`Delete ${nameOf(image)}`} onClick={() => remove(image)}>
        Delete
      </Button>
    ),
  },
]

function DeleteImage({ image, onClose }: { image: Image; onClose: () => void }) {
  const { flows } = image
  return (
    <Confirm
      title={`Delete ${nameOf(image)}`}
      verb="Delete image"
      isDanger
      act={async () => {
        await act(`${imagesPath}/${image.id}`, { method: 'DELETE' })
        readAgain()
        onClose()
      }}
      onClose={onClose}
    >
      {flows.length === 0 ? (
        <p>No flow shows it.</p>
      ) : (
        <p>
          {flows.map(({ name }) => name).join(', ')} {flows.length === 1 ? 'shows' : 'show'} this
          image. Visitors see an empty place until you choose another one and publish.
        </p>
      )}
    </Confirm>
  )
}

/** The images that authors uploaded, and which flows show them. */
export function ImagesSection() {
  const images = useRead<ImageList>(imagesPath)
  const removing = useSignal<Image | null>(null)
  return (
    <>
      <Reading of={images} lines={4}>
        {({ images }) =>
          images.length === 0 ? (
            <Notice title="No images">Authors upload images in the form of a step.</Notice>
          ) : (
            <Table
              caption="Images"
              columns={columnsWith(image => (removing.value = image))}
              rows={images}
              keyOf={({ id }) => id}
            />
          )
        }
      </Reading>
      {removing.value && (
        <DeleteImage image={removing.value} onClose={() => (removing.value = null)} />
      )}
    </>
  )
}
