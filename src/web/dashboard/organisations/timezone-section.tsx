import { browserZone } from '../analytics/zone.ts'
import { renew } from '../api/session.ts'
import { settingsWords } from '../words/settings.ts'
import { OwnSetting } from './own-setting.tsx'
import { save } from './saving.ts'
import { SettingSection } from './setting-section.tsx'

const words = settingsWords.timezone

/** The time zone of the days and times that the dashboard shows if the address names none. */
export const TimezoneSection = () => (
  <SettingSection why={words.why}>
    {({ timezone: stored }, { said }) => (
      <OwnSetting
        field="timezone"
        stored={stored}
        usual={browserZone}
        words={words}
        read={zone => (zone === '' ? words.empty : { value: zone })}
        suggestions={Intl.supportedValuesOf('timeZone')}
        onSave={async zone => {
          const { timezone } = await save({ timezone: zone })
          said.value = timezone === null ? words.savedUsual : words.saved(timezone)
          // Pages take the zone from the session.
          await renew()
        }}
      />
    )}
  </SettingSection>
)
