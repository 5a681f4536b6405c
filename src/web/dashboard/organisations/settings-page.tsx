import type { FunctionComponent } from 'preact'
import { SignInSection } from '../access/sign-in-section.tsx'
import { TokensSection } from '../access/tokens-section.tsx'
import { AlertsSection } from '../alerts/alerts-section.tsx'
import { EnvironmentsSection } from '../environments/environments-section.tsx'
import { addressOf } from '../shell/address.ts'
import { PageHead } from '../shell/page-head.tsx'
import type { PageProps } from '../shell/routes.ts'
import { Missing } from '../shell/states.tsx'
import { settingsWords as words } from '../words/settings.ts'
import { IdentitySection } from './identity-section.tsx'
import { KeysSection } from './keys-section.tsx'
import { LimitsSection } from './limits-section.tsx'
import { LookSection } from './look-section.tsx'
import { NameSection } from './name-section.tsx'
import { OriginsSection } from './origins-section.tsx'
import { PrivacySection } from './privacy-section.tsx'
import { RetentionSection } from './retention-section.tsx'
import { ThrottleSection } from './throttle-section.tsx'
import { TimezoneSection } from './timezone-section.tsx'
import { TraitsSection } from './traits-section.tsx'

type Name = keyof typeof words.sections

const sections: Readonly<Record<Name, FunctionComponent>> = {
  keys: KeysSection,
  origins: OriginsSection,
  limits: LimitsSection,
  retention: RetentionSection,
  name: NameSection,
  timezone: TimezoneSection,
  throttle: ThrottleSection,
  look: LookSection,
  privacy: PrivacySection,
  traits: TraitsSection,
  identity: IdentitySection,
  environments: EnvironmentsSection,
  alerts: AlertsSection,
  tokens: TokensSection,
  'sign-in': SignInSection,
}

const first: Name = 'keys'

const addressOfSection = (name: string) =>
  addressOf(name === first ? ['settings'] : ['settings', name])

/** The settings for owners. Each section has an address. */
export default function SettingsPage({ params }: PageProps) {
  const name = (params.section ?? first) as Name
  if (!Object.hasOwn(sections, name)) {
    return (
      <>
        <PageHead title={words.title} />
        <Missing />
      </>
    )
  }
  const Section = sections[name]
  return (
    <>
      <PageHead title={words.title} part={words.sections[name]} />
      <div class="settings">
        <nav class="sections" aria-label={words.title}>
          {Object.entries(words.sections).map(([section, label]) => (
            <a
              key={section}
              href={addressOfSection(section)}
              aria-current={section === name ? 'page' : undefined}
            >
              {label}
            </a>
          ))}
        </nav>
        <section class="setting">
          <h2>{words.sections[name]}</h2>
          <Section />
        </section>
      </div>
    </>
  )
}
