import { useId } from 'preact/hooks'
import { useAction } from '../../api/action.ts'
import { server } from '../../api/base.ts'
import { explained } from '../../api/explained.ts'
import { act } from '../../api/request.ts'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { textOf, written } from './flow-json.ts'
import { useForm } from './form.ts'
import type { ControlProps } from './table.ts'

/** An image as the server has stored it. */
interface Uploaded {
  url: string | null
  /** Relative to the address of the server. */
  path: string
  width: number
  height: number
}

const maxBytes = 1024 ** 2

/** Where visitors get it from; without a configured address, where this browser does. */
const addressOf = ({ url, path }: Uploaded) => url ?? `${server}/${path}`

/** The dashboard's policy lets it show images of its own server only. The preview shows all. */
const isShown = (address: string) => URL.parse(address)?.origin === location.origin

/** An image of a step: uploaded, or at an address of the author's own. */
export function ImageField({ frame, path, value, write }: ControlProps) {
  const { change, isLocked } = useForm()
  const id = useId()
  const { isBusy, refused, run } = useAction()
  const address = textOf(value)
  const beside = (name: string) => [...path.slice(0, -1), name]
  const upload = async (file: File | undefined) => {
    if (!file) return
    const query = new URLSearchParams({ name: file.name.slice(0, 100) })
    const image = await act<Uploaded>(`/manage/images?${query}`, { body: file })
    change(now =>
      [
        ['image', addressOf(image)] as const,
        ['width', image.width] as const,
        ['height', image.height] as const,
      ].reduce((flow, [name, value]) => written(flow, beside(name), value), now),
    )
  }
  const failure = refused.value
  return (
    <div class="image-field stack gap-2">
      {isShown(address) && <img src={address} alt="" />}
      <Field
        {...frame}
        hint={`PNG, JPEG, GIF or WebP up to ${maxBytes / 1024 ** 2} MiB, or the address of an image.`}
      >
        {wiring => (
          <div class="row">
            <input
              {...wiring}
              class="input"
              dir="ltr"
              autocomplete="off"
              spellcheck={false}
              placeholder="https://…"
              value={address}
              onInput={event => write(event.currentTarget.value)}
            />
            {!isLocked && (
              <label class="button" for={`${id}-file`} aria-busy={isBusy.value}>
                {isBusy.value ? 'Uploading…' : 'Upload image'}
                <input
                  id={`${id}-file`}
                  class="unseen"
                  type="file"
                  accept="image/png,image/jpeg,image/gif,image/webp"
                  disabled={isBusy.value}
                  onChange={({ currentTarget }) => {
                    const [file] = currentTarget.files ?? []
                    void run(() => upload(file)).finally(() => {
                      // Otherwise the same file could not be chosen again.
                      currentTarget.value = ''
                    })
                  }}
                />
              </label>
            )}
            {address !== '' && !isLocked && (
              <Button
                onClick={() =>
                  change(now =>
                    ['image', 'width', 'height', 'alt'].reduce(
                      (flow, name) => written(flow, beside(name), undefined),
                      now,
                    ),
                  )
                }
              >
                Remove image
              </Button>
            )}
          </div>
        )}
      </Field>
      {failure && (
        <p class="problem" role="alert">
          {failure.status === 0
            ? 'Not uploaded: server unreachable.'
            : failure.status === 413
              ? 'Not uploaded. The image must be 1 MiB or smaller.'
              : `Not uploaded. ${explained(failure)}`}
        </p>
      )}
    </div>
  )
}
