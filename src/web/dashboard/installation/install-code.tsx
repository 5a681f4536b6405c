import type { ComponentChildren } from 'preact'
import { manual } from '../api/base.ts'
import { session } from '../api/session.ts'
import { Code } from '../parts/code.tsx'
import { Segments } from '../parts/field.tsx'
import { useFilters } from '../shell/address.ts'
import { Notice } from '../shell/states.tsx'
import { installationWords as words } from '../words/installation.ts'
import * as codeFor from './code-for.ts'
import type { Installation } from './state.ts'

const Part = ({
  name,
  where,
  children,
}: {
  name: string
  where: ComponentChildren
  children: string
}) => (
  <div class="code-part">
    <h3>{name}</h3>
    <p class="hint">{where}</p>
    <Code name={name}>{children}</Code>
  </div>
)

const Check = ({
  name,
  why,
  isOn,
  onChange,
}: {
  name: string
  why: string
  isOn: boolean
  onChange: (isOn: boolean) => void
}) => (
  <label class="check">
    <input
      type="checkbox"
      checked={isOn}
      onChange={event => onChange(event.currentTarget.checked)}
    />
    <span>
      {name}
      <small>{why}</small>
    </span>
  </label>
)

const policyNotes: Record<codeFor.Way, string> = {
  page: words.policyImages,
  tags: words.policyImages,
  bundler: words.policyModule,
  extension: words.policyNone,
}

function Parts({
  way,
  chosen,
  of,
  snippetKey: key,
}: {
  way: codeFor.Way
  chosen: codeFor.Chosen
  of: Installation
  snippetKey: string
}) {
  const inHead = way === 'page' || way === 'tags'
  return (
    <>
      {way === 'page' && (
        <Part name={words.tag} where={words.tagWhere}>
          {codeFor.tagFor(of, key, chosen)}
        </Part>
      )}
      {way === 'tags' && (
        <Part name={words.tagsCode} where={words.tagsWhere}>
          {codeFor.tagManagerCode(of, key, chosen)}
        </Part>
      )}
      {!inHead && (
        <>
          <Part name={words.write} where={words.writeWhere}>
            {codeFor.writeCommand}
          </Part>
          <Part name={words.import} where={words.importWhere}>
            {codeFor.importCode(of, key, chosen)}
          </Part>
        </>
      )}
      {way === 'extension' && (
        <>
          <Part name={words.bundle} where={words.bundleWhere}>
            {codeFor.bundleCommand}
          </Part>
          <Part name={words.manifest} where={words.manifestWhere(words.origins)}>
            {codeFor.manifestCode}
          </Part>
        </>
      )}
      {chosen.hasLogin && (
        <Part name={words.identify} where={words.identifyWhere}>
          {codeFor.identifyCode(way)}
        </Part>
      )}
      {way === 'page' && (
        <Part name={words.stub} where={words.stubWhere}>
          {codeFor.stub}
        </Part>
      )}
      <Part name={words.policy} where={`${words.policyWhy} ${policyNotes[way]}`}>
        {codeFor.policyFor(of, way)}
      </Part>
    </>
  )
}

/** What to put where, for each way in which pages load scripts. The choice is kept in the address. */
export function InstallCode({ of }: { of: Installation }) {
  const { filters, setFilters } = useFilters()
  const way = codeFor.ways.find(name => name === filters.way) ?? 'page'
  const chosen = { hasLogin: filters.login !== 'no', isPinned: filters.version === 'this' }
  const { snippetKey, publicUrl } = of
  if (snippetKey === null) {
    return (
      <Notice icon="key" title={words.noKey}>
        {words.noKeyWhy} <code>{words.noKeyCommand(session.value!.organisation.slug)}</code>
      </Notice>
    )
  }
  return (
    <section class="part">
      <div class="part-head">
        <h2>{words.code}</h2>
        <a href={manual('install-the-snippet')}>{words.manual}</a>
      </div>
      <div class="controls">
        <Segments
          legend={words.into}
          options={codeFor.ways.map(name => [name, words.ways[name]] as const)}
          value={way}
          onChoose={name => setFilters({ way: name === 'page' ? null : name })}
        />
      </div>
      <div class="code-choices">
        <Check
          name={words.login}
          why={words.loginWhy}
          isOn={chosen.hasLogin}
          onChange={isOn => setFilters({ login: isOn ? null : 'no' })}
        />
        {(way === 'page' || way === 'tags') && (
          <Check
            name={words.pinned}
            why={words.pinnedWhy}
            isOn={chosen.isPinned}
            onChange={isOn => setFilters({ version: isOn ? 'this' : null })}
          />
        )}
      </div>
      <Parts way={way} chosen={chosen} of={of} snippetKey={snippetKey} />
      <p class="footnote">
        {words.address(codeFor.addressFor(of))} {publicUrl ? words.addressSet : words.addressGuess}
      </p>
    </section>
  )
}
