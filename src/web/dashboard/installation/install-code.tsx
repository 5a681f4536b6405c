import type { ComponentChildren } from 'preact'
import { manual } from '../api/base.ts'
import { session } from '../api/session.ts'
import { Check, Segments } from '../parts/choice.tsx'
import { Code } from '../parts/code.tsx'
import { Part } from '../parts/part.tsx'
import { useFilters } from '../shell/address.ts'
import { Notice } from '../shell/states.tsx'
import { installationWords as words } from '../words/installation.ts'
import * as codeFor from './code-for.ts'
import type { Installation } from './state.ts'

const Lines = ({
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
        <Lines name={words.tag} where={words.tagWhere}>
          {codeFor.tagFor(of, key, chosen)}
        </Lines>
      )}
      {way === 'tags' && (
        <Lines name={words.tagsCode} where={words.tagsWhere}>
          {codeFor.tagManagerCode(of, key, chosen)}
        </Lines>
      )}
      {!inHead && (
        <>
          <Lines name={words.write} where={words.writeWhere}>
            {codeFor.writeCommand}
          </Lines>
          <Lines name={words.import} where={words.importWhere}>
            {codeFor.importCode(of, key, chosen)}
          </Lines>
        </>
      )}
      {way === 'extension' && (
        <>
          <Lines name={words.bundle} where={words.bundleWhere}>
            {codeFor.bundleCommand}
          </Lines>
          <Lines name={words.manifest} where={words.manifestWhere(words.origins)}>
            {codeFor.manifestCode}
          </Lines>
        </>
      )}
      {chosen.hasLogin && (
        <Lines name={words.identify} where={words.identifyWhere}>
          {codeFor.identifyCode(way)}
        </Lines>
      )}
      {way === 'page' && (
        <Lines name={words.stub} where={words.stubWhere}>
          {codeFor.stub}
        </Lines>
      )}
      <Lines name={words.policy} where={`${words.policyWhy} ${policyNotes[way]}`}>
        {codeFor.policyFor(of, way)}
      </Lines>
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
    <Part title={words.code} beside={<a href={manual('install-the-snippet')}>{words.manual}</a>}>
      <div class="controls">
        <Segments
          label={words.into}
          options={codeFor.ways.map(name => [name, words.ways[name]] as const)}
          value={way}
          onChange={name => setFilters({ way: name === 'page' ? null : name })}
        />
      </div>
      <div class="code-choices">
        <Check
          label={words.login}
          note={words.loginWhy}
          checked={chosen.hasLogin}
          onChange={isOn => setFilters({ login: isOn ? null : 'no' })}
        />
        {(way === 'page' || way === 'tags') && (
          <Check
            label={words.pinned}
            note={words.pinnedWhy}
            checked={chosen.isPinned}
            onChange={isOn => setFilters({ version: isOn ? 'this' : null })}
          />
        )}
      </div>
      <Parts way={way} chosen={chosen} of={of} snippetKey={snippetKey} />
      <p class="footnote">
        {words.address(codeFor.addressFor(of))} {publicUrl ? words.addressSet : words.addressGuess}
      </p>
    </Part>
  )
}
