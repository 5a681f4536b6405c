import { useSignal } from '@preact/signals'
import type { ComponentChildren, FunctionComponent } from 'preact'
import type { Settings, SettingsBody } from '../../../modules/organisations/schema.ts'
import { useAction } from '../api/action.ts'
import { renew } from '../api/session.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { say } from '../parts/toast.tsx'
import { Reading } from '../shell/states.tsx'
import { problemsAt, save, useSettings } from './saving.ts'

export interface ControlProps<Value> {
  label: string
  value: Value
  onChange: (value: Value) => void
  problem: string | undefined
  settings: Settings
}

/** A setting that one control edits. */
export interface SettingField<Value> {
  /** Its name in the request, where the server's problems point. */
  name: keyof SettingsBody
  /** Tells fields apart that are parts of one setting. */
  part?: string
  label: string
  control: FunctionComponent<ControlProps<Value>>
  read: (settings: Settings) => Value
  patch: (value: Value) => SettingsBody
  /** What the change does, shown before it is saved. Null if it needs no confirmation. */
  consequence?: (after: Value, settings: Settings) => ComponentChildren
  isDanger?: boolean
}

/** Fields of any values. */
// biome-ignore lint/suspicious/noExplicitAny: each field passes its own values to its own control
export type AnyField = SettingField<any>

/** Keeps the type of a field's value for its functions. */
export const settingField = <Value,>(field: SettingField<Value>): AnyField => field

const keyOf = ({ name, part = '' }: AnyField) => `${name}${part}`

const bodyOf = (changed: readonly [AnyField, unknown][]): SettingsBody => {
  const patches = changed.map(([field, value]) => field.patch(value))
  const limits = Object.assign({}, ...patches.map(patch => patch.limits))
  return Object.assign({}, ...patches, Object.keys(limits).length > 0 && { limits })
}

/** A form of settings. It confirms a change that has consequences before it saves it. */
export function SettingsForm({
  fields,
  isReadOnly = false,
}: {
  fields: readonly AnyField[]
  isReadOnly?: boolean
}) {
  const stored = useSettings()
  const typed = useSignal<Readonly<Record<string, unknown>>>({})
  const asks = useSignal(false)
  const { isBusy, refused, run } = useAction()
  return (
    <Reading of={stored}>
      {settings => {
        const shownIn = (field: AnyField) =>
          keyOf(field) in typed.value ? typed.value[keyOf(field)] : field.read(settings)
        const changed = fields
          .map(field => [field, shownIn(field)] as [AnyField, unknown])
          .filter(([field, value]) => !Object.is(value, field.read(settings)))
        const consequences = changed.flatMap(([field, value]) => {
          const means = field.consequence?.(value, settings)
          return means ? [<div key={keyOf(field)}>{means}</div>] : []
        })
        const saveAll = async () => {
          await save(bodyOf(changed))
          typed.value = {}
          say('Saved.')
          // Pages take the name and the zone from the session.
          await renew()
        }
        const problemOf = (field: AnyField) => {
          const entries = field.patch(shownIn(field))[field.name]
          const found = problemsAt(refused.value, `/${field.name}${field.part ?? ''}`)
          const sentences = found.map(({ path, message }) =>
            Array.isArray(entries)
              ? `“${entries[Number(path.split('/')[2])]}”: ${message}`
              : message,
          )
          return sentences.join(' ') || undefined
        }
        const isInvalid = changed.some(([, value]) => Number.isNaN(value))
        return (
          <form
            class="setting-form stack gap-3"
            onSubmit={event => {
              event.preventDefault()
              if (consequences.length > 0) asks.value = true
              else run(saveAll)
            }}
          >
            <div class={fields.length > 4 ? 'grid gap-5' : 'stack gap-3'}>
              {fields.map(field => (
                <field.control
                  key={keyOf(field)}
                  label={field.label}
                  value={shownIn(field)}
                  problem={problemOf(field)}
                  settings={settings}
                  onChange={value => {
                    typed.value = { ...typed.value, [keyOf(field)]: value }
                    refused.value = null
                    say(null)
                  }}
                />
              ))}
            </div>
            {refused.value && !fields.some(problemOf) && (
              <p class="problem" role="alert">
                Not saved. {refused.value.message || 'Try again in a moment.'}
              </p>
            )}
            {!isReadOnly && (
              <div class="row-actions">
                <Button
                  type="submit"
                  look="primary"
                  isBusy={isBusy.value}
                  disabled={changed.length === 0 || isInvalid}
                >
                  Save
                </Button>
              </div>
            )}
            {asks.value && (
              <Confirm
                title="Save this change?"
                verb="Save"
                isDanger={changed.some(([field]) => field.isDanger)}
                act={saveAll}
                onRefused={failure => {
                  if (failure.status !== 422) return
                  refused.value = failure
                  asks.value = false
                }}
                onClose={() => (asks.value = false)}
              >
                {consequences}
              </Confirm>
            )}
          </form>
        )
      }}
    </Reading>
  )
}
