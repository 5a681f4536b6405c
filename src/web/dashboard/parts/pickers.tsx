import { Combobox } from './combobox.tsx'
import type { FieldProps } from './field.tsx'
import { zoneName } from './format.ts'
import type { Option } from './options.ts'

/** Pickers of things that have a name and a code. People see the name alone. */

type PickerProps = FieldProps & {
  value: string
  onChange: (value: string) => void
  none?: string
  isDisabled?: boolean
}

const regionOf = (zone: string) => zone.split('/').slice(0, -1).join(', ').replaceAll('_', ' ')

let zones: readonly Option[] | null = null
const allZones = () => {
  zones ??= ['UTC', ...Intl.supportedValuesOf('timeZone').filter(zone => zone !== 'UTC')].map(
    zone => ({ value: zone, label: zoneName(zone), note: regionOf(zone) }),
  )
  return zones
}

/** A time zone, found by its city or region. */
export const ZoneField = (props: PickerProps) => (
  <Combobox {...props} options={allZones} labelOf={zoneName} />
)

const languageNames = new Intl.DisplayNames(['en'], { type: 'language' })

/** A language as people call it: Brazilian Portuguese for `pt-BR`; the tag itself if it has no name. */
export function languageName(tag: string): string {
  try {
    return languageNames.of(tag) ?? tag
  } catch {
    return tag
  }
}

/** Languages that many products are in. Any other can be typed as its tag. */
const common =
  'ar bg bn ca cs da de de-AT de-CH el en en-AU en-GB en-US es es-419 es-MX et fa fi fil fr fr-CA fr-CH ga he hi hr hu id is it ja ka kk ko lt lv mk ms mt nb nl nl-BE nn pl pt pt-BR ro ru sk sl sq sr sv sw ta te th tr uk ur uz vi zh zh-Hans zh-Hant zh-HK zh-TW'
let languages: readonly Option[] | null = null
const allLanguages = () => {
  languages ??= common
    .split(' ')
    .map(tag => ({ value: tag, label: languageName(tag) }))
    .sort((a, b) => a.label.localeCompare(b.label, 'en'))
  return languages
}

/** A language, found by its name. */
export const LanguageField = ({
  except = [],
  ...props
}: PickerProps & {
  /** Tags that are not offered, because they are there already. */
  except?: readonly string[]
}) => (
  <Combobox
    {...props}
    options={() => allLanguages().filter(({ value }) => !except.includes(value))}
    labelOf={languageName}
    canBeOther
  />
)
