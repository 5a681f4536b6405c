import { useSignal } from '@preact/signals'
import type { Settings } from '../../../modules/organisations/model.ts'
import { browserZone } from '../analytics/zone.ts'
import type { Failure } from '../api/failure.ts'
import { renew } from '../api/session.ts'
import { settingsWords } from '../words/settings.ts'
import { OwnSetting } from './own-setting.tsx'
import { type Changing, save } from './saving.ts'
import { SettingSection } from './setting-section.tsx'

const words = settingsWords.timezone

function Timezone({ settings, said }: { settings: Settings } & Changing<never>) {
  const refused = useSignal<Failure | null>(null)
  return (
    <OwnSetting
      field="timezone"
      stored={settings.timezone}
      usual={browserZone}
      words={words}
      read={zone => (zone === '' ? words.empty : { value: zone })}
      suggestions={Intl.supportedValuesOf('timeZone')}
      refused={refused}
      onSave={async zone => {
        const { timezone } = await save({ timezone: zone })
        said.value = timezone === null ? words.savedUsual : words.saved(timezone)
        // Pages take the zone from the session.
        await renew()
      }}
    />
  )
}

/** The time zone of the days and times that the dashboard shows if the address names none. */
export const TimezoneSection = () => (
  <SettingSection why={words.why}>
    {(settings, changing) => <Timezone settings={settings} {...changing} />}
  </SettingSection>
)
