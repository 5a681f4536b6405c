import { mayNameSomebody } from '../../../core/event/traits.ts'
import { maxInterruptions, maxRetentionDays } from '../../../core/organisation/catalogue.ts'
import { Check } from '../parts/choice.tsx'
import { NumberField } from '../parts/number-field.tsx'
import { ZoneField } from '../parts/pickers.tsx'
import { TextArea, TextField } from '../parts/text-field.tsx'
import { type ControlProps, settingField } from './settings-form.tsx'

/** The settings that one control edits, by the section that shows them. */

/** A list with one entry a line. */
const listIn = (text: string) =>
  [...new Set(text.split(/[\n,]+/).map(one => one.trim()))].filter(Boolean)

const ListField =
  (hint: string) =>
  ({ settings: _, ...props }: ControlProps<string>) => (
    <TextArea
      {...props}
      isCode
      rows={Math.max(3, props.value.split('\n').length + 1)}
      hint={hint}
      isProblemOld
    />
  )

const Entries = ({ of }: { of: readonly string[] }) => (
  <ul class="stack gap-1">
    {of.map(entry => (
      <li key={entry}>{entry}</li>
    ))}
  </ul>
)

export const general = [
  settingField<string>({
    name: 'name',
    label: 'Name',
    read: ({ name }) => name,
    patch: name => ({ name }),
    control: ({ settings: { slug }, ...props }) => (
      <TextField
        {...props}
        hint={`Addresses and commands keep using “${slug}”.`}
        isProblemOld
        isRequired
      />
    ),
  }),
  settingField<string>({
    name: 'timezone',
    label: 'Time zone',
    read: ({ timezone }) => timezone ?? '',
    patch: zone => ({ timezone: zone || null }),
    control: ({ settings: _, ...props }) => (
      <ZoneField
        {...props}
        none="Each viewer’s own time zone"
        hint="Sets when days start and end. If not set, alerts and reports use UTC."
      />
    ),
  }),
]

export const frequency = [
  settingField<number | null>({
    name: 'throttle',
    label: 'Maximum tours and announcements per person',
    read: ({ throttle }) => throttle,
    patch: throttle => ({ throttle }),
    control: ({ settings: _, ...props }) => (
      <NumberField
        {...props}
        unit="in 24 hours"
        min={1}
        max={maxInterruptions}
        placeholder="No cap"
        hint="Leave empty for no cap. People already in a flow can finish it."
      />
    ),
  }),
]

export const privacy = [
  settingField<boolean>({
    name: 'honoursDoNotTrack',
    label: 'Respect Do Not Track and Global Privacy Control',
    read: ({ honoursDoNotTrack }) => honoursDoNotTrack,
    patch: honoursDoNotTrack => ({ honoursDoNotTrack }),
    consequence: isOn =>
      isOn
        ? 'Visitors who opted out see flows but send no data unless they consent on your page.'
        : 'Visitors who opted out are counted like all others.',
    control: ({ label, value, onChange }) => (
      <Check
        label={label}
        note="Visitors who opted out see flows but send no data unless they consent on your page."
        checked={value}
        onChange={onChange}
      />
    ),
  }),
]

export const traits = [
  settingField<string>({
    name: 'traits',
    label: 'Traits to store',
    read: settings => settings.traits.join('\n'),
    patch: text => ({ traits: listIn(text) }),
    control: ListField(
      'One per line, up to eight, by the names that your pages use: plan, or company.size.',
    ),
    consequence: (text, { traits: before }) => {
      const after = listIn(text)
      const removed = before.filter(trait => !after.includes(trait))
      const personal = after.filter(mayNameSomebody)
      return (
        <>
          {after.length > 0 && (
            <>
              <p>Stored with each run that starts from now:</p>
              <Entries of={after} />
            </>
          )}
          {removed.length > 0 && (
            <p>
              No longer stored or shown: {removed.join(', ')}. Values already stored stay until the
              people are erased.
            </p>
          )}
          {personal.length > 0 && (
            <p class="problem">
              {personal.join(', ')} may identify a person. Every run would hold personal data.
            </p>
          )}
        </>
      )
    },
  }),
]

export const retention = [
  settingField<number | null>({
    name: 'retentionDays',
    label: 'Delete raw events after',
    isDanger: true,
    read: ({ retentionDays }) => retentionDays,
    patch: retentionDays => ({ retentionDays }),
    control: ({ settings: _, ...props }) => (
      <NumberField
        {...props}
        unit="days"
        min={1}
        max={maxRetentionDays}
        placeholder="Server default"
        hint="Leave empty for the server default. Events that happened earlier are not accepted."
      />
    ),
    consequence: (days, { retentionDays: before }) =>
      before !== null && (days ?? 0) > before
        ? 'Events are kept longer from now. Events that were deleted do not come back.'
        : 'Older events are deleted permanently. Results do not change, but exports of single events end there.',
  }),
]

export const origins = [
  settingField<string>({
    name: 'origins',
    label: 'Allowed origins',
    read: settings => settings.origins.join('\n'),
    patch: text => ({ origins: listIn(text.replaceAll(' ', '\n')) }),
    control: ListField('One per line, such as https://app.example.com. Empty allows every site.'),
    consequence: (text, { origins: before }) => {
      const after = listIn(text)
      const closed = before.filter(origin => !after.includes(origin))
      if (after.length === 0) return 'The snippet can run on every site that has your key.'
      return (
        <>
          {closed.length > 0 && <p>Visitors of these sites see no flows: {closed.join(', ')}.</p>}
          <p>The snippet runs only on:</p>
          <Entries of={after} />
        </>
      )
    },
  }),
]
