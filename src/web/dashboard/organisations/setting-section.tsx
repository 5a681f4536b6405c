import type { ComponentChildren } from 'preact'
import type { Settings } from '../../../modules/organisations/schema.ts'
import { StatusMessage } from '../parts/status-message.tsx'
import { Reading } from '../shell/states.tsx'
import { type Changing, useChanging, useSettings } from './saving.ts'

/** What a section of the settings shows: its purpose, the outcome of a change, and the setting. */
export function SettingSection<Asked = never>({
  why,
  lines,
  after,
  children,
}: {
  why: string
  lines?: number
  after?: ComponentChildren
  children(settings: Settings, changing: Changing<Asked>): ComponentChildren
}) {
  const settings = useSettings()
  const changing = useChanging<Asked>()
  return (
    <>
      <p class="lead">{why}</p>
      <StatusMessage of={changing.said} />
      <Reading of={settings} {...(lines === undefined ? {} : { lines })}>
        {data => <>{children(data, changing)}</>}
      </Reading>
      {after}
    </>
  )
}
