import { manual } from '../api/base.ts'
import { session } from '../api/session.ts'
import { Check, Segments } from '../parts/choice.tsx'
import { Code } from '../parts/code.tsx'
import { useFilters } from '../shell/address.ts'
import { Notice } from '../shell/states.tsx'
import { addressFor, type Chosen, type CodePart, codeParts, loadsTag, ways } from './code-for.ts'
import type { Installation } from './state.ts'

/** Lines to put somewhere. */
export const CodeBlock = ({ name, where, code }: CodePart) => (
  <div class="stack gap-1">
    <h3>{name}</h3>
    <p class="hint">{where}</p>
    <Code name={name}>{code}</Code>
  </div>
)

/** What to put where, for each way in which pages load scripts. The choice is kept in the address. */
export function InstallCode({ of }: { of: Installation }) {
  const { filters, setFilters } = useFilters()
  const way = ways.find(([name]) => name === filters.way)?.[0] ?? 'page'
  const chosen: Chosen = {
    way,
    hasLogin: filters.login !== 'no',
    isPinned: filters.version === 'this',
  }
  const { snippetKey, publicUrl } = of
  if (snippetKey === null) {
    return (
      <Notice icon="key" title="No snippet key">
        Create one on the machine of the server:{' '}
        <code>cairn key rotate --org {session.value!.organisation.slug}</code>
      </Notice>
    )
  }
  const parts = codeParts(of, snippetKey, chosen)
  return (
    <div class="stack gap-5">
      <Segments
        label="How your pages load scripts"
        options={ways}
        value={way}
        onChange={name => setFilters({ way: name === 'page' ? null : name })}
      />
      <div class="grid">
        <Check
          label="People sign in on these pages"
          note="Flows for known people wait for cairn.identify()."
          checked={chosen.hasLogin}
          onChange={isOn => setFilters({ login: isOn ? null : 'no' })}
        />
        {loadsTag(way) && (
          <Check
            label="Pin this version"
            note="Browsers verify it. Change the tag after each upgrade."
            checked={chosen.isPinned}
            onChange={isOn => setFilters({ version: isOn ? 'this' : null })}
          />
        )}
      </div>
      {parts
        .filter(({ isExtra }) => !isExtra)
        .map(part => (
          <CodeBlock key={part.name} {...part} />
        ))}
      <details>
        <summary>For sites with a strict policy or early calls</summary>
        {parts
          .filter(({ isExtra }) => isExtra)
          .map(part => (
            <CodeBlock key={part.name} {...part} />
          ))}
      </details>
      <p class="hint">
        Pages reach this server at {addressFor(of)}.{' '}
        {publicUrl === null &&
          'If your visitors use another address, ask the operator to set CAIRN_PUBLIC_URL. '}
        <a href={manual('install-the-snippet')}>More in the manual</a>
      </p>
    </div>
  )
}
