import { mayNameSomebody, traitProblem } from '../../../core/event/traits.ts'
import { manual } from '../api/base.ts'
import { traitWords as words } from '../words/traits.ts'
import { Entries, ListSetting } from './list-setting.tsx'
import { SettingSection } from './setting-section.tsx'

const listed = (text: string) => [
  ...new Set(
    text
      .split(/[\n,]+/)
      .map(trait => trait.trim())
      .filter(Boolean),
  ),
]

/** What a change means. */
function Consequence({ before, after }: { before: readonly string[]; after: readonly string[] }) {
  const gone = before.filter(trait => !after.includes(trait))
  const personal = after.filter(mayNameSomebody)
  return (
    <>
      {after.length > 0 && (
        <>
          <p>{words.added}</p>
          <Entries of={after} />
        </>
      )}
      {gone.length > 0 && <p>{words.removed(gone.join(', '))}</p>}
      {personal.length > 0 && (
        <p>
          <strong>{words.personal(personal.join(', '))}</strong>
        </p>
      )}
    </>
  )
}

/** The traits of people that are kept with their runs. */
export const TraitsSection = () => (
  <SettingSection<readonly string[]>
    why={words.why}
    after={
      <p class="footnote">
        <a href={manual('privacy')}>{words.manual}</a>
      </p>
    }
  >
    {({ traits }, changing) => (
      <ListSetting
        {...changing}
        field="traits"
        stored={traits}
        words={words}
        listed={listed}
        faultOf={traitProblem}
        none={words.none}
        footnote={words.warning}
        consequence={after => <Consequence before={traits} after={after} />}
      />
    )}
  </SettingSection>
)
