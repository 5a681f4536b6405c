import { useId } from 'preact/hooks'
import { browserZone } from '../../analytics/zone.ts'
import { useRead } from '../../api/read.ts'
import { type FlowList, flowsPath } from '../../flows/flow-list.ts'
import { healthPath, type StepCheck } from '../../steps/health.ts'
import { languageName } from '../preview/appearance.ts'
import { Dropdown } from './dropdown.tsx'
import { mappingsAt, textOf } from './flow-json.ts'
import type { InputProps } from './table.ts'

/** Things that have a name, so that nobody has to type their tag, key or address. */

const languages =
  'ar bg bn ca cs da de de-AT de-CH el en en-GB en-US es es-419 es-MX et fa fi fr fr-CA fr-CH he hi hr hu id it ja ko lt lv ms nb nl pl pt pt-BR ro ru sk sl sr sv th tr uk ur vi zh-Hans zh-Hant'

/** Languages by name, in the order of their names. */
export const languageOptions = languages
  .split(' ')
  .map(tag => [tag, languageName(tag)] as const)
  .sort(([, a], [, b]) => a.localeCompare(b))

export const LanguageSelect = ({ wiring, value, write }: InputProps) => (
  <Dropdown
    {...wiring}
    value={textOf(value)}
    options={languageOptions}
    none="Not set"
    onChoose={tag => write(tag || undefined)}
  />
)

const placeOf = (zone: string) => zone.slice(zone.indexOf('/') + 1).replaceAll('_', ' ')

/** Time zones by the part of the world. */
const zones = [
  ...Map.groupBy(
    Intl.supportedValuesOf('timeZone').filter(zone => zone.includes('/')),
    zone => zone.slice(0, zone.indexOf('/')),
  ),
].map(([part, of]) => [part, of.map(zone => [zone, placeOf(zone)] as const)] as const)

export const ZoneSelect = ({ wiring, value, write }: InputProps) => (
  <Dropdown
    {...wiring}
    value={textOf(value) || 'UTC'}
    options={[
      ['UTC', 'UTC'],
      ...(browserZone === 'UTC' ? [] : [[browserZone, `Yours: ${placeOf(browserZone)}`] as const]),
    ]}
    groups={zones}
    onChoose={write}
  />
)

/** Another flow, by name. */
export function FlowSelect({ wiring, value, write, flow }: InputProps) {
  const { data } = useRead<FlowList>(flowsPath)
  const others = (data?.flows ?? []).filter(
    ({ key, status }) => key !== flow.key && (status !== 'archived' || key === value),
  )
  return (
    <Dropdown
      {...wiring}
      value={textOf(value)}
      options={others.map(({ key, name }) => [key, name])}
      none="None"
      onChoose={key => write(key || undefined)}
    />
  )
}

/** One of the flow's steps, by its place and title. */
export const StepSelect = ({ wiring, field, value, write, flow }: InputProps) => (
  <Dropdown
    {...wiring}
    value={textOf(value)}
    options={mappingsAt(flow, ['steps']).flatMap(({ key, title }, at) =>
      typeof key === 'string' ? [[key, `${at + 1}. ${title || key}`] as const] : [],
    )}
    none={field.none}
    onChoose={key => write(key || undefined)}
  />
)

/** The addresses of pages that have reported, as far as this browser has read them. */
export function useKnownPages(): string[] {
  const { data } = useRead<StepCheck>(healthPath)
  const pages = (data?.steps ?? []).flatMap(step => step.pages.flatMap(({ page }) => page ?? []))
  return [...new Set(pages)].sort()
}

/** An address or a path, with those of pages that have reported to choose from. */
export function PageInput({ wiring, field, value, write }: InputProps) {
  const id = useId()
  const pages = useKnownPages()
  const paths = pages.flatMap(page => URL.parse(page)?.pathname ?? [])
  return (
    <>
      <input
        {...wiring}
        class="input"
        dir="ltr"
        autocomplete="off"
        spellcheck={false}
        placeholder={typeof field.placeholder === 'string' ? field.placeholder : '/projects'}
        list={id}
        value={textOf(value)}
        onInput={event => write(event.currentTarget.value)}
      />
      <datalist id={id}>
        {[...new Set([...paths, ...pages])].map(page => (
          <option key={page} value={page} />
        ))}
      </datalist>
    </>
  )
}
